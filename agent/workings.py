"""What the six phases lean on: events, the model call's control, tools that begin, how a call fails and a run ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from agent import clock, noting, tokens
from agent.acting import act
from agent.approval import Decision
from agent.asking import Asker
from agent.breaking import ProviderFault
from agent.closing import conclude
from agent.context import ContextWindow
from agent.errors import AgentError, ModelError
from agent.events import AgentEvent, Phase
from agent.evidence import Check
from agent.interventions import hidden_tools
from agent.journal import Journal
from agent.messages import Message
from agent.models.base import CallControl, ModelReply
from agent.models.replies import visible_text
from agent.outgoing import Outgoing
from agent.request import MessageView, PromptSizes
from agent.settings import Settings
from agent.speaking import User
from agent.state import PendingCall, RunState
from agent.stops import ANSWERED, Stop, StopReason, over_budget, rules_under, stop_for
from agent.striking import Striker
from agent.tool_result import ToolResult
from agent.tools import RunContext, ToolRegistry
from agent.trace import TraceStep


class Workings:
    """One run, and what moves it. Everything that must survive is in ``run``; the rest is made anew on a resume."""

    run: RunState
    tools: ToolRegistry
    """Those on offer: without what an intervention hides."""

    def __init__(
        self,
        asker: Asker,
        tools: ToolRegistry,
        settings: Settings,
        evidence: Sequence[Check],
        on_event: Callable[[AgentEvent], None] | None,
        journal: Journal,
        user: User | None,
    ) -> None:
        self.settings = settings
        self.evidence = tuple(evidence)
        self.on_event = on_event
        self._asker = asker
        self._tools = tools
        self._journal = journal
        self._user = user
        self._stop = threading.Event()
        self._moving = threading.Lock()
        self._events: list[AgentEvent] = []
        self._started: list[AgentEvent] = []
        self._listener_error: BaseException | None = None
        self._fresh = True
        self._logged = 0

    def _adopt(self, run: RunState) -> None:
        """Take a run over, with the model, the tools and the settings as they are now."""
        self.run = run
        trace, settings = run.trace, self.settings
        self.tools = self._tools.without(hidden_tools(settings.interventions))
        before = noting.asked_now(trace)
        trace.config = {**settings.to_config(), **self._asker.asked()}
        trace.tools = self.tools.schemas()
        noting.note_asked(trace, before)
        happened = [item for item in trace.interventions if item.get("step") is not None]
        trace.interventions = [item.to_dict() for item in settings.interventions] + happened
        budget = settings.context
        window = ContextWindow(budget, run.context, tokens.count_schemas(trace.tools)) if budget else None
        self._outgoing = Outgoing(window, settings.interventions)
        self._sizes = PromptSizes(trace)
        self._needs_tokens = settings.limits.total_tokens is not None
        self._rules = rules_under(settings.limits)
        self._fresh = True

    def next_step(self) -> TraceStep | None:
        """The step whose model call comes next, with the request that is ready, or that prepare would make now.

        Nothing changes, and no summary is asked for. None where another phase comes before the next prepare.

        Raises:
            AgentError: there can be no such request; prepare will end the run.
        """
        run = self.run
        if run.phase not in (Phase.PREPARE, Phase.CALL):
            return None
        ready = run.request if run.phase is Phase.CALL else None
        request = ready or self._outgoing.preview(run.trace.messages, run.counters.task_at)
        return TraceStep(index=noting.step_number(run), request=request)

    def prompt_tokens(self) -> int:
        """About how many prompt tokens the request at hand takes, the tools on offer included; 0 where there is none.

        Where a provider counted an earlier request, only what differs from that one is estimated.
        """
        return self._sizes.about(self.run.request) if self.run.request else 0

    # ---- telling ----

    def _emit(self, type: str, /, **payload: object) -> None:
        """Tell an event. A listener that fails does not stop the phase half-way: its error is raised after it."""
        event = AgentEvent(type, payload)
        self._events.append(event)
        if self.on_event:
            try:
                self.on_event(event)
            except BaseException as error:
                self._listener_error = self._listener_error or error

    def _tell(self, type: str, payload: dict[str, object]) -> None:
        self._emit(type, **payload)

    def _log_step(self, state: str) -> None:
        """Log the step that just ended, once."""
        if noting.wants_log() and self.run.iteration and self._logged < self.run.step.index:
            self._logged = self.run.step.index
            noting.log_step(self.run, state)

    # ---- faults ----

    def _strike(self, phase: Phase) -> None:
        """Let the armed faults strike that change something before this phase begins: a setting, an id."""
        settings = Striker(self.run, self._journal).before(phase, self.settings)
        if settings is not self.settings:
            self.settings = settings
            self._adopt(self.run)

    # ---- the model call ----

    def _left_s(self) -> float | None:
        limit = self.settings.limits.deadline_s
        return None if limit is None else max(0.0, limit - self.run.counters.active_s)

    def _control(self) -> CallControl:
        left = self._left_s()
        deadline = None if left is None else clock.monotonic() + left
        return CallControl(self.run.counters.model_calls, self._tell, self._stop, deadline)

    def _ask(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> tuple[ModelReply, float]:
        """One model call: the reply, and its milliseconds. An armed fault may come before it, or change the reply."""
        if self.run.faults:
            ask = partial(self._asker.ask, messages, schemas)
            return Striker(self.run, self._journal).ask(ask, self._control(), self.tools)
        return self._asker.ask(messages, schemas, self._control())

    def _spent(self) -> Stop | None:
        """Before the first request of a turn, or after going on: a budget that is used up already."""
        self._fresh = False
        return None if noting.goes_on_with_step(self.run) else over_budget(self.run, self.settings)

    def _summarise(self, messages: list[Message]) -> str:
        """The separate model call behind a summary: no step, but it counts in the budgets and stands in the notes."""
        reply, latency_ms = self._asker.ask(messages, [], self._control())
        self.run.counters.model_calls += 1
        noting.count_usage(self.run, reply.usage, reply.cost)
        text = visible_text(reply.message)
        noting.note_summary(self.run, text, reply, latency_ms)
        return text

    def _sent(self) -> MessageView:
        """The part of the message list that the request at hand was made of."""
        request = self.run.request
        return MessageView(self.run.trace.messages, request.upto if request else 0)

    def _note_reply(self, reply: ModelReply) -> None:
        """What a reply means for the rest of the run, beside its message."""
        window = self._outgoing.window
        if window and reply.usage and not noting.truncation_warning(self.run):
            window.learn(self._sent(), reply.usage.prompt_tokens)
        if reply.stop:
            self.run.failure = Stop(StopReason(reply.stop), "; ".join(reply.warnings))

    def _fail(self, error: AgentError, begun: float | None = None) -> Phase:
        """A model call, begun then, or its preparation failed: the run ends, unless a shorter request may help."""
        run, window = self.run, self._outgoing.window
        left, spent_s = self._left_s(), 0.0 if begun is None else clock.monotonic() - begun
        stop = stop_for(error, out_of_time=left is not None and left <= spent_s)
        if begun is not None:
            answered = stop.reason in ANSWERED and not isinstance(error, ProviderFault)
            noting.record_failure(run, error, spent_s * 1000, answered=answered)
        too_long = begun is not None and isinstance(error, ModelError) and error.kind == "context_overflow"
        retry = too_long and window is not None and window.refused(run.step.index, self._sent())
        run.failure = None if retry else stop
        if retry:
            noting.note_refusal(run)
        elif begun is None:
            noting.note_no_request(run, stop)
        following = Phase.PREPARE if retry else Phase.DECIDE
        if begun is not None:
            self._journal.failed(run, following)
        return following

    # ---- tools ----

    def _act(self, calls: list[PendingCall]) -> Iterator[tuple[int, ToolResult]]:
        """Run what was approved and answer the rest; each result as it comes."""
        own = self.settings
        striker = Striker(self.run, self._journal) if self.run.faults else None
        results = act(
            calls,
            self.tools,
            own.policy,
            self._context_of,
            self._begin_tool,
            parallel=own.parallel,
            stop=self._stop,
            deadline_s=self._left_s(),
            change=striker.replace_tools if striker else None,
        )
        return striker.watch(results) if striker else results

    def _context_of(self, pending: PendingCall) -> RunContext:
        """What a tool that asks for it is told about the run."""
        run = self.run
        earlier = partial(noting.calls_before, run, pending)
        asked_by = run.counters.model_calls - 1
        return RunContext(run.trace.trace_id, run.step.index, pending.call.id, self._tell, asked_by, earlier)

    def _begin_tool(self, position: int) -> None:
        """Note that a tool is about to run, so that after a crash its outcome is known to be unknown."""
        pending = self.run.pending[position]
        pending.begun, pending.started = True, clock.now()
        self._journal.begin_tool(position)
        self._emit("tool.started", id=pending.call.id, name=pending.call.name)

    def _tell_result(self, pending: PendingCall, result: ToolResult) -> None:
        """The event of a call that has its answer: from the tool, or from who kept it from running."""
        call, decision = pending.call, pending.decision
        if pending.begun:
            self._emit("tool.completed", id=call.id, name=call.name, result=result.value)
        elif decision and decision.kind == "mocked":
            self._emit("tool.mocked", id=call.id, name=call.name, result=result.value)
        else:
            reason = (decision.reason or decision.kind) if decision else "not run"
            self._emit("tool.denied", id=call.id, name=call.name, reason=reason)

    # ---- what comes from outside ----

    def _begin(self, messages: Sequence[Message]) -> None:
        """Begin the next turn. What was open of the one before is closed before this."""
        noting.begin_turn(self.run, messages)
        self.run.trace.tools = self.tools.schemas()
        self._stop.clear()
        self._fresh = True
        self._emit("turn.started", text=next((m.text for m in messages if m.role == "user"), ""))

    def _next_words(self) -> Sequence[Message] | None:
        """With what the user goes on after the end of a turn; None where there is nothing more to say.

        A turn that ended before the model was asked, for a budget was used up, would end so for ever. A stop that came
        too late for the turn at hand holds for the next.
        """
        run, reason = self.run, self.run.trace.outcome.reason
        if self._user is None or run.phase is not None or not reason or run.iteration == 0 or self._stop.is_set():
            return None
        return self._user.next(noting.turns_begun(run), run.counters.model_calls, StopReason(reason))

    def _next_turn(self) -> list[AgentEvent]:
        """Let the user go on, if there is more to say; gives the events that it caused."""
        messages = self._next_words()
        if messages is not None:
            self._begin(messages)
            self._journal.open(self.run)
        return self._events

    def _hear(self) -> None:
        """Take in what was said while the step went on."""
        messages = self._user.meanwhile(self.run.counters.model_calls) if self._user else ()
        if messages:
            noting.hear(self.run, messages)
            self._journal.heard(messages, self.run.trace.entries[-1].at)

    # ---- the end ----

    def _end(self, stop: Stop) -> Phase | None:
        """End the turn: every call gets its answer, the outcome is written, the last event is told."""
        if self.run.phase is not Phase.DECIDE or self.run.failure not in (None, stop):
            noting.note_detour(self.run, f"the run ended before {self.run.phase}", None)
        self._close_calls()
        self.run.phase = None
        outcome = conclude(self.run, stop, self.evidence)
        self._log_step("DONE")
        if stop.reason is StopReason.FINAL:
            self._emit("turn.completed", answer=outcome.final, iterations=self.run.iteration)
        else:
            self._emit("turn.failed", reason=str(stop.reason))
        return None

    def _close_calls(self) -> None:
        """Answer what is still open, so that the message list can be sent again at any time."""
        if self.run.phase in (Phase.APPROVE, Phase.EXECUTE, Phase.APPEND):
            noting.append_results(self.run, self.settings.context)
        self.run.pending = []

    def _raise_listener_error(self) -> None:
        error, self._listener_error = self._listener_error, None
        if error is not None:
            raise error


def nobody_was_there(pending: PendingCall) -> Decision:
    """What is decided for a call that a person should have been asked about, where there is none."""
    return Decision("denied", "policy", f"{pending.question}, and nobody was there to ask")
