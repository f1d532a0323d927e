"""The plan of a script: the model calls of a trace in their order, and what is said to the model before each of them.

The loop writes replies and results itself, and its own nudges. All else that stands in the message list was said from
outside, and a script has to say it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.events import Maker, Phase
from agent.messages import Message
from agent.models.made_calls import ModelCall, model_calls
from agent.models.replies import visible_text, was_cut
from agent.noting import DETOUR, NUDGE
from agent.stops import ANSWERED, ASK_AGAIN, StopReason
from agent.trace import ToolRun, Trace, TraceStep

UNMADE = "unmade"
"""The kind of a model call that a trace does not count among those that were made."""


@dataclass(slots=True)
class PlannedTurn:
    """One turn of the script to be."""

    call: ModelCall | None
    """What it is made of; None: words at the end of the trace, to which no answer is known."""
    before: list[int]
    """Positions of the messages that are said before it."""
    over: bool = False
    """Whether the loop has ended by then, or may have, so that it must be told to go on."""
    fresh: bool = False
    """Whether it has for sure, so that its steps are counted anew."""
    nudge: int | None = None
    """Position of the message with which the loop itself asks the model to go on before it."""


@dataclass(slots=True)
class Plan:
    """All turns, and what a replay of them writes."""

    trace: Trace
    turns: list[PlannedTurn] = field(default_factory=list)
    system: bool = False
    """Whether the first message is the plain system text of the run."""
    nudges: bool = False
    """Whether the loop's own nudges come again by themselves; otherwise they are said like any other words."""
    written: list[int | None] = field(default_factory=list)
    """The messages in the order in which a replay writes them, by position; None: one that the trace does not hold."""

    @property
    def whole(self) -> bool:
        """Whether a replay gives the same message list; a last reply whose calls were never answered does no harm."""
        count = len(self.trace.messages)
        return self.written[:count] == list(range(count)) and all(at is None for at in self.written[count:])

    def steps_of_turns(self) -> list[int]:
        """How many steps there are between two ends of the loop.

        The one for which a script had no turn counts as well.
        """
        steps: list[set[int]] = [set()]
        for turn in self.turns:
            steps += [set()] if turn.fresh else []
            steps[-1] |= {turn.call.step} if turn.call is not None else set()
        counts = [len(each) for each in steps]
        counts[-1] += self.trace.outcome.reason == StopReason.SCRIPT_EXHAUSTED
        return counts


def plan_of(trace: Trace) -> Plan:
    """The plan for a trace of any kind."""
    calls: list[ModelCall | None] = [*model_calls(trace), *_summary_that_failed(trace)]
    planner = _Planner(trace)
    if not (planner.nudged and planner.nudges_come_again(calls)):
        planner.nudged = set()
    return planner.plan(calls)


def runs_of(trace: Trace, step: TraceStep) -> list[ToolRun | None]:
    """What was done about each call of a step's reply; None where the trace says nothing."""
    if step.reply is None:
        return []
    waiting: defaultdict[str, deque[ToolRun]] = defaultdict(deque)
    for run in step.tools:
        waiting[run.tool_call_id].append(run)
    return [found.popleft() if (found := waiting[call.id]) else None for call in trace.messages[step.reply].tool_calls]


class _Planner:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._runs = [runs_of(trace, step) for step in trace.steps]
        answers = {run.message for runs in self._runs for run in runs if run is not None}
        self._by_loop = answers | {step.reply for step in trace.steps}
        self._ends = dict(filter(None, map(_end_in, trace.notes)))
        self.nudged = {at for at, message in enumerate(trace.messages) if self._is_nudge(at, message)}

    def _is_nudge(self, at: int, message: Message) -> bool:
        entry = self._trace.entries[at]
        return message.role == "user" and entry.maker == Maker.CODE and message.content == NUDGE

    def nudges_come_again(self, calls: Sequence[ModelCall | None]) -> bool:
        """Whether each empty answer was met as the limit says, and nothing else was said beside a nudge."""
        limit = (self._trace.config.get("limits") or {}).get("nudges") or 0
        used = 0
        for call, following in zip(calls, [*self._ends_of(calls)[1:], None], strict=True):
            reply = self._reply(call)
            if reply is None or self._trace.messages[reply].tool_calls:
                continue
            nudge = reply + 1 in self.nudged
            if nudge != (self._is_empty(call) and used < limit) or (nudge and following not in (None, reply + 2)):
                return False
            used = used + 1 if nudge else 0
        return True

    def plan(self, calls: list[ModelCall | None]) -> Plan:
        """Go through the calls in order and give each what stands before it."""
        trace = self._trace
        plan = Plan(trace, nudges=bool(self.nudged), system=_has_plain_system(trace))
        if plan.system:
            plan.written.append(0)
        at = int(plan.system)
        previous: ModelCall | None = None
        for call, end in zip(calls, self._ends_of(calls), strict=True):
            plan.turns.append(self._turn(call, at, end, previous, first=not plan.turns))
            at = max(at, end)
            self._write(plan, call)
            reply = self._reply(call)
            at = at if reply is None else max(at, reply + 1)
            previous = call
        last = self._turn(None, at, len(trace.messages), previous, first=not plan.turns)
        if last.before or not plan.turns or (previous is not None and self._went_on(previous)):
            plan.turns.append(last)
        plan.written += _words(last)
        return plan

    def _turn(
        self, call: ModelCall | None, start: int, end: int, previous: ModelCall | None, *, first: bool
    ) -> PlannedTurn:
        here = range(start, end)
        nudge = next((at for at in here if at in self.nudged), None)
        words = [at for at in here if at not in self._by_loop and at not in self.nudged]
        turn = PlannedTurn(call, words, nudge=nudge)
        if not first and nudge is None:
            noted = self._noted_ends(previous, call)
            turn.fresh = self._ends_itself(previous) or StopReason.MAX_ITERATIONS in noted
            turn.over = turn.fresh or bool(noted)
        return turn

    def _write(self, plan: Plan, call: ModelCall | None) -> None:
        reply = self._reply(call)
        plan.written += _words(plan.turns[-1])
        if call is not None and reply is not None:
            plan.written.append(reply)
            plan.written += [None if run is None else run.message for run in self._runs[call.step - 1]]

    def _ends_of(self, calls: Sequence[ModelCall | None]) -> list[int]:
        """How many messages the list held when each call was made."""
        ends: list[int] = []
        following = len(self._trace.messages)
        for call in reversed(calls):
            reply = self._reply(call)
            if reply is not None:
                following = min(reply, following)
            elif call is not None and call.request is not None:
                following = min(call.request.upto, following)
            ends.append(following)
        return ends[::-1]

    def _reply(self, call: ModelCall | None) -> int | None:
        return self._trace.steps[call.step - 1].reply if call is not None and call.kind == "reply" else None

    def _is_empty(self, call: ModelCall | None) -> bool:
        reply = self._reply(call)
        if call is None or reply is None:
            return False
        message, finish = self._trace.messages[reply], self._trace.steps[call.step - 1].finish_reason
        told = message.extra.get("refusal") or finish == "content_filter" or was_cut(finish)
        return not told and not visible_text(message)

    def _went_on(self, last: ModelCall) -> bool:
        """Whether the run ended after its last model call, and went on to ask once more, but got no answer."""
        ended = [reason for step, reason in self._ends.items() if step >= last.step]
        exhausted = self._trace.outcome.reason == StopReason.SCRIPT_EXHAUSTED
        return bool(ended) and (exhausted or not ASK_AGAIN.isdisjoint(map(str, ended)))

    def _noted_ends(self, previous: ModelCall | None, call: ModelCall | None) -> list[str | None]:
        """Why the run ended between two calls, where it went on later; a person may have ended it."""
        since = previous.step - (previous.kind == "summary") if previous is not None else 0
        until = call.step if call is not None else len(self._trace.steps) + 1
        return [reason for step, reason in self._ends.items() if since <= step < until]

    def _ends_itself(self, previous: ModelCall | None) -> bool:
        """Whether the loop ends after a call by what it gave."""
        if previous is None or previous.kind == "failed":
            return True
        reply = self._reply(previous)
        if reply is None:
            return False
        calls = self._trace.messages[reply].tool_calls
        cut = was_cut(self._trace.steps[previous.step - 1].finish_reason)
        return not calls or (cut and all(asked.problem for asked in calls))


def _summary_that_failed(trace: Trace) -> Iterator[ModelCall]:
    """The call for a summary that ended the run. The loop does not count it as made; a script has to say it."""
    note = trace.notes[-1] if trace.notes else {}
    unmade = note.get("kind") == DETOUR and note.get("phase") == Phase.PREPARE and "failure" in note
    if unmade and trace.outcome.reason in ANSWERED and isinstance(note.get("step"), int):
        yield ModelCall(note["step"], UNMADE, None)


def _words(turn: PlannedTurn) -> list[int]:
    """The messages that are written before the model is asked."""
    return turn.before if turn.nudge is None else [turn.nudge, *turn.before]


def _end_in(note: Any) -> tuple[int, str | None] | None:
    """The step after which the run ended, and why, as a note about how it went on tells."""
    kind, step = note.get("kind"), note.get("step")
    if not isinstance(step, int) or not (kind == "turn" or (kind == DETOUR and "outcome" in note)):
        return None
    return step, (note.get("outcome") or {}).get("reason")


def _has_plain_system(trace: Trace) -> bool:
    """Whether the list begins with a system text as the loop writes it."""
    first = trace.messages[0] if trace.messages else None
    return first is not None and bool(first.content) and first == Message("system", first.text)
