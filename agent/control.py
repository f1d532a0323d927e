"""The handles of a run: it is made, started, stopped, decided about, extended, saved and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from agent import clock, noting
from agent.acting import UNKNOWN_OUTCOME, ask_about_lost_secrets, foresee
from agent.approval import Decision
from agent.asking import Asker
from agent.context import ContextBudget
from agent.errors import AgentError, InputError
from agent.events import AgentEvent, AgentState, Maker, Phase
from agent.evidence import Check
from agent.faults import Fault
from agent.interventions import Intervention
from agent.journal import Journal
from agent.jsontext import copy_json
from agent.limits import Limits
from agent.messages import Message
from agent.models.base import Model
from agent.policy import CapabilityPolicy
from agent.settings import NO_LIMITS, Settings, UnknownOutcome
from agent.speaking import User
from agent.state import PendingCall, RunState
from agent.stops import ASK_AGAIN, Stop, StopReason, about_to_stop, rules_under
from agent.striking import settings_ahead
from agent.tools import Tool, ToolRegistry
from agent.trace import ModelInfo, Trace
from agent.workings import Workings, nobody_was_there

_NOT_IN_A_SNAPSHOT = ("evidence", "on_event", "journal", "user")


class RunControl(Workings):
    """One run and the handles to it.

    Args:
        model: anything with ``complete(messages, tool_schemas)``.
        tools: a registry, or tools and functions to make one of.
        system: the system text; empty for none.
        max_steps: model calls that one turn may take; None leaves only the hard cap.
        policy: which tools may run; None allows all.
        limits: further limits and guards, see :class:`~agent.limits.Limits`.
        context: how long a request may be; None sends everything.
        interventions: changes to what the model is given.
        evidence: checks that say at the end whether the task is done; ready ones are in :mod:`agent.evidence`.
        parallel: whether the calls of one reply may run at the same time.
        unknown: what is done about a tool that was running when the program ended: ``ask``, ``run`` again or ``skip``.
        on_event: called with every event as it happens: in the thread that advances the run, and for what a tool tells
            while it works in that tool's thread.
        journal: folder for the journal and the trace file; None keeps the run in memory.
        user: who speaks to the model besides: between steps, and after the end of a turn.
        title: of the trace.
        trace_id: twelve hex digits; None makes a new one.

    Raises:
        ToolDefinitionError: a tool that cannot be offered.
        InputError: a setting that makes no sense.
    """

    def __init__(
        self,
        model: Model,
        tools: ToolRegistry | Iterable[Tool | Callable[..., Any]] = (),
        *,
        system: str = "",
        max_steps: int | None = 8,
        policy: CapabilityPolicy | None = None,
        limits: Limits | None = None,
        context: ContextBudget | None = None,
        interventions: Sequence[Intervention] = (),
        evidence: Sequence[Check] = (),
        parallel: bool = True,
        unknown: UnknownOutcome = "ask",
        on_event: Callable[[AgentEvent], None] | None = None,
        journal: Path | str | None = None,
        user: User | None = None,
        title: str = "",
        trace_id: str | None = None,
    ) -> None:
        settings = Settings(max_steps, policy, limits or NO_LIMITS, context, tuple(interventions), parallel, unknown)
        asker = Asker(model)
        on_disk = Journal(journal, asker.secrets)
        super().__init__(asker, ToolRegistry.of(tools), settings, evidence, on_event, on_disk, user)
        trace = Trace(created=clock.now(), title=title, model=_model_info(model))
        trace.trace_id = trace_id or trace.trace_id
        if system:
            trace.add(Message("system", system), Maker.CODE)
        self._adopt(RunState(trace))

    @property
    def trace(self) -> Trace:
        """What the run leaves behind, up to now."""
        return self.run.trace

    @property
    def messages(self) -> list[Message]:
        """The message list: the only thing that the model is ever told."""
        return self.run.trace.messages

    @property
    def secrets(self) -> tuple[str, ...]:
        """Exact values that must be written and shown nowhere, such as the key in use."""
        return self._asker.secrets

    @property
    def phase(self) -> Phase | None:
        """What ``advance()`` does next; None before the first turn and after the last."""
        return self.run.phase

    @property
    def state(self) -> AgentState:
        """THINK, TOOL_CALL, OBSERVE or DONE."""
        return self.run.state

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the last turn ended; None while it goes on."""
        reason = self.run.trace.outcome.reason
        return StopReason(reason) if reason else None

    @property
    def waiting(self) -> bool:
        """True while a call waits for a person: ``advance()`` does nothing until :meth:`decide` was called for each."""
        return self.run.phase is Phase.APPROVE and any(p.decision is None and p.question for p in self.run.pending)

    @property
    def stopping(self) -> bool:
        """True from :meth:`stop` on: the next ``advance()`` ends the run."""
        return self._stop.is_set()

    def about_to_stop(self) -> Stop | None:
        """What the phase decide, if it is the next one, will end the run with; None: nothing. Changes nothing."""
        settings = settings_ahead(self.run, self.settings)
        return about_to_stop(self.run, settings, rules_under(settings.limits))

    def foreseen(self) -> list[PendingCall]:
        """The calls of the reply at hand as the phase approve will leave them. Changes nothing.

        In each copy stands what the policy and the limits say: the decision, or the question for a person.
        """
        run = self.run
        own = settings_ahead(run, self.settings)
        return foresee(run.pending, self.tools, own.policy, own.limits, run.counters)

    @property
    def more(self) -> bool:
        """True when the turn is over and the user has more to say: ``advance()`` then begins the next one."""
        return self._next_words() is not None

    def start(self, text: str | Sequence[Message]) -> None:
        """Begin a turn. One that was not over is closed first; its calls get answers.

        Args:
            text: the user's message; or all messages that the turn begins with, perhaps none.

        Raises:
            InputError: it is neither.
            AgentError: the run is being advanced in another thread.
            OSError: the journal cannot be begun. The turn has begun all the same, and ``advance()`` tries again.
        """
        messages = (Message("user", text),) if isinstance(text, str) else text
        if not (isinstance(messages, Sequence) and all(isinstance(message, Message) for message in messages)):
            raise InputError(f"the user's message must be text or messages, not {type(text).__name__}")
        if self._moving.locked():
            raise AgentError("the run is being advanced in another thread; stop or pause it first")
        if self.run.phase is not None:
            why = f"the next message of the user came before {self.run.phase}"
            noting.note_detour(self.run, why, Phase.PREPARE, new_turn=True)
            self._close_calls()
        self._events = []
        self._begin(messages)
        self._started = self._events
        self._journal.open(self.run)
        self._raise_listener_error()

    def advance(self) -> list[AgentEvent]:
        """Perform one phase; the loop says how."""
        raise NotImplementedError

    def events(self, text: str) -> Iterator[AgentEvent]:
        """Run a turn to its end, event by event. Where a person would be asked, nobody is there: the call is denied."""
        self.start(text)
        while self.run.phase is not None:
            self._answer_for_nobody()
            yield from self.advance()

    async def aevents(self, text: str) -> AsyncIterator[AgentEvent]:
        """The same for async code; the event loop is never blocked. A task that is cancelled stops the run."""
        self.start(text)
        while self.run.phase is not None:
            self._answer_for_nobody()
            phase = asyncio.ensure_future(asyncio.to_thread(self.advance))
            try:
                events = await asyncio.shield(phase)
            except asyncio.CancelledError:
                self.stop()
                await asyncio.wait([phase])
                raise
            for event in events:
                yield event

    def finish(self) -> None:
        """Go on to the end of the turn. Where a person would be asked, nobody is there: the call is denied."""
        while self.run.phase is not None:
            self._answer_for_nobody()
            self.advance()

    def stop(self) -> None:
        """End the run as soon as possible, also in the middle of a model call or tool. May come from another thread."""
        self._stop.set()

    def decide(self, position: int, decision: Decision) -> None:
        """A person's word on one call of the reply at hand, by its position from 0.

        A policy is stronger: what it denies does not run, whatever a person says. To run again a call whose outcome is
        unknown means to run it as it was approved.

        Raises:
            InputError: there is no such call to decide about.
            AgentError: the run is being advanced in another thread.
        """
        with self._at_rest():
            calls = self.run.pending
            if self.run.phase is not Phase.APPROVE or not 0 <= position < len(calls):
                raise InputError(f"there is no call {position + 1} to decide about now")
            pending = calls[position]
            if decision.kind == "run" and pending.before is not None:
                decision = pending.before
            pending.decision, pending.begun, pending.before = decision.about(pending.call), False, None
            self._journal.decided(calls)

    def remember(self, key: str, value: Any) -> None:
        """Keep a JSON value with the run, under a key of its own in the trace. May come from another thread.

        It is on the disk at once, also in the middle of a phase or after the end, and a run that is opened again still
        has it.

        Raises:
            OSError: the run is over and the disk is full; its file is as it was.
        """
        with self._journal.lock:
            trace, kept = self.run.trace, copy_json(value)
            trace.extra = {**trace.extra, key: kept}  # a new one: other threads may be reading the old one
            self._journal.remembered(trace, key, kept)

    def arm(self, fault: Fault) -> None:
        """Let something go wrong on purpose, once, at the next phase in which it can.

        It is on the disk at once. One of the same kind that was armed before is replaced.

        Raises:
            AgentError: the run is being advanced in another thread.
        """
        self._change_fault(fault.kind, [fault])

    def disarm(self, kind: str) -> None:
        """Take back a fault that has not struck yet; nothing where none of this kind is armed.

        Raises:
            AgentError: the run is being advanced in another thread.
        """
        self._change_fault(kind, [])

    def _change_fault(self, kind: str, now: list[Fault]) -> None:
        with self._at_rest():
            self.run.faults = [armed for armed in self.run.faults if armed.kind != kind]
            for fault in now:
                self.run.arm(fault)
            self._journal.armed(self.run.faults)

    @contextmanager
    def _at_rest(self) -> Iterator[None]:
        """Keep every phase from beginning meanwhile.

        Raises:
            AgentError: one is being performed, in another thread or by who calls this.
        """
        if not self._moving.acquire(blocking=False):
            raise AgentError("the run is being advanced in another thread; stop or pause it first")
        try:
            yield
        finally:
            self._moving.release()

    def extend(self, **changes: Any) -> None:
        """Go on after a stop, with other settings: ``extend(max_steps=16)``, ``extend(limits=...)``.

        Steps, tokens and active time count on; the guards that count repeats and errors begin anew. Whether the run may
        go on is decided at once by the next ``advance()``: a limit that is too low stops it again. What ended for want
        of an answer (a failed model call, a stop, a cut-off reply) is asked again.

        Raises:
            InputError: an unknown setting, or one that makes no sense.
            AgentError: the run is being advanced in another thread.
        """
        with self._at_rest():
            self._extend(changes)

    def _extend(self, changes: Mapping[str, Any]) -> None:
        try:
            self.settings = replace(self.settings, **changes)
        except TypeError as error:
            raise InputError(f"there is no such setting: {', '.join(changes)}") from error
        run = self.run
        if changes:
            noting.note_extension(run, {name: self.settings.to_config()[name] for name in changes})
        if run.phase is None and (reason := self.stop_reason):
            ask_again = reason in ASK_AGAIN or run.iteration == 0 or run.reply is None
            noting.reopen(run, Phase.PREPARE if ask_again else Phase.DECIDE)
            self._stop.clear()
        self._adopt(run)
        self._journal.open(run)

    def snapshot(self) -> dict[str, Any]:
        """The run as JSON data of its own: what :meth:`resume` needs in another process."""
        data: dict[str, Any] = copy_json(self.run.to_dict())
        return data

    @classmethod
    def resume(
        cls,
        snapshot: Mapping[str, Any],
        *,
        model: Model,
        tools: ToolRegistry | Iterable[Tool | Callable[..., Any]] = (),
        **options: Any,
    ) -> Self:
        """Go on from a snapshot at the same phase.

        Settings that are not given stay as they were. ``evidence``, ``on_event``, ``journal`` and ``user`` are not part
        of a snapshot and have to be given again. A run that had ended at a limit goes on when the new settings allow
        it.

        Raises:
            InputError: the snapshot is none, or damaged; or an option that a resumed run cannot take.
        """
        run = RunState.from_dict(copy_json(dict(snapshot)) if isinstance(snapshot, Mapping) else snapshot)
        before = Settings.from_config(run.trace.config)
        allowed = (*Settings.__slots__, *_NOT_IN_A_SNAPSHOT)
        if wrong := [name for name in options if name not in allowed]:
            raise InputError(f"a resumed run takes no {', '.join(wrong)}; it takes {', '.join(allowed)}")
        kept = {name: getattr(before, name) for name in Settings.__slots__}
        loop = cls(model, tools, **{**kept, **options})
        loop._adopt(run)
        run.trace.model = _model_info(model)
        if run.phase is None and loop.settings != before:
            loop.extend()
        elif run.phase is not None:
            if run.phase in (Phase.APPROVE, Phase.EXECUTE) and ask_about_lost_secrets(run.pending):
                run.phase = Phase.APPROVE
            loop._settle_unknowns()
            loop._journal.open(run)
        return loop

    def _settle_unknowns(self) -> None:
        """Where a setting says so, do not ask about tools whose outcome is unknown."""
        choice = {"run": Decision.run(), "skip": Decision.skip("its outcome is unknown")}.get(self.settings.unknown)
        for position, pending in enumerate(self.run.pending if choice and self.waiting else ()):
            if choice and pending.begun and pending.question == UNKNOWN_OUTCOME:
                self.decide(position, choice)

    def _answer_for_nobody(self) -> None:
        for position, pending in enumerate(self.run.pending if self.waiting else ()):
            if pending.decision is None:
                self.decide(position, nobody_was_there(pending))


def _model_info(model: Model) -> ModelInfo:
    provider = getattr(model, "provider", None) or type(model).__name__
    return ModelInfo(provider=provider, name=getattr(model, "name", None))
