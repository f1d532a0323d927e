"""Which check noticed an injected fault, and what the loop did about it: read off the records that the run left.

Nothing here knows what a fault ought to lead to. The records say it: whether the tool run failed and in which words,
whether a result was cut, a request mended, an attempt repeated, an answer marked, and by which rule the run ended. The
same fault may therefore be noticed in one run and by nobody in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agent import faults, jsontext
from agent.closing import CLAIMED, NOT_STRUCK
from agent.faults import FAULTS
from agent.noting import DETOUR
from agent.policy import CapabilityPolicy
from agent.stops import StopReason
from agent.striking import struck
from agent.trace import Edit, ToolRun, Trace, TraceStep

TOOL_RUNNER = "the runner of tools"
TIME_LIMIT = "the time limit of the tool"
ARGUMENT_CHECK = "the check of the arguments"
TOOL_LIST = "the list of tools"
PERMISSION = "the permission check"
CALLS_PER_REPLY = "the limit of calls in one reply"
DUPLICATES = "the check for equal calls in one reply"
RESULT_CAP = "the cap on long results"
CONTEXT_BUDGET = "the context budget"
CUT_PROMPT = "the watch on the provider's token count"
OUTGOING_CHECK = "the outgoing check"
CLAIM_CHECK = "the search for claimed calls"
RETRY = "the retry of the model call"
CALL_FAILURE = "the handling of failed model calls"
PROVIDER = "the model server"
HARD_CAP_RULE = "the hard cap of steps"
RULES = {
    StopReason.REPEATED_CALL: "the guard against repeated calls",
    StopReason.CONSECUTIVE_ERRORS: "the guard against failing steps",
    StopReason.TRUNCATED: "the stop rule for cut-off replies",
    StopReason.MAX_ITERATIONS: "the step limit",
}
"""Stop rules that can be what noticed a fault."""
CHECKS = (
    *(TOOL_RUNNER, TIME_LIMIT, ARGUMENT_CHECK, TOOL_LIST, PERMISSION, CALLS_PER_REPLY, DUPLICATES, RESULT_CAP),
    *(CONTEXT_BUDGET, CUT_PROMPT, OUTGOING_CHECK, CLAIM_CHECK, RETRY, CALL_FAILURE, PROVIDER, HARD_CAP_RULE),
    *RULES.values(),
)
"""Everything that may stand in :attr:`Noticed.check`."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """One fault that struck, and what came of it."""

    fault: str
    """Its kind, a name in :data:`agent.faults.FAULTS`."""
    step: int
    phase: str
    """Where it struck."""
    check: str | None
    """What noticed it, one of :data:`CHECKS`; None: no check noticed it."""
    did: tuple[str, ...]
    """What the loop did, a sentence each, in order."""


def noticed(trace: Trace) -> list[Noticed]:
    """What came of every fault that struck in this run, in the order in which they struck."""
    found = []
    for strike in struck(trace.interventions):
        case = _Case(trace, strike)
        try:
            check, did = _READERS[FAULTS[case.kind].group](case)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # a file that we did not write
            check, did = None, ["the records of this fault cannot be read"]
        found.append(Noticed(case.kind, case.at, str(strike.get("phase")), check, tuple(did)))
    return found


def not_struck(trace: Trace) -> list[str]:
    """The kinds of the faults that were still armed when the run ended; empty while it goes on."""
    found: list[str] = []
    for note in reversed(trace.notes if trace.outcome.reason else []):
        kind = note.get("kind")
        if kind in (DETOUR, "turn"):
            break
        if kind == NOT_STRUCK and str(note.get("fault")) in FAULTS:
            found.insert(0, note["fault"])
    return found


Finding = tuple[str | None, list[str]]
"""The check, and what the loop did."""


class _Case:
    """One strike and the records around it. A trace may come from a file, so everything in it may be missing."""

    def __init__(self, trace: Trace, strike: dict[str, Any]) -> None:
        params = strike.get("params")
        self.trace = trace
        self.kind = str(strike["kind"])
        self.params: dict[str, Any] = params if isinstance(params, dict) else {}
        self.at = int(strike["step"])
        self.step = next((step for step in trace.steps if step.index == self.at), None)

    def later(self) -> Iterator[TraceStep]:
        """The steps after this one."""
        return (step for step in self.trace.steps if step.index > self.at)

    def from_here(self) -> list[TraceStep]:
        """This step and those after it."""
        return [step for step in self.trace.steps if step.index >= self.at]

    def run_of(self, call_id: object) -> ToolRun | None:
        """What was done about a call of this step."""
        runs = self.step.tools if self.step else []
        return next((run for run in runs if run.tool_call_id == call_id), None)

    def text(self, run: ToolRun) -> str:
        """What the tool message of a call says."""
        return "" if run.message is None else self.trace.messages[run.message].text

    def end(self, step: int | None = None) -> tuple[str | None, str]:
        """Why a turn ended with this step, and the words; ``(None, "")`` where it went on.

        The outcome of a turn that went on later stands in the notes.
        """
        step = self.at if step is None else step
        for note in self.trace.notes:
            outcome = note.get("outcome")
            if isinstance(outcome, dict) and note.get("step") == step:
                return outcome.get("reason"), str(outcome.get("detail") or "")
        last = self.trace.steps[-1].index if self.trace.steps else 0
        outcome_now = self.trace.outcome
        return (outcome_now.reason, outcome_now.detail) if step >= last else (None, "")

    def turn_ended(self) -> bool:
        """Whether the user's next message came after this step."""
        return any(note.get("kind") == "turn" and note.get("step") == self.at for note in self.trace.notes)

    def last_step(self) -> int:
        """The step with which the turn of this strike ended, or the last one so far."""
        steps = [step.index for step in self.from_here()] or [self.at]
        return next((step for step in steps if self.end(step)[0]), steps[-1])


# ---- a tool, or one call ----


def _of_tool(case: _Case) -> Finding:
    """A tool that did something else: its result, and what its result led to."""
    run = case.run_of(case.params.get("call"))
    if run is None:
        return None, ["the call has no result"]
    check, did = _answer(case, run)
    if check is None:
        check, did = _size(case, run)
    return check, did + _guard(case, StopReason.CONSECUTIVE_ERRORS)


def _answer(case: _Case, run: ToolRun) -> Finding:
    """How one call was answered, and by what where it did not simply run."""
    text = case.text(run)
    if run.decision == "denied":
        return PERMISSION, ["the call was denied before anything else looked at it"]
    if run.decision == "skipped":
        return CALLS_PER_REPLY, ["the call was not run"]
    if run.decision == "timed_out":
        return TIME_LIMIT, ["the tool was given up, and the call was answered with an error"]
    for sign, check in _BY_WORDS.items():
        if run.ok is False and sign in text:
            return check, ["the tool did not run, and the call was answered with an error"]
    if run.ok is False:
        return TOOL_RUNNER, ["the error became the result of the call, and the loop went on"]
    return None, []


_BY_WORDS = {'"unknown tool ': TOOL_LIST, '"wrong arguments': ARGUMENT_CHECK, '"not run: duplicate of call': DUPLICATES}
"""By the beginning of its words, which check an error comes from."""


def _size(case: _Case, run: ToolRun) -> Finding:
    """What the length of a result led to."""
    trace, shown = case.trace, len(case.text(run))
    entry = trace.entries[run.message] if run.message is not None else None
    raw = entry.raw if entry else None
    if isinstance(raw, str) and len(raw) > shown:
        return RESULT_CAP, [f"the result was cut from {len(raw)} to {shown} characters"]
    if case.end()[0] == StopReason.CONTEXT_OVERFLOW or case.end(case.at + 1)[0] == StopReason.CONTEXT_OVERFLOW:
        return CONTEXT_BUDGET, ["the message list no longer fitted, and the run ended"]
    for step in case.later():
        if any(edit.op == "drop" and _covers(edit, run.message) for edit in _edits(step, "context")):
            return CONTEXT_BUDGET, [f"the result was left out of the request of step {step.index}"]
        if any("context window" in warning for warning in step.warnings):
            return CUT_PROMPT, [f"a warning stands at step {step.index}"]
    return None, [f"the result of {shown} characters went into the message list like any other"]


def _covers(edit: Edit, message: int | None) -> bool:
    return message is not None and edit.message <= message < edit.message + edit.count


def _edits(step: TraceStep, by: str) -> list[Edit]:
    return [edit for edit in step.request.edits if edit.by == by] if step.request else []


def _guard(case: _Case, *reasons: StopReason) -> list[str]:
    """A sentence where the run ended in this step by one of these rules."""
    reason = case.end()[0]
    return [f"the run ended: {reason}"] if reason in reasons else []


# ---- the model's reply ----


def _of_reply(case: _Case) -> Finding:
    """A reply that says something else: the rule that ended the run with it, or how its call was answered."""
    reason, _ = case.end()
    if case.kind == faults.CLAIMED_CALL:
        return _of_text(case)
    if case.kind == faults.REPEATED_CALLS:
        return _of_repeats(case)
    if reason == StopReason.TRUNCATED:
        return RULES[StopReason.TRUNCATED], [f"the run ended: {reason}"]
    run = case.run_of(case.params.get("call"))
    if run is None:
        return None, ["the reply was taken as it was"]
    check, did = _answer(case, run)
    return check, [*(did or ["the call was run as it was"]), *_guard(case, StopReason.CONSECUTIVE_ERRORS)]


def _of_text(case: _Case) -> Finding:
    """A text that may or may not have been found out."""
    marked = any(note.get("kind") == CLAIMED and note.get("step") == case.at for note in case.trace.notes)
    if marked:
        return CLAIM_CHECK, ["the answer was marked, and the task does not count as done"]
    ended = case.end()[0] == StopReason.FINAL
    return None, ["the text was taken for the final answer" if ended else "the text was taken as it was"]


def _of_repeats(case: _Case) -> Finding:
    """Equal calls in one reply: the guard, or how the copies were answered."""
    reason, _ = case.end()
    if reason == StopReason.REPEATED_CALL:
        return RULES[StopReason.REPEATED_CALL], [f"the run ended: {reason}"]
    runs = [run for copy in case.params.get("copies") or () if (run := case.run_of(copy))]
    for run in runs:
        check, _ = _answer(case, run)
        if check in (DUPLICATES, CALLS_PER_REPLY, PERMISSION):
            return check, [f"{len(runs)} more calls were answered without running"]
    return None, [f"the call was run {len(runs) + 1} times"]


# ---- the provider ----


def _of_provider(case: _Case) -> Finding:
    step, status = case.step, case.params.get("status")
    if step is None:
        return None, ["the call was not made"]
    again = [retry for retry in step.retries if retry.get("status") == status]
    if step.reply is not None:
        waited = [f"the loop waited {retry.get('wait_s')} s and asked once more" for retry in again[:1]]
        return (RETRY, waited) if waited else (None, ["the model answered all the same"])
    reason, _ = case.end()
    did = ["the loop waited for another attempt"] if again else []
    did.append(f"the run ended: {reason}" if reason else "the call gave no reply")
    if any(case.later()) and not case.turn_ended():
        did.append("a person let it go on, and the call was made again")
    return RETRY if again else CALL_FAILURE, did


# ---- a tool message ----


def _of_message(case: _Case) -> Finding:
    """A tool message that belongs to no call: what became of the requests that hold it."""
    for step in case.later():
        mended = _edits(step, "protocol")
        if mended:
            return OUTGOING_CHECK, [
                f"in the request of step {step.index} the tool message was left out, and the call got the result "
                '"interrupted" in its place'
            ]
        if step.request is not None:
            return None, [f"the request of step {step.index} was sent without a look at its ids"]
    reason, detail = case.end()
    if "the request would be refused" in detail:
        return OUTGOING_CHECK, [f"the run ended: {reason}"]
    return None, ["no further request was made"]


# ---- switches ----


def _of_switch(case: _Case) -> Finding:
    if case.kind == faults.LIMIT_REMOVED:
        return _of_limits(case)
    return _of_policy(case) if case.kind == faults.PERMISSION_CHECK_REMOVED else _of_requests(case)


def _of_requests(case: _Case) -> Finding:
    """Requests without results: how many, whether a server refused one, and how the run ended."""
    broken = [step for step in case.from_here() if _edits(step, "omit_results")]
    if not broken:
        return None, ["no request held a result that could be missing"]
    number = len(broken)
    did = ["1 request was sent without results" if number == 1 else f"{number} requests were sent without results"]
    refused = next((step for step in broken if step.reply is None and step.latency_ms is not None), None)
    if refused is not None:
        return PROVIDER, [*did, f"the request of step {refused.index} got no reply"]
    asked_again = _asks_again(case)
    if asked_again:
        did.append("the model asked again for what it had already been given")
    reason, _ = case.end(case.last_step())
    if asked_again and reason in RULES:
        return RULES[StopReason(reason)], [*did, f"the run ended: {reason}"]
    return None, did


def _asks_again(case: _Case) -> bool:
    """Whether a call from here on is one that had been made, and answered, in an earlier step."""
    made: set[tuple[str, str]] = set()
    for step in case.trace.steps:
        calls = {(run.name, jsontext.canonical(run.arguments)) for run in step.tools}
        if step.index >= case.at and calls & made:
            return True
        made |= calls
    return False


def _of_limits(case: _Case) -> Finding:
    """No limit: how far beyond the old one the run went, and what ended it."""
    before = case.params.get("before")
    limit = before.get("max_steps") if isinstance(before, dict) else None
    last = case.last_step()
    reason, detail = case.end(last)
    beyond = last - _first_of_turn(case) + 1 - limit if isinstance(limit, int) else 0
    more = "1 step" if beyond == 1 else f"{beyond} steps"
    did = [f"the run took {more} more than it was allowed before"] if beyond > 0 else []
    if reason == StopReason.MAX_ITERATIONS and "hard cap" in detail:
        return HARD_CAP_RULE, [*did, f"the run ended: {reason}"]
    return None, did or ["the run did not come to the old limit"]


def _first_of_turn(case: _Case) -> int:
    """The first step of the turn in which the strike happened."""
    notes = case.trace.notes
    ends = [note["step"] for note in notes if note.get("kind") == "turn" and isinstance(note.get("step"), int)]
    return max((step + 1 for step in ends if step < case.at), default=1)


def _of_policy(case: _Case) -> Finding:
    """No permission check: which tools ran that the old policy would not have let run."""
    before = case.params.get("before")
    if not isinstance(before, dict):
        return None, ["there was no policy before, so nothing changed"]
    policy = CapabilityPolicy.from_dict(before)
    runs = [run for step in case.from_here() for run in step.tools if run.decision in ("run", "timed_out", "edited")]
    ran = list(dict.fromkeys(run.name for run in runs if policy.check(run.name)[0] == "deny"))
    unasked = list(dict.fromkeys(run.name for run in runs if policy.check(run.name)[0] == "ask"))
    did = [f"{name} ran, which the policy denies" for name in ran]
    did += [f"{name} ran, for which a person should have been asked" for name in unasked]
    return None, did or ["no tool ran that the policy would have stopped"]


_READERS: dict[str, Callable[[_Case], Finding]] = {
    "tool": _of_tool,
    "reply": _of_reply,
    "provider": _of_provider,
    "message": _of_message,
    "switch": _of_switch,
}
"""Where the records of each group of faults are looked for."""
