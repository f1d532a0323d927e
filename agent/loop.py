"""The agent loop, and the file to read first. A run is plain data; ``advance()`` moves it forward by one phase.

    prepare -> call -> approve -> execute -> append -> decide -> prepare -> ...
     THINK     THINK  TOOL_CALL  TOOL_CALL  OBSERVE   OBSERVE

The model only asks. Code decides, the environment answers, and the message list is all that the model ever sees.
"""

from __future__ import annotations

from collections.abc import Callable

from agent import clock, noting
from agent.acting import approve, ask_about_unknowns
from agent.control import RunControl
from agent.errors import AgentError
from agent.events import APPEND, APPROVE, CALL, DECIDE, EXECUTE, PREPARE, AgentEvent, Phase
from agent.request import request_of
from agent.stops import Stop, StopReason, first_stop, may_nudge, note_outcomes


class Loop(RunControl):
    """One agent and its run. How it is made, started, stopped and saved: :class:`~agent.control.RunControl`."""

    def advance(self) -> list[AgentEvent]:
        """Perform exactly one phase and give the events that it caused; nothing when the run is done or waiting.

        Where a turn is over and the user has more to say, that is said, and nothing else happens.
        """
        with self._moving:
            self._events, self._started = self._started, []
            run, phase = self.run, self.run.phase
            if phase is None:
                return self._next_turn()
            if phase is APPROVE and self.waiting and not self.stopping:
                return self._events
            begun = clock.monotonic()
            if self._stop.is_set():
                self._end(Stop(StopReason.STOPPED_BY_USER, "a person stopped the run"))
            else:
                if run.faults:
                    self._strike(phase)
                run.phase = _PHASES[phase](self)
            run.counters.active_s += clock.monotonic() - begun
            if self._journal.on:
                self._journal.phase(run, phase)
        if self._listener_error:
            self._raise_listener_error()
        return self._events

    def _prepare(self) -> Phase | None:
        """Build the request: the message list, changed by budget and interventions, and checked."""
        run = self.run
        if self._fresh and (stop := self._spent()):
            return self._end(stop)
        try:
            run.request, fitted = self._outgoing.build(self.messages, run.counters.task_at, self._summarise)
        except AgentError as error:
            return self._fail(error)
        if fitted and fitted.changed:
            noting.note_compaction(run, fitted)
            self._emit("context.compacted", before=fitted.before, tokens=fitted.tokens)
        return CALL

    def _call(self) -> Phase | None:
        """One model call, one assistant message, appended as it came."""
        run = self.run
        step = noting.begin_step(run)
        self._journal.begin_call()
        begun = clock.monotonic()
        try:
            reply, latency_ms = self._ask(request_of(run.trace, step), self.tools.schemas())
        except AgentError as error:
            return self._fail(error, begun)
        noting.record_reply(run, reply, latency_ms, need_tokens=self._needs_tokens)
        self._note_reply(reply)
        self._journal.reply(run, reply, latency_ms)
        calls = reply.message.tool_calls
        self._emit("model.completed", iteration=run.iteration, tool_calls=[call.name for call in calls])
        return APPROVE if calls else DECIDE

    def _approve(self) -> Phase | None:
        """Code decides about every call: the policy first, then a person where one is to be asked."""
        run, own = self.run, self.settings
        if not approve(run.pending, self.tools, own.policy, own.limits, run.counters):
            return APPROVE
        noting.note_rejections(run)
        return EXECUTE

    def _execute(self) -> Phase | None:
        """The environment answers: what was approved runs, and the result of each call is kept."""
        run = self.run
        if ask_about_unknowns(run.pending):
            noting.note_unknowns(run)
            return APPROVE
        for position, result in self._act(run.pending):
            pending = run.pending[position]
            noting.record_result(run, position, pending, result)
            self._journal.result(position, pending, result)
            self._tell_result(pending, result)
        return APPEND

    def _append(self) -> Phase | None:
        """One tool message per call, in call order, under the call's id."""
        noting.append_results(self.run, self.settings.context)
        return DECIDE

    def _decide(self) -> Phase | None:
        """Is there a reason to stop? If there is none, once more round the loop."""
        run, limits = self.run, self.settings.limits
        note_outcomes(run, limits)
        stop = first_stop(run, self.settings, self._rules)
        self._log_step("OBSERVE" if stop is None else "DONE")
        run.pending = []
        if stop and may_nudge(stop, run, self.settings):
            noting.nudge(run)
            return PREPARE
        if stop:
            return self._end(stop)
        self._hear()
        return PREPARE


_PHASES: dict[Phase, Callable[[Loop], Phase | None]] = {
    PREPARE: Loop._prepare,
    CALL: Loop._call,
    APPROVE: Loop._approve,
    EXECUTE: Loop._execute,
    APPEND: Loop._append,
    DECIDE: Loop._decide,
}
"""Each phase does one thing and names the next; None means that the run is done."""


def code_of(phase: Phase) -> Callable[[Loop], Phase | None]:
    """The function that performs a phase, for those who want to show its lines."""
    return _PHASES[phase]
