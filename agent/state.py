"""RunState: everything that a run is, as plain data. To pause is to stop touching it, to resume is to load it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.approval import Decision
from agent.errors import InputError
from agent.events import STATE_OF, AgentState, Phase
from agent.faults import Fault
from agent.messages import Message, ToolCall
from agent.stops import Stop
from agent.tool_result import ToolResult
from agent.trace import Request, ToolRun, Trace, TraceStep

SCHEMA = "agent-snapshot/1"


@dataclass(slots=True, eq=False)
class PendingCall:
    """One call of the reply at hand, from the moment it was asked for until its result is in the message list."""

    call: ToolCall
    name: str | None = None
    """The registered tool that it resolved to; None: no such tool."""
    decision: Decision | None = None
    """None: not decided yet."""
    question: str = ""
    """Why a person is asked; empty when nobody is."""
    begun: bool = False
    """The tool was started. Without a result: outcome unknown."""
    before: Decision | None = None
    """What had been decided, where the outcome became unknown after it."""
    result: ToolResult | None = None
    started: str | None = None
    finished: str | None = None
    """Wall-clock times of the tool."""
    result_id: str | None = None
    """The id that an injected fault gives to the tool message; None: the call's own."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {
            "call": self.call.to_dict(),
            "name": self.name,
            "decision": self.decision and self.decision.to_dict(),
            "question": self.question,
            "begun": self.begun,
            "before": self.before and self.before.to_dict(),
            "result": self.result and {name: getattr(self.result, name) for name in _RESULT},
            "started": self.started,
            "finished": self.finished,
            "result_id": self.result_id,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PendingCall:
        """Read what :meth:`to_dict` wrote."""
        decision, before, result = data.get("decision"), data.get("before"), data.get("result")
        return cls(
            call=ToolCall.from_dict(data["call"]),
            name=data.get("name"),
            decision=Decision.from_dict(decision) if decision else None,
            question=data.get("question") or "",
            begun=bool(data.get("begun")),
            before=Decision.from_dict(before) if before else None,
            result=ToolResult(result["text"], **result) if result else None,
            started=data.get("started"),
            finished=data.get("finished"),
            result_id=data.get("result_id"),
        )


_RESULT = ("text", "ok", "retryable", "latency_ms", "timed_out")
"""What is kept of a result: the text is what goes into the message list, the value was for events alone."""


@dataclass(slots=True)
class ContextState:
    """What the context budget has done so far. It only grows, so that the start of the prompt stays cacheable."""

    dropped: list[list[int]] = field(default_factory=list)
    """Ranges ``[start, end)`` of the message list that requests no longer hold."""
    summary: str = ""
    """What stands in the system text in place of the summarised messages."""
    scale: float = 1.0
    """How many tokens the provider counts where we estimate one."""
    offset: float = 0.0
    """What the provider counts besides: its template, its own instructions."""
    known: list[int] | None = None
    """Our estimate of the last request and the provider's count of it; None until it reported one."""
    limit: int | None = None
    """A lower limit than the configured one, learnt from a provider that refused a request as too long."""
    refused_step: int = 0
    """The step in which a provider refused a request as too long; a second refusal ends the run."""


@dataclass(slots=True)
class Counters:
    """What limits and stop rules look at, kept up to date so that no rule ever walks the whole history."""

    turn_start: int = 0
    """Steps that earlier turns of this conversation took."""
    task_at: int = 0
    """Position of the user's message that this turn works on."""
    model_calls: int = 0
    """Model calls made, summaries included: the position in a script."""
    active_s: float = 0.0
    """Seconds of work; pauses do not count."""
    tokens: int = 0
    """Tokens of all model calls."""
    tokens_estimated: bool = False
    cost: float | None = None
    signatures: list[str] = field(default_factory=list)
    """Fingerprints of the last steps' calls and outcomes, for the repeat rule."""
    failing: int = 0
    """Steps in a row in which every tool call failed."""
    nudges: int = 0
    rejected: list[str] = field(default_factory=list)
    """Fingerprints of calls that a person rejected: the same call is refused without asking again."""


@dataclass(slots=True)
class RunState:
    """One run between two phases."""

    trace: Trace
    phase: Phase | None = None
    """What the loop does next; None: done (or not started)."""
    request: Request | None = None
    """What the next model call is given; made by prepare, used by call."""
    pending: list[PendingCall] = field(default_factory=list)
    """The calls of the reply at hand."""
    failure: Stop | None = None
    """Why the run must end whatever the rules say: the model call failed, a person stopped it."""
    call_begun: bool = False
    """A model call was started. In a recovered run: its outcome is unknown."""
    counters: Counters = field(default_factory=Counters)
    context: ContextState = field(default_factory=ContextState)
    faults: list[Fault] = field(default_factory=list)
    """What is armed and has not struck yet, one of a kind; what has struck stands in the trace's interventions."""

    @property
    def state(self) -> AgentState:
        """Where the run stands. A reply without calls leads from THINK to DONE."""
        done_thinking = self.phase is Phase.DECIDE and not self.pending
        return AgentState.THINK if done_thinking else STATE_OF[self.phase]

    @property
    def step(self) -> TraceStep:
        """The step at hand."""
        return self.trace.steps[-1]

    @property
    def iteration(self) -> int:
        """Steps of this turn so far; 1 during and after its first model call."""
        return len(self.trace.steps) - self.counters.turn_start

    def arm(self, fault: Fault) -> None:
        """Arm a fault. One of the same kind that was armed before is replaced."""
        self.faults = [*(armed for armed in self.faults if armed.kind != fault.kind), fault]

    @property
    def reply(self) -> Message | None:
        """The assistant message of the step at hand; None when the call gave none."""
        position = self.trace.steps[-1].reply if self.trace.steps else None
        return None if position is None else self.trace.messages[position]

    @property
    def tool_runs(self) -> list[ToolRun]:
        """What was done about the calls of the step at hand."""
        return self.trace.steps[-1].tools if self.trace.steps else []

    def to_dict(self) -> dict[str, Any]:
        """The snapshot: JSON data from which the run goes on in another process."""
        return {"schema": SCHEMA, "trace": self.trace.to_dict(), **self.moving_parts()}

    def moving_parts(self) -> dict[str, Any]:
        """The snapshot without the trace: small, whatever the length of the run."""
        return {
            "phase": self.phase,
            "request": self.request and self.request.to_dict(),
            "pending": [pending.to_dict() for pending in self.pending],
            "failure": self.failure and [self.failure.reason, self.failure.detail],
            "call_begun": self.call_begun,
            "counters": slots(self.counters),
            "context": slots(self.context),
            "faults": [fault.to_dict() for fault in self.faults],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunState:
        """Read a snapshot.

        Raises:
            InputError: it is not one, or it is damaged.
        """
        schema = data.get("schema") if isinstance(data, Mapping) else None
        if schema != SCHEMA:
            raise InputError(f'this is not a snapshot: "schema" should be "{SCHEMA}", found {schema!r}')
        try:
            failure, request, phase = data.get("failure"), data.get("request"), data.get("phase")
            return cls(
                trace=Trace.from_dict(data["trace"]),
                phase=Phase(phase) if phase else None,
                request=Request.from_dict(request) if request else None,
                pending=[PendingCall.from_dict(item) for item in data.get("pending") or ()],
                failure=Stop(*failure) if failure else None,
                call_begun=bool(data.get("call_begun")),
                counters=Counters(**data.get("counters") or {}),
                context=ContextState(**data.get("context") or {}),
                faults=[Fault.from_dict(item) for item in data.get("faults") or ()],
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"the snapshot is damaged: {error}") from error


def slots(value: Any) -> dict[str, Any]:
    """The fields of a slotted dataclass of plain values; the values are shared."""
    return {name: getattr(value, name) for name in value.__slots__}
