"""A learner's stop rule, asked by our own loop after every step of several runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agent.events import Phase
from agent.loop import Loop
from agent.scripts import Script, parse_script
from agent.scripts.script import play
from agent.state import RunState
from agent.stops import BUDGETS, Stop, StopReason
from traces.lessons.exercises.remark import remark
from traces.lessons.exercises.sandbox.restricted import ProgramError, explained, run_program

NAME = "should_stop"
"""The function that a learner writes."""
REASONS = (
    StopReason.REPEATED_CALL,
    StopReason.CONSECUTIVE_ERRORS,
    StopReason.MAX_ITERATIONS,
    StopReason.TOKEN_BUDGET,
)
"""What a rule may give as its reason."""
_STEPS = 20
"""Of a run without a rule that fires."""

Rule = Callable[[RunState], Stop | None]


class _RuledLoop(Loop):
    """Our loop with one more stop rule, asked after those about the reply and before the budgets."""

    rule: Rule | None = None

    def _adopt(self, run: RunState) -> None:
        super()._adopt(run)
        before = [rule for rule in self._rules if rule not in BUDGETS]
        budgets = [rule for rule in self._rules if rule in BUDGETS]
        self._rules = [*before, self._by_rule, *budgets]

    def _by_rule(self, run: RunState, _settings: object) -> Stop | None:
        return self.rule(run) if self.rule is not None and run.phase is Phase.DECIDE and run.pending else None


def work(code: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Run the scripts with the rule and without.

    Args:
        code: the program that defines the rule.
        data: ``scripts``: the keys of each script by its name.

    Returns:
        ``runs``: for each name ``{"reason", "steps", "tokens", "by_rule", "steps_without", "tokens_without"}``.
    """
    ran = run_program(code, tools=False)
    function = ran.function(NAME)
    if function is None:
        raise ProgramError([remark(f"There is no function {NAME}(steps) in it.", f"里面没有函数 {NAME}(steps)。")])
    runs = {
        name: _compared(parse_script(json.dumps(keys), f"{name}.json"), function)
        for name, keys in data["scripts"].items()
    }
    return {"runs": runs, "printed": ran.output, "remarks": []}


def _compared(script: Script, function: Callable[[list[dict[str, Any]]], Any]) -> dict[str, Any]:
    fired: list[int] = []

    def rule(run: RunState) -> Stop | None:
        steps = facts_of(run)
        with explained():
            said = function(steps)
        reason = _reason(said)
        if reason is None:
            return None
        fired.append(len(steps))
        return Stop(reason, "a rule of one's own")

    ruled, free = _played(script, rule), _played(script, None)
    return {
        "reason": str(ruled.stop_reason),
        "steps": len(ruled.trace.steps),
        "tokens": _tokens(ruled),
        "by_rule": bool(fired),
        "steps_without": len(free.trace.steps),
        "tokens_without": _tokens(free),
    }


def _played(script: Script, rule: Rule | None) -> Loop:
    loop = _RuledLoop(
        script.make_model(0), script.make_tools(pace=0), system=script.system, max_steps=_STEPS, parallel=False
    )
    loop.rule = rule
    play(loop, script)
    return loop


def facts_of(run: RunState) -> list[dict[str, Any]]:
    """The steps so far as plain facts, fresh ones each time: what a rule is given."""
    trace = run.trace
    return [
        {
            "step": step.index,
            "tokens": (step.usage.total if step.usage else None) or 0,
            "calls": [
                {
                    "name": call.name,
                    "arguments": dict(call.arguments),
                    "result": "" if call.message is None else trace.messages[call.message].text,
                    "ok": bool(call.ok),
                }
                for call in step.tools
            ],
        }
        for step in trace.steps
    ]


def _reason(said: Any) -> StopReason | None:
    if said is None or said is False:
        return None
    if type(said) is str and said in REASONS:
        return StopReason(said)
    names = ", ".join(REASONS)
    given = repr(said)[:80] if type(said) in (str, int, float, bool) else type(said).__name__
    raise ProgramError(
        [
            remark(
                f"{NAME} gave {given}. It gives None to go on, or the name of a stop reason: {names}.",
                f"{NAME} 返回了 {given}。继续时返回 None，停止时返回停止原因的名字：{names}。",
            )
        ]
    )


def _tokens(loop: Loop) -> int:
    return sum((step.usage.total if step.usage else None) or 0 for step in loop.trace.steps)
