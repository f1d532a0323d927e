"""Playing a script in memory to see what it would do: the real loop, no waiting, and none of one's own tools."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from agent import jsontext
from agent.asking import Asker
from agent.messages import Message
from agent.models.base import CallControl, Model, ModelReply
from agent.models.rules import Asked, Condition, Count, Facts
from agent.scripts import Script, play
from agent.scripts.harmless import harmless
from agent.scripts.turns import ScriptChoice
from agent.trace import Trace

SECONDS = 5.0
"""After so long a preview is cut off."""


class Held(NamedTuple):
    """One result that a rule looked at."""

    tool: str
    state: str
    """present, missing, blank or error."""


@dataclass(frozen=True, slots=True)
class Spoke:
    """Which rule spoke at a model call, and what the request held."""

    call: int
    """The number of the model call, from 1."""
    turn: str
    """The turn as it is numbered in the script; empty where rules stand in place of turns."""
    rule: int | None
    """From 1; None: the default."""
    rules: int
    """How many there were."""
    when: str
    """The condition, as a script writes it; empty for the default."""
    results: tuple[Held, ...]
    calls: int
    """Calls that the request held."""
    tokens: int
    """About how many it had."""


@dataclass(frozen=True, slots=True)
class Played:
    """A run that was played to its end, or to the limit of a preview."""

    trace: Trace
    spoke: tuple[Spoke, ...]
    not_run: tuple[str, ...]
    """The tools of one's own that were called, and did not run."""
    cut: bool
    """Whether it took longer than :data:`SECONDS`."""


def try_out(script: Script, *, seed: int | None = None) -> Played:
    """Play a script at once, without a journal. It may be thrown away at any moment.

    Args:
        script: what to play.
        seed: for the chances of rules; None: that of the script.

    Raises:
        InputError: its tools cannot be made.
    """
    script = harmless(script)
    asked = _Overheard(script.make_model(0, seed=seed), script, seed)
    loop = script.loop(model=asked, tools=script.make_tools(pace=0).with_timeout(SECONDS), pace=0)
    limit = threading.Timer(SECONDS, loop.stop)
    limit.daemon = True
    limit.start()
    play(loop, script)
    limit.cancel()
    silent = {tool.name for tool in script.own} - script.answered
    called = {run.name for step in loop.trace.steps for run in step.tools}
    return Played(loop.trace, tuple(asked.spoke), tuple(sorted(silent & called)), cut=loop.stopping)


def has_chance(script: Script) -> bool:
    """Whether some rule is a matter of chance, so that another seed may give another run."""
    turns = (*script.turns, *([script.always] if script.always else []))
    choices = (turn for turn in turns if isinstance(turn, ScriptChoice))
    return any(_by_chance(condition) for choice in choices for condition, _ in choice.rules)


def _by_chance(condition: Condition) -> bool:
    parts = (*condition.either, *([condition.negated] if condition.negated else []))
    return condition.chance is not None or any(map(_by_chance, parts))


class _Overheard:
    """The model of a script, of which is noted which rule speaks."""

    def __init__(self, inner: Model, script: Script, seed: int | None) -> None:
        self._inner = inner
        self._asker = Asker(inner)
        self._script = script
        self._seed = script.seed if seed is None else seed
        self.spoke: list[Spoke] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def complete(
        self,
        messages: Sequence[Message],
        tool_schemas: Sequence[dict[str, Any]],
        *,
        control: CallControl | None = None,
    ) -> ModelReply:
        """As the inner model answers."""
        control = control or CallControl()
        turn = self._script.always or next(iter(self._script.turns[control.number :]), None)
        if isinstance(turn, ScriptChoice):
            facts = Facts(messages, tool_schemas, control.number, self._seed)
            self.spoke.append(_spoke(turn, facts))
        return self._asker.ask(messages, tool_schemas, control)[0]


def _spoke(choice: ScriptChoice, facts: Facts) -> Spoke:
    at = choice.at_pace(0).which(facts)
    condition = None if at is None else choice.rules[at][0]
    looked_at = facts.looked_at(condition.tool if condition else None) if facts.asked else []
    return Spoke(
        call=facts.model_call + 1,
        turn=choice.place.rstrip("."),
        rule=None if at is None else at + 1,
        rules=len(choice.rules),
        when="" if condition is None else condition_text(condition),
        results=tuple(Held(asked.call.name, _state(asked)) for asked in looked_at),
        calls=len(facts.asked),
        tokens=facts.prompt_tokens,
    )


def _state(asked: Asked) -> str:
    if asked.result is None:
        return "missing"
    if not asked.result.strip():
        return "blank"
    return "error" if asked.failed else "present"


def condition_text(condition: Condition) -> str:
    """A condition as a script writes it, on one line."""
    return jsontext.dumps(_plain(condition))


def _plain(condition: Condition) -> dict[str, Any]:
    given = {field.name: getattr(condition, field.name) for field in fields(condition)}
    return {_KEYS.get(name, name): _value(value) for name, value in given.items() if value not in (None, ())}


_KEYS = {"negated": "not", "either": "any"}


def _value(value: Any) -> Any:
    if isinstance(value, Condition):
        return _plain(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Count):
        if value.at_least == value.at_most:
            return value.at_least
        return {field.name: number for field in fields(value) if (number := getattr(value, field.name)) is not None}
    return value
