"""Why a run ends: a closed list of reasons, and one small rule for each, asked in the order of ``RULES``.

Stopping is not finishing: that the task is done is said by the evidence, never by a stop reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING

from agent import jsontext
from agent.errors import AgentError, ContextOverflow, ScriptExhausted
from agent.events import Phase
from agent.limits import HARD_CAP, Limits
from agent.models.replies import visible_text, was_cut

if TYPE_CHECKING:
    from agent.settings import Settings
    from agent.state import PendingCall, RunState

_TOGETHER = "+"
"""Between the fingerprints of the calls of one reply."""
LONGEST_CYCLE = 4
"""Cycles of up to this many steps count as repeating: A A A, A B A B A B, and so on."""


class StopReason(StrEnum):
    """Every reason for which a run ends. ``final`` alone means that the model asked for nothing more."""

    FINAL = "final"
    MAX_ITERATIONS = "max_iterations"
    REPEATED_CALL = "repeated_call"
    CONSECUTIVE_ERRORS = "consecutive_errors"
    TRUNCATED = "truncated"
    EMPTY_ANSWER = "empty_answer"
    REFUSED = "refused"
    DEADLINE = "deadline"
    TOKEN_BUDGET = "token_budget"
    COST_BUDGET = "cost_budget"
    CONTEXT_OVERFLOW = "context_overflow"
    MODEL_ERROR = "model_error"
    SCRIPT_EXHAUSTED = "script_exhausted"
    UNKNOWN_ACTION = "unknown_action"
    STOPPED_BY_USER = "stopped_by_user"
    REJECTED_BY_USER = "rejected_by_user"


@dataclass(frozen=True, slots=True)
class Stop:
    """The reason, and one sentence that says what exactly was seen."""

    reason: StopReason
    detail: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", StopReason(self.reason))


Rule = Callable[["RunState", "Settings"], Stop | None]


def first_stop(run: RunState, settings: Settings, rules: Sequence[Rule]) -> Stop | None:
    """The first of these rules that fires after a step; None: the loop goes round once more."""
    for rule in rules:
        if stop := rule(run, settings):
            return stop
    return None


def rules_under(limits: Limits) -> list[Rule]:
    """The rules in their order, without those whose limit is switched off."""
    return [rule for rule in RULES if rule not in _LIMIT_OF or getattr(limits, _LIMIT_OF[rule]) is not None]


def stop_for(error: AgentError, *, out_of_time: bool) -> Stop:
    """The stop that an error of a model call, or of its preparation, amounts to."""
    kind = getattr(error, "kind", "")
    if isinstance(error, ScriptExhausted):
        reason = StopReason.SCRIPT_EXHAUSTED
    elif isinstance(error, ContextOverflow) or kind == "context_overflow":
        reason = StopReason.CONTEXT_OVERFLOW
    elif kind == "stopped":
        reason = StopReason.STOPPED_BY_USER
    elif kind == "timeout" and out_of_time:
        reason = StopReason.DEADLINE
    else:
        reason = StopReason.MODEL_ERROR
    return Stop(reason, str(error))


def over_budget(run: RunState, settings: Settings) -> Stop | None:
    """A budget that leaves no room for one more model call."""
    return next((stop for rule in BUDGETS if (stop := rule(run, settings))), None)


def may_nudge(stop: Stop, run: RunState, settings: Settings) -> bool:
    """Whether the model is asked to go on instead: for an empty answer, while nudges and every budget are left."""
    if stop.reason is not StopReason.EMPTY_ANSWER or run.counters.nudges >= settings.limits.nudges:
        return False
    return over_budget(run, settings) is None


def about_to_stop(run: RunState, settings: Settings, rules: Sequence[Rule]) -> Stop | None:
    """What the phase decide, if it is the next one, will end the run with. Changes nothing.

    None: the loop will go round once more, or another phase comes next.
    """
    if run.phase is not Phase.DECIDE:
        return None
    ahead = replace(run, counters=replace(run.counters))
    note_outcomes(ahead, settings.limits)
    stop = first_stop(ahead, settings, rules)
    return None if stop and may_nudge(stop, ahead, settings) else stop


def failed(run: RunState, settings: Settings) -> Stop | None:
    """The model call failed, or a person stopped the run."""
    return run.failure


def answered(run: RunState, settings: Settings) -> Stop | None:
    """A reply without calls ends the run; what it holds says how."""
    reply = run.reply
    if reply is None or reply.tool_calls:
        return None
    text = visible_text(reply).strip()
    finish = run.step.finish_reason
    if refusal := reply.extra.get("refusal"):
        return Stop(StopReason.REFUSED, str(refusal))
    if finish == "content_filter":
        return Stop(StopReason.REFUSED, text or "the provider's content filter held the answer back")
    if was_cut(finish):
        return Stop(StopReason.TRUNCATED, "the reply was cut off by the length limit of the model call")
    if not text:
        return Stop(StopReason.EMPTY_ANSWER, "the model asked for no tool and said nothing")
    return Stop(StopReason.FINAL)


def truncated_calls(run: RunState, settings: Settings) -> Stop | None:
    """A reply was cut off in the arguments of its calls, so that none of them could run."""
    if not was_cut(run.step.finish_reason) or (reply := run.reply) is None:
        return None
    cut = all(call.problem for call in reply.tool_calls)
    return Stop(StopReason.TRUNCATED, "the length limit cut the arguments of the tool call") if cut else None


def rejected(run: RunState, settings: Settings) -> Stop | None:
    """A person rejected a call and the run with it."""
    for pending in run.pending:
        if pending.decision and pending.decision.kind == "rejected" and pending.decision.stop:
            return Stop(StopReason.REJECTED_BY_USER, pending.decision.reason or f"{pending.call.name} was rejected")
    return None


def repeated_call(run: RunState, settings: Settings) -> Stop | None:
    """The same calls came back with the same outcome; honest polling, whose results change, goes on."""
    rounds = settings.limits.repeated_calls
    seen = run.counters.signatures
    if not rounds:
        return None
    for period in range(1, LONGEST_CYCLE + 1):
        tail = seen[-period * rounds :]
        if len(tail) == period * rounds and tail == tail[:period] * rounds:
            names = " and ".join(_names_in(tail[-1], run, settings.limits))
            return Stop(
                StopReason.REPEATED_CALL,
                f"{names}: the same call with the same outcome {rounds} times"
                if period == 1
                else f"{names}: a cycle of {period} steps came {rounds} times with the same outcome",
            )
    return None


def _names_in(signature: str, run: RunState, limits: Limits) -> list[str]:
    """The tools of the step at hand that this entry of the counters is about."""
    about = signature.split(_TOGETHER)
    named = (pending.name or pending.call.name for pending in run.pending if _signature(pending, limits) in about)
    return list(dict.fromkeys(named))


def consecutive_errors(run: RunState, settings: Settings) -> Stop | None:
    """Every tool call failed, several steps in a row."""
    limit = settings.limits.failing_steps
    if not limit or run.counters.failing < limit:
        return None
    return Stop(StopReason.CONSECUTIVE_ERRORS, f"every tool call failed in {limit} steps in a row")


def deadline(run: RunState, settings: Settings) -> Stop | None:
    """The run's active time is used up."""
    limit = settings.limits.deadline_s
    if limit is None or run.counters.active_s < limit:
        return None
    return Stop(StopReason.DEADLINE, f"{run.counters.active_s:.1f} s of {limit:g} s used in {_steps(run)}")


def token_budget(run: RunState, settings: Settings) -> Stop | None:
    """The tokens of all model calls are used up."""
    limit = settings.limits.total_tokens
    if limit is None or run.counters.tokens < limit:
        return None
    about = "about " if run.counters.tokens_estimated else ""
    return Stop(StopReason.TOKEN_BUDGET, f"{about}{run.counters.tokens} of {limit} tokens used in {_steps(run)}")


def cost_budget(run: RunState, settings: Settings) -> Stop | None:
    """The money is spent, as far as the provider reports it."""
    limit, spent = settings.limits.cost, run.counters.cost
    if limit is None or spent is None or spent < limit:
        return None
    return Stop(StopReason.COST_BUDGET, f"{spent:.4f} of {limit:g} US dollars spent in {_steps(run)}")


def max_iterations(run: RunState, settings: Settings) -> Stop | None:
    """The fuse: the model still wants tools, but the steps are used up."""
    limit = HARD_CAP if settings.max_steps is None else settings.max_steps
    if run.iteration < limit:
        return None
    steps = "1 step" if limit == 1 else f"{limit} steps"
    what = f"the hard cap of {steps}" if settings.max_steps is None else f"the limit of {steps}"
    return Stop(StopReason.MAX_ITERATIONS, f"stopped by {what} while the model still asked for tools")


BUDGETS: tuple[Rule, ...] = (token_budget, cost_budget, deadline, max_iterations)
"""Rules that also hold before the first call of a turn."""
RULES: tuple[Rule, ...] = (failed, answered, truncated_calls, rejected, repeated_call, consecutive_errors, *BUDGETS)
"""The order matters only where two fire at once: what the model said comes before what we count."""
_LIMIT_OF: dict[Rule, str] = {
    repeated_call: "repeated_calls",
    consecutive_errors: "failing_steps",
    token_budget: "total_tokens",
    cost_budget: "cost",
    deadline: "deadline_s",
}
"""The limit without which a rule never fires."""
ASK_AGAIN = frozenset(
    (
        StopReason.MODEL_ERROR,
        StopReason.SCRIPT_EXHAUSTED,
        StopReason.CONTEXT_OVERFLOW,
        StopReason.UNKNOWN_ACTION,
        StopReason.TRUNCATED,
        StopReason.STOPPED_BY_USER,
        StopReason.REJECTED_BY_USER,
    )
)
"""Reasons after which a run that goes on calls the model again; after the others the rules are asked again."""
ANSWERED = (StopReason.MODEL_ERROR, StopReason.CONTEXT_OVERFLOW)
"""Failures in which the model was really asked: a call that was stopped, or had no turn, is not counted as one."""
BY_A_PERSON = (StopReason.STOPPED_BY_USER, StopReason.REJECTED_BY_USER)
"""Ends that a person wanted."""


def note_outcomes(run: RunState, limits: Limits) -> None:
    """Bring the counters of the repeat and error rules up to date after a step with tool calls."""
    if not run.pending:
        return
    all_failed = all(pending.result is not None and not pending.result.ok for pending in run.pending)
    run.counters.failing = run.counters.failing + 1 if all_failed else 0
    if limits.repeated_calls:
        outcomes = sorted(_signature(pending, limits) for pending in run.pending)
        often, times = Counter(outcomes).most_common(1)[0]
        # Nine equal calls in one reply are nine repeats, whatever stands beside them. Otherwise the different calls of
        # a reply are one thing, in any order.
        repeats = times == len(outcomes) or times >= limits.repeated_calls
        new = [often] * times if repeats else [_TOGETHER.join(outcomes)]
        run.counters.signatures = (run.counters.signatures + new)[-LONGEST_CYCLE * limits.repeated_calls :]


def _signature(pending: PendingCall, limits: Limits) -> str:
    """A fingerprint of what was called and what came of it. Cosmetic arguments count only where there are no others."""
    arguments = pending.call.arguments
    told = {key: value for key, value in arguments.items() if key not in limits.cosmetic} or arguments
    text = pending.result.text if pending.result else ""
    key = "\0".join((pending.name or pending.call.name, jsontext.canonical(told), text))
    return blake2b(key.encode(), digest_size=8).hexdigest()


def _steps(run: RunState) -> str:
    return "1 step" if run.iteration == 1 else f"{run.iteration} steps"
