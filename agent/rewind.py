"""Rewind: from a trace and a moment of it back to the run as it stood then, by the same functions that moved it first.

What came from outside (replies, results, decisions, summaries) is taken from the trace; what the loop makes of it
(counters, pending calls, the faults that a script armed, what the context budget left out) is made again. What is not
known again: the active time before an end, which is taken to be the sum of the calls' times; what a person had armed;
and settings that a person changed later (:meth:`Loop.extend <agent.control.RunControl.extend>`): they are those of now.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from agent import noting, tokens
from agent.acting import approve
from agent.closing import CLAIMED, NOT_STRUCK
from agent.context import ContextWindow
from agent.errors import AgentError, InputError, ModelError
from agent.events import APPEND, APPROVE, CALL, DECIDE, EXECUTE, PREPARE
from agent.faults import LIMIT_REMOVED, PROVIDER_500, Fault
from agent.jsontext import copy_json
from agent.limits import Limits
from agent.messages import Message
from agent.models.base import ModelReply
from agent.moments import Moment, moments
from agent.noting import ARMED, DETOUR
from agent.outgoing import Outgoing
from agent.past import interventions_at, settings_at
from agent.recorded import result_of, said_about, settle, tool_names
from agent.request import MessageView
from agent.state import RunState
from agent.stops import ANSWERED, Stop, StopReason, note_outcomes
from agent.trace import Outcome, Request, Trace, TraceStep
from agent.usage import Usage


def rewind(source: Trace | RunState, moment: Moment) -> RunState:
    """The run as it stood at a moment, sharing nothing with its source; ``Loop.resume`` goes on from its ``to_dict()``.

    Args:
        source: a trace; or a run that rests, which knows more of the moment at which it stands now: decisions and
            results that are not in its trace yet. Neither is changed.
        moment: one of :func:`~agent.moments.moments` of the trace.

    Raises:
        InputError: the run was never there, or the trace keeps settings that make no sense.
    """
    trace = source.trace if isinstance(source, RunState) else source
    if isinstance(source, RunState) and moment == moments(trace, source.phase)[-1]:
        return RunState.from_dict(copy_json(source.to_dict()))
    path = moments(trace, None if trace.outcome.reason else moment.phase)
    if moment.number >= len(path) or path[moment.number] != moment:
        raise InputError(f"the run was never before {moment.phase or 'the end'} of step {moment.step}")
    again = _Again(trace, moment, path)
    for place in range(moment.number + 1):
        again.move_to(place)
    return again.result()


class _Again:
    """Moves a run once more from moment to moment."""

    def __init__(self, trace: Trace, moment: Moment, path: list[Moment]) -> None:
        self._source, self._moment, self._path = trace, moment, path
        self._settings = settings_at(trace, moment)
        self._names = tool_names(trace)
        self._limits_removed = any(item.get("kind") == LIMIT_REMOVED for item in trace.interventions)
        self._notes = self._held = 0  # how many notes and messages of the source the run has come by
        lists: dict[str, Any] = {name: [] for name in ("messages", "entries", "steps", "interventions", "notes")}
        self.run = RunState(replace(trace, **lists, outcome=Outcome()))
        self._last_call = {m.step: m.number for m, after in pairwise(path) if _made_a_call(m, after)}
        self._window_for_now()

    def move_to(self, place: int) -> None:
        """Go to this moment from the one before it."""
        here, before = self._path[place], self._path[place - 1] if place else None
        run = self.run
        if before is None or here.turn != before.turn:
            self._begin_turn(here, before)
        elif before.phase is None:
            noting.reopen(run, here.phase or DECIDE)
            self._pass_note(DETOUR)
        elif here.phase is None:
            self._end(here, before)
        else:
            _MOVES[before.phase](self, here, before)
        self._take(here.messages)
        run.phase = here.phase

    def result(self) -> RunState:
        """The run as it stands now."""
        run, source = self.run, self._source
        run.trace.notes = source.notes[: self._notes]
        run.trace.interventions = [item.to_dict() for item in self._settings.interventions]
        run.trace.interventions += interventions_at(source, self._moment)
        run.faults = [fault for fault in run.faults if not _has_struck(run.trace, fault)]
        run.trace.config = {**source.config, **self._settings.to_config()}
        noting.keep_asked(run.trace, source)
        if run.phase is None and run.trace.outcome.active_s is not None:
            run.counters.active_s = run.trace.outcome.active_s
        else:
            run.counters.active_s = _active_s(run.trace)
        return RunState.from_dict(copy_json(run.to_dict()))

    # ---- turns ----

    def _begin_turn(self, here: Moment, before: Moment | None) -> None:
        run = self.run
        if here.phase is None:
            return  # a run that was never started
        if before is not None and before.phase is not None:
            self._pass_note(DETOUR)
            self._close(before)
        given = self._source.messages
        if not self._held and given and given[0].role in ("system", "developer"):
            self._take(1)
        noting.begin_turn(run, given[self._held : here.messages])
        if before is not None and before.phase is None:
            self._pass_note("turn")

    def _end(self, here: Moment, before: Moment) -> None:
        run = self.run
        outcome = self._next_outcome()
        if self._ended_early(before):
            self._pass_note(DETOUR)
        if before.phase is DECIDE and outcome.reason != StopReason.STOPPED_BY_USER:
            note_outcomes(run, self._limits_at(here))
        self._close(before)
        run.trace.outcome = outcome
        self._pass_note(CLAIMED)
        while self._next_note(NOT_STRUCK):
            self._pass_note(NOT_STRUCK)

    def _ended_early(self, before: Moment) -> bool:
        note = self._next_note(DETOUR)
        return note is not None and note.get("phase") == before.phase and note.get("step") == before.step

    def _close(self, before: Moment) -> None:
        """What is still open got its answers."""
        if before.phase in (APPROVE, EXECUTE):
            self._execute(before, before)
        self._finish_step()

    def _finish_step(self) -> None:
        """A step that is over is as the trace has it."""
        run = self.run
        run.pending = []
        if run.trace.steps:
            run.trace.steps[-1] = self._source.steps[len(run.trace.steps) - 1]

    # ---- phases ----

    def _prepare(self, here: Moment, before: Moment) -> None:
        run, request = self.run, self._request_of(before)
        made = self._make_request() if request is None or self._settings.context else None
        if here.phase is DECIDE:
            note = self._next_note(DETOUR) or {}
            run.failure = Stop(*note.get("failure") or (StopReason.MODEL_ERROR, "there can be no request"))
            self._pass_note(DETOUR)
            return
        run.request = request or made or Request(upto=len(run.trace.messages))
        left_out = [[edit.message, edit.message + edit.count] for edit in run.request.edits if _by_budget(edit)]
        if left_out != run.context.dropped:
            run.context.dropped = left_out
            self._window_for_now()

    def _call(self, here: Moment, before: Moment) -> None:
        run, last = self.run, self._last_call.get(before.step) == before.number
        record = self._source.steps[before.step - 1] if before.step <= len(self._source.steps) else None
        step = noting.begin_step(run)
        if record is not None:
            step.started, step.extra = record.started, dict(record.extra)
        if record is None or not last or record.reply is None:
            self._no_reply(here, record, step)
            return
        message, raw = self._source.messages[record.reply], self._source.entries[record.reply].raw
        reply = ModelReply(
            message, record.usage, record.finish_reason, record.model, record.first_token_ms, record.cost, raw
        )
        self._take(record.reply)
        faults = tuple(map(Fault.from_dict, _armed_by(record)))
        noting.record_reply(run, replace(reply, faults=faults), record.latency_ms or 0.0, need_tokens=False)
        step.reply, step.latency_ms = record.reply, record.latency_ms
        step.retries, step.warnings = record.retries, record.warnings
        self._learn(record.usage)
        if here.phase is DECIDE and self._next_outcome().reason == StopReason.UNKNOWN_ACTION:
            run.failure = self._failure(Stop(StopReason.UNKNOWN_ACTION))

    def _no_reply(self, here: Moment, record: TraceStep | None, step: TraceStep) -> None:
        run = self.run
        refused = here.phase is PREPARE
        run.failure = None if refused else self._failure(Stop(StopReason.MODEL_ERROR, "the model call failed"))
        answered = refused or (run.failure is not None and run.failure.reason in ANSWERED and not self._struck(step))
        noting.record_failure(run, ModelError(""), 0.0, answered=answered)
        if record is not None and record.reply is None and not refused:
            step.latency_ms, step.retries = record.latency_ms, record.retries
        if refused:
            if self._outgoing.window:
                self._outgoing.window.refused(step.index, self._sent())
            self._pass_note(DETOUR)

    def _approve(self, here: Moment, before: Moment) -> None:
        run, own = self.run, self._settings
        approve(run.pending, self._names, own.policy, own.limits, run.counters)
        record = self._source.steps[before.step - 1]
        for pending, done in zip(run.pending, record.tools, strict=False):
            settle(pending, done, said_about(self._source, before.step, pending.call.id))
        noting.note_rejections(run)

    def _execute(self, here: Moment, before: Moment) -> None:
        run, record = self.run, self._source.steps[before.step - 1]
        for position, (pending, done) in enumerate(zip(run.pending, record.tools, strict=False)):
            result = result_of(self._source, pending, done)
            if result is None:
                continue
            pending.begun, pending.started = done.started is not None, done.started
            pending.finished = self._source.entries[done.message or 0].at
            noting.record_result(run, position, pending, result)
            run.step.tools[position] = replace(done, message=None)

    def _append(self, here: Moment, before: Moment) -> None:
        """The messages are taken as they stand: limits of their length may have been others then."""
        run, record = self.run, self._source.steps[before.step - 1]
        run.step.tools = [replace(done) for done in record.tools]
        for pending, done in zip(run.pending, record.tools, strict=False):
            written = self._source.messages[done.message].tool_call_id if done.message is not None else None
            if written and written != pending.call.id:
                pending.result_id = written

    def _decide(self, here: Moment, before: Moment) -> None:
        run = self.run
        note_outcomes(run, self._limits_at(here))
        more = self._source.messages[before.messages : here.messages]
        if run.trace.steps and [(m.role, m.content) for m in more[:1]] == [("user", noting.NUDGE)]:
            noting.nudge(run)
        self._finish_step()

    def _limits_at(self, here: Moment) -> Limits:
        """The limits of then: until a fault removed them, what they look at was counted."""
        return settings_at(self._source, here).limits if self._limits_removed else self._settings.limits

    # ---- requests and the context budget ----

    def _window_for_now(self) -> None:
        budget = self._settings.context
        size = tokens.count_schemas(self._source.tools) if budget else 0
        window = ContextWindow(budget, self.run.context, size) if budget else None
        self._outgoing = Outgoing(window, self._settings.interventions)

    def _request_of(self, before: Moment) -> Request | None:
        """The request that was made at a moment, where the trace keeps it: as a refused one, or with its step."""
        ahead = (note for note in self._source.notes[self._notes :] if note.get("kind") not in _BY_PREPARE)
        note = next((note for note in ahead if note.get("kind") in _ON_THE_WAY), {})
        if note.get("request") and (note.get("step"), note.get("phase")) == (before.step, CALL):
            return Request.from_dict(note["request"])
        kept = before.step <= len(self._source.steps) and self._last_call.get(before.step) == before.number + 1
        return self._source.steps[before.step - 1].request if kept else None

    def _make_request(self) -> Request | None:
        """Prepare once more, with the summaries that were made then."""
        run = self.run
        try:
            made, _ = self._outgoing.build(run.trace.messages, run.counters.task_at, self._summary)
        except AgentError:
            made = None
        while self._next_note(*_BY_PREPARE):
            self._pass_note("context")
            self._pass_summary()
        return made

    def _summary(self, messages: list[Message]) -> str:
        self._pass_note("context")
        if (text := self._pass_summary()) is None:
            raise ModelError("the trace holds no summary here")
        return text

    def _pass_summary(self) -> str | None:
        run, note = self.run, self._next_note("summary")
        if note is None:
            return None
        self._notes += 1
        run.counters.model_calls += 1
        usage = note.get("usage")
        noting.count_usage(run, Usage.from_dict(usage) if usage else None, note.get("cost"))
        run.context.summary = str(note.get("text") or "")
        return run.context.summary

    def _learn(self, usage: Usage | None) -> None:
        window = self._outgoing.window
        if window and usage and not usage.estimated and not noting.truncation_warning(self.run):
            window.learn(self._sent(), usage.prompt_tokens)

    def _sent(self) -> MessageView:
        request = self.run.request
        return MessageView(self.run.trace.messages, request.upto if request else 0)

    # ---- what the trace says ----

    def _take(self, count: int) -> None:
        """Hold exactly the first so many messages of the source, in the place of what was made again."""
        trace, source, held = self.run.trace, self._source, self._held
        trace.messages[held:] = source.messages[held:count]
        trace.entries[held:] = source.entries[held:count]
        self._held = count

    def _next_note(self, *kinds: str) -> dict[str, Any] | None:
        """The next note if it is of these kinds; what says nothing about the way is passed."""
        while self._notes < len(self._source.notes):
            note = self._source.notes[self._notes]
            if note.get("kind") in _ON_THE_WAY:
                made_now = note.get("kind") not in _BY_PREPARE or note.get("step") == noting.step_number(self.run)
                return note if note["kind"] in kinds and made_now else None
            self._notes += 1
        return None

    def _pass_note(self, kind: str) -> None:
        if self._next_note(kind):
            self._notes += 1

    def _next_outcome(self) -> Outcome:
        """How the turn at hand ended."""
        for note in self._source.notes[self._notes :]:
            if isinstance(note.get("outcome"), dict):
                return Outcome.from_dict(note["outcome"])
            if note.get("new_turn"):
                return Outcome()
        return self._source.outcome

    def _failure(self, unknown: Stop) -> Stop:
        """Why there was no reply, as far as the end of the turn says it."""
        note, outcome = self._next_note(DETOUR), self._next_outcome()
        if note and note.get("failure"):
            return Stop(*note["failure"])
        known = outcome.reason in set(StopReason)
        return Stop(StopReason(str(outcome.reason)), outcome.detail) if known else unknown

    def _struck(self, step: TraceStep) -> bool:
        """Whether a fault kept the model from being asked."""
        told = self._source.interventions
        return any((item.get("kind"), item.get("step")) == (PROVIDER_500, step.index) for item in told)


_BY_PREPARE = ("summary", "context")
_ON_THE_WAY = (DETOUR, "turn", CLAIMED, NOT_STRUCK, *_BY_PREPARE)
_MOVES = {
    PREPARE: _Again._prepare,
    CALL: _Again._call,
    APPROVE: _Again._approve,
    EXECUTE: _Again._execute,
    APPEND: _Again._append,
    DECIDE: _Again._decide,
}


def _made_a_call(before: Moment, after: Moment) -> bool:
    """Whether a model was called between two moments, and the run did not end, or go on elsewhere, right before it."""
    return before.phase is CALL and after.phase is not None and after.turn == before.turn


def _by_budget(edit: Any) -> bool:
    return bool(edit.op == "drop" and edit.by == "context")


def _armed_by(step: TraceStep) -> list[dict[str, Any]]:
    """The faults that the reply of a step armed, as data."""
    kept = step.extra.get(ARMED)
    return [item for item in kept if isinstance(item, dict)] if isinstance(kept, list) else []


def _has_struck(trace: Trace, fault: Fault) -> bool:
    """Whether a fault has struck since a reply armed it last."""
    armed = (step for step in trace.steps if any(item.get("kind") == fault.kind for item in _armed_by(step)))
    at = max((step.index for step in armed), default=0)
    strikes = (item for item in trace.interventions if item.get("kind") == fault.kind and item.get("step") is not None)
    return any(item["step"] > at or item.get("phase") not in (PREPARE, CALL) for item in strikes if item["step"] >= at)


def _active_s(trace: Trace) -> float:
    spent = 0.0
    for step in trace.steps:
        spent += (step.latency_ms or 0.0) + sum(run.latency_ms or 0.0 for run in step.tools)
    return spent / 1000
