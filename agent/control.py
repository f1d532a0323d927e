"""Everything around the six phases: a run is made, started, stopped, decided about, extended, saved and resumed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from agent import clock, recording, tokens
from agent.acting import act
from agent.approval import Decision
from agent.asking import Asker
from agent.closing import conclude
from agent.context import ContextBudget, ContextWindow
from agent.errors import AgentError, InputError, ModelError
from agent.events import STATE_OF, AgentEvent, AgentState, Maker, Phase
from agent.evidence import Check
from agent.interventions import Intervention
from agent.journal import Journal
from agent.limits import Limits
from agent.messages import Message
from agent.models.base import CallControl, Model, ModelReply
from agent.models.replies import visible_text
from agent.outgoing import Outgoing
from agent.policy import CapabilityPolicy
from agent.request import MessageView
from agent.settings import NO_LIMITS, Settings
from agent.state import PendingCall, RunState
from agent.stops import Stop, StopReason, stop_for
from agent.tool_result import ToolResult
from agent.tools import RunContext, Tool, ToolRegistry
from agent.trace import ModelInfo, Outcome, Trace


class RunControl:
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
        evidence: checks that say at the end whether the task is done.
        parallel: whether the calls of one reply may run at the same time.
        on_event: called with every event as it happens, in the thread that advances the run.
        journal: folder for the journal and the trace file; None keeps the run in memory.
        title: of the trace.
        trace_id: twelve hex digits; None makes a new one.

    Raises:
        ToolDefinitionError: a tool that cannot be offered.
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
        on_event: Callable[[AgentEvent], None] | None = None,
        journal: Path | str | None = None,
        title: str = "",
        trace_id: str | None = None,
    ) -> None:
        self.tools = ToolRegistry.of(tools)
        self.settings = Settings(max_steps, policy, limits or NO_LIMITS, context, tuple(interventions), parallel)
        self.evidence = tuple(evidence)
        self.on_event = on_event
        self._asker = Asker(model)
        self._stop = threading.Event()
        self._events: list[AgentEvent] = []
        self._started: list[AgentEvent] = []
        self._journal = Journal(journal, getattr(model, "secrets", ()))
        trace = Trace(created=clock.now(), title=title, model=_model_info(model), tools=self.tools.schemas())
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
    def phase(self) -> Phase | None:
        """What ``advance()`` does next; None before the first turn and after the last."""
        return self.run.phase

    @property
    def state(self) -> AgentState:
        """THINK, TOOL_CALL, OBSERVE or DONE. A reply without calls leads from THINK to DONE."""
        done_thinking = self.run.phase is Phase.DECIDE and not self.run.pending
        return AgentState.THINK if done_thinking else STATE_OF[self.run.phase]

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

    # ---- what a person or a program may do with it ----

    def start(self, text: str) -> None:
        """Begin a turn with the user's message. A turn that was not over is closed first; its calls get answers."""
        if self.run.phase is not None:
            self._close_calls()
        run, trace = self.run, self.run.trace
        run.failure, run.trace.outcome = None, Outcome()
        run.counters.turn_start = len(trace.steps)
        run.counters.signatures, run.counters.failing, run.counters.nudges = [], 0, 0
        run.counters.task_at = trace.add(Message("user", text), Maker.USER)
        trace.task = trace.task or text
        trace.title = trace.title or text[:60]
        run.phase = Phase.PREPARE
        self._stop.clear()
        self._events = []
        self._emit("turn.started", text=text)
        self._started = self._events
        self._journal.open(run)

    def advance(self) -> list[AgentEvent]:
        """Perform one phase; the loop says how."""
        raise NotImplementedError

    def events(self, text: str) -> Iterator[AgentEvent]:
        """Run a turn to its end, event by event. Where a person would be asked, nobody is there: the call is denied."""
        self.start(text)
        while self.run.phase is not None:
            self._nobody_to_ask()
            yield from self.advance()

    async def aevents(self, text: str) -> AsyncIterator[AgentEvent]:
        """The same for async code; the event loop is never blocked."""
        self.start(text)
        while self.run.phase is not None:
            self._nobody_to_ask()
            for event in await asyncio.to_thread(self.advance):
                yield event

    def finish(self) -> None:
        """Go on to the end of the turn. Where a person would be asked, nobody is there: the call is denied."""
        while self.run.phase is not None:
            self._nobody_to_ask()
            self.advance()

    def stop(self) -> None:
        """End the run as soon as possible, also in the middle of a model call or tool. May come from another thread."""
        self._stop.set()

    def decide(self, position: int, decision: Decision) -> None:
        """A person's word on one call of the reply at hand, by its position from 0."""
        pending = self.run.pending[position]
        pending.decision = decision.about(pending.call)
        recording.note_rejections(self.run)
        self._journal.decided(self.run.pending)

    def extend(self, **changes: Any) -> None:
        """Go on after a stop, with other settings: ``extend(max_steps=16)``, ``extend(limits=...)``.

        Steps, tokens and active time count on; the guards that count repeats and errors begin anew. Whether the run may
        go on is decided at once by the next ``advance()``: a limit that is too low stops it again.

        Raises:
            InputError: an unknown setting.
        """
        try:
            self.settings = replace(self.settings, **changes)
        except TypeError as error:
            raise InputError(f"there is no such setting: {', '.join(changes)}") from error
        run = self.run
        if changes:
            run.trace.notes.append({"kind": "extended", "text": ", ".join(changes), "step": len(run.trace.steps)})
        if run.phase is None and run.trace.steps:
            run.failure, run.trace.outcome = None, Outcome()
            run.counters.signatures, run.counters.failing = [], 0
            run.phase = Phase.PREPARE if run.reply is None else Phase.DECIDE
            self._stop.clear()
        self._adopt(run)
        self._journal.open(run)

    def snapshot(self) -> dict[str, Any]:
        """The run as JSON data: what :meth:`resume` needs in another process."""
        return self.run.to_dict()

    @classmethod
    def resume(
        cls,
        snapshot: Mapping[str, Any],
        *,
        model: Model,
        tools: ToolRegistry | Iterable[Tool | Callable[..., Any]] = (),
        **options: Any,
    ) -> Self:
        """Go on from a snapshot at the same phase. Options as for the constructor; what is not given stays as it was.

        A run that had ended at a limit goes on when the new limits allow it.

        Raises:
            InputError: the snapshot is none, or damaged.
        """
        run = RunState.from_dict(snapshot)
        before = Settings.from_config(run.trace.config)
        kept = {name: getattr(before, name) for name in Settings.__slots__}
        loop = cls(model, tools, **{**kept, **options})
        loop._adopt(run)
        if run.phase is None and loop.settings != before:
            loop.extend()
        else:
            loop._journal.open(run)
        return loop

    # ---- what the phases lean on ----

    def _adopt(self, run: RunState) -> None:
        """Take a run over, with the settings as they are now."""
        self.run = run
        run.trace.config = self.settings.to_config()
        run.trace.interventions = [item.to_dict() for item in self.settings.interventions]
        budget = self.settings.context
        window = ContextWindow(budget, run.context, tokens.count_schemas(run.trace.tools)) if budget else None
        self._outgoing = Outgoing(window, self.settings.interventions)
        self._needs_tokens = self.settings.limits.total_tokens is not None

    def _emit(self, type: str, /, **payload: Any) -> None:
        event = AgentEvent(type, payload)
        self._events.append(event)
        if self.on_event:
            self.on_event(event)

    def _left_s(self) -> float | None:
        limit = self.settings.limits.deadline_s
        return None if limit is None else max(0.0, limit - self.run.counters.active_s)

    def _control(self) -> CallControl:
        left = self._left_s()
        deadline = None if left is None else time.monotonic() + left
        return CallControl(self.run.counters.model_calls, self._tell, self._stop, deadline)

    def _tell(self, type: str, payload: dict[str, Any]) -> None:
        self._emit(type, **payload)

    def _act(self, calls: list[PendingCall]) -> Iterator[tuple[PendingCall, ToolResult]]:
        """Run what was approved and answer the rest; each result as it comes."""
        parallel, stop, deadline_s = self.settings.parallel, self._stop, self._left_s()
        context, begin = self._context_of, self._begin_tool
        return act(calls, self.tools, context, begin, parallel=parallel, stop=stop, deadline_s=deadline_s)

    def _context_of(self, pending: PendingCall) -> RunContext:
        """What a tool that asks for it is told about the run."""
        return RunContext(self.trace.trace_id, self.run.step.index, pending.call.id, self._tell)

    def _begin_tool(self, pending: PendingCall) -> None:
        """Note that a tool is about to run, so that after a crash its outcome is known to be unknown."""
        pending.begun, pending.started = True, clock.now()
        self._journal.begin_tool(self.run.pending.index(pending))
        self._emit("tool.started", id=pending.call.id, name=pending.call.name)

    def _summarise(self, messages: list[Message]) -> str:
        """The separate model call behind a summary: not a step, but it counts in the budgets."""
        reply, _ = self._asker.ask(messages, [], self._control())
        self.run.counters.model_calls += 1
        recording.count_usage(self.run, reply.usage, reply.cost)
        return visible_text(reply.message)

    def _sent(self) -> MessageView:
        """The part of the message list that the request at hand was made of."""
        request = self.run.request
        return MessageView(self.messages, request.upto if request else 0)

    def _note_reply(self, reply: ModelReply) -> None:
        """What a reply means for the rest of the run, beside its message."""
        window = self._outgoing.window
        if window and reply.usage:
            window.learn(self._sent(), reply.usage.prompt_tokens)
        if reply.stop:
            self.run.failure = Stop(StopReason(reply.stop), "; ".join(reply.warnings))

    def _fail(self, error: AgentError, begun: float | None = None) -> Phase:
        """A model call, begun then, or its preparation failed: the run ends, unless a shorter request may help."""
        run, window = self.run, self._outgoing.window
        if begun is not None:
            recording.record_failure(run, error, clock.since_ms(begun))
            self._journal.failed(run)
        too_long = isinstance(error, ModelError) and error.kind == "context_overflow"
        if too_long and window and window.refused(run.step.index, self._sent()):
            return Phase.PREPARE
        run.failure = stop_for(error, out_of_time=self._left_s() == 0)
        return Phase.DECIDE

    def _finish(self, stop: Stop) -> None:
        """End the turn: every call gets its answer, the outcome is written, the last event is told."""
        self._close_calls()
        self.run.phase = None
        outcome = conclude(self.run, stop, self.evidence)
        if stop.reason is StopReason.FINAL:
            self._emit("turn.completed", answer=outcome.final, iterations=self.run.iteration)
        else:
            self._emit("turn.failed", reason=str(stop.reason))

    def _close_calls(self) -> None:
        """Answer what is still open, so that the message list can be sent again at any time."""
        if self.run.phase in (Phase.APPROVE, Phase.EXECUTE, Phase.APPEND):
            recording.append_results(self.run, self.settings.context)
        self.run.pending = []

    def _nobody_to_ask(self) -> None:
        for position, pending in enumerate(self.run.pending if self.waiting else ()):
            if pending.decision is None:
                self.decide(position, Decision("denied", "policy", f"{pending.question}, and nobody was there to ask"))


def _model_info(model: Model) -> ModelInfo:
    provider = getattr(model, "provider", None) or type(model).__name__
    return ModelInfo(provider=provider, name=getattr(model, "name", None))
