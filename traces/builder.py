"""TraceBuilder: the only way in which a foreign reader makes a Trace.

A reader hands over messages in OpenAI Chat form, in file order. The builder repairs what is odd, opens a step for each
assistant message, pairs results with calls, keeps the original of whatever it changed, and counts what it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agent.events import Maker
from agent.messages import ToolCall
from agent.models.replies import visible_text
from agent.trace import Entry, Evidence, ModelInfo, Request, Source, ToolRun, Trace, TraceStep, maker_of
from agent.usage import Usage
from traces import stated
from traces.pairing import OpenCall, OpenCalls, is_error
from traces.repair import TOOL_ROLES, Repaired, as_text, counted, repair_message
from traces.reply import Reply

TITLE_LENGTH = 80
_ENDINGS = {
    "stop": "final",
    "end_turn": "final",
    "length": "truncated",
    "max_tokens": "truncated",
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",
}
"""What a provider's finish reason says about the end of a run, in our words."""
_NUMBERS = ("usage", "finish_reason", "model", "started", "latency_ms", "first_token_ms", "cost")
"""What a reply says about its step, under the same names in both."""
_maker_of = lru_cache(maxsize=64)(maker_of)


class TraceBuilder:
    """One conversation on its way to a :class:`~agent.trace.Trace`."""

    def __init__(
        self, trace_id: str, format: str, title: str, about: Mapping[str, Any], parent: str | None = None
    ) -> None:
        self.repairs: Counter[str] = Counter()
        self._trace = Trace(
            trace_id=trace_id,
            created=None,
            title=title,
            source=Source(kind="import", format=format, parent=parent),
            extra={"imported": dict(about)} if about else {},
        )
        self._calls = OpenCalls()
        self._runs: dict[str, ToolRun] = {}
        """The newest call of each id."""
        self._made_ids = 0
        self._failed: list[Reply] = []
        self._last: TraceStep | None = None

    # -- what readers call ---------------------------------------------------------------------------------------

    @property
    def trace_id(self) -> str:
        """The id of the trace; sub-agents name it as their parent."""
        return self._trace.trace_id

    @property
    def last_position(self) -> int | None:
        """The position of the last message; None before the first."""
        return len(self._trace.messages) - 1 if self._trace.messages else None

    def tool_runs(self, steps: int | None = None) -> list[ToolRun]:
        """The tool calls of all steps so far, or of the last ``steps``, in their order; to look at, not to change."""
        return [run for step in self._trace.steps[-steps if steps else None :] for run in step.tools]

    def model(self, name: Any, provider: Any = None) -> None:
        """The model that was asked, and by whom it was served. The first that is named counts."""
        info: ModelInfo = self._trace.model
        if isinstance(name, str) and name:
            info.name = info.name or name
        if isinstance(provider, str) and provider:
            info.provider = info.provider or provider

    def tools(self, schemas: list[dict[str, Any]]) -> None:
        """The tools on offer, in OpenAI form. Those of later requests are added to those of earlier ones."""
        known = {_tool_name(schema) for schema in self._trace.tools} if schemas else set()
        self._trace.tools += [schema for schema in schemas if _tool_name(schema) not in known]

    def config(self, **values: Any) -> None:
        """Settings of the run. The first value of each counts."""
        self._trace.config = {**values, **self._trace.config}

    def message(
        self,
        data: Mapping[str, Any],
        *,
        at: str | None = None,
        line: int | None = None,
        agent: str | None = None,
        maker: str | None = None,
        raw: Any = None,
        repaired: Repaired | None = None,
    ) -> int:
        """Append a message and give its position.

        Args:
            data: the message in OpenAI Chat form.
            at: its time, ISO 8601.
            line: its line in the file, from 1; ``agent`` is who speaks, in a file of several agents.
            maker: user, model, code or environment, where the role alone says the wrong one.
            raw: the message as the file has it, where turning it into OpenAI Chat form lost something.
            repaired: what :func:`repair_message` made of it, where that is known.
        """
        repaired = repaired or repair_message(data)
        if repaired.repairs:
            self.repairs.update(repaired.repairs)
        message, position = repaired.message, len(self._trace.messages)
        if raw is None and repaired.rewritten:
            raw = dict(data)
        entry = Entry(maker=maker or _maker_of(message.role), at=at, line=line, agent=agent, raw=raw)
        self._trace.messages.append(message)
        self._trace.entries.append(entry)
        if self._trace.created is None:
            self._trace.created = at
        if message.role == "assistant" or message.tool_calls:
            self._open_step(position)
        elif message.role in TOOL_ROLES:
            self._pair(position, repaired, data)
        return position

    def reply(
        self, reply: Reply, *, line: int | None = None, repaired: Repaired | None = None, agent: str | None = None
    ) -> None:
        """What a model call gave, after the messages that it was given: they are all there already."""
        if reply.message is None:
            self._failed.append(reply)
            return
        upto = len(self._trace.messages)
        data = {"role": "assistant", **reply.message}
        position = self.message(data, at=reply.at, line=line, repaired=repaired, agent=agent)
        step = self._last
        if step is None or step.reply != position:
            return
        step.request = Request(upto=upto)
        self.numbers(reply)

    def numbers(self, reply: Reply) -> None:
        """Numbers of the last step's model call. What ``reply`` does not say stays as it is; its message is not used.

        Without a step they are lost: hand over the message first, or call :meth:`bare_step`.
        """
        if self._last is not None:
            self._count(self._last, reply)

    def numbers_of_last(self, replies: Sequence[Reply]) -> None:
        """Numbers of the last messages, a reply for each; those of assistant messages count."""
        first = len(self._trace.messages) - len(replies)
        for step in self._trace.steps[-len(replies) :]:
            if step.reply is not None and step.reply >= first >= 0:
                self._count(step, replies[step.reply - first])

    def bare_step(self, reply: Reply) -> None:
        """A model call of which the file keeps no words, but only numbers."""
        step = TraceStep(index=len(self._trace.steps) + 1, retries=self._take_failures())
        self._calls.new_block()
        self._trace.steps.append(step)
        self._last = step
        self.numbers(reply)

    def bare_tool(self, call_id: str, name: str, arguments: Mapping[str, Any] | None = None) -> None:
        """A tool run of the last step of which the file keeps neither the call nor the result as a message.

        :meth:`tool_run` says more about it. Before any step there is none to belong to, so one is made.
        """
        if self._last is None:
            self.bare_step(Reply())
        run = ToolRun(tool_call_id=call_id, name=name, arguments=dict(arguments or {}), decision="run")
        if self._last is not None:
            self._last.tools.append(run)
        self._runs[call_id] = run

    def tool_run(
        self,
        call_id: str,
        *,
        started: str | None = None,
        latency_ms: float | None = None,
        ok: bool | None = None,
        decision: str | None = None,
    ) -> None:
        """What the file says about running the newest call of this id. What is None stays as it is.

        Args:
            call_id: the id of the call, as in its message.
            started: when it began, ISO 8601; ``latency_ms`` is how long it took.
            ok: False where it failed.
            decision: run, edited, mocked, skipped, rejected, denied or timed_out.
        """
        run = self._runs.get(call_id)
        if run is None:
            return
        run.started = started or run.started
        run.latency_ms = latency_ms if latency_ms is not None else run.latency_ms
        run.ok = ok if ok is not None else run.ok
        run.decision = decision or run.decision

    def shared_result(self, position: int) -> None:
        """The result at this position answers every open call of the last step: some formats keep one text for all."""
        for run in self._last.tools if self._last is not None else ():
            if run.message is None and self._calls.answer(run.tool_call_id, None) is not None:
                run.message, run.decision = position, "run"

    def outcome(
        self,
        reason: str | None = None,
        *,
        final: str | None = None,
        detail: str | None = None,
        checks: Iterable[Evidence] = (),
    ) -> None:
        """How the file says that it ended. What is None is taken from the messages.

        Args:
            reason: a stop reason of ours where one fits, else the file's own word.
            final: the final answer.
            detail: one sentence about the reason.
            checks: scores, rewards and the like: whether the task was done.
        """
        outcome = self._trace.outcome
        outcome.reason = reason or outcome.reason
        outcome.final = final or outcome.final
        outcome.detail = detail or outcome.detail
        outcome.evidence += checks
        known = [evidence.ok for evidence in outcome.evidence if evidence.ok is not None]
        outcome.verified = all(known) if known else None

    def note(self, kind: str, text: str, *, message: int | None = None) -> None:
        """A remark about the trace or one message.

        Args:
            kind: one word: ``compaction``, ``mistake``, ``error``, ...
            text: what it says.
            message: position of the message that it is about.
        """
        note: dict[str, Any] = {"kind": kind, "text": text}
        if message is not None:
            note |= {"message": message, "step": self._trace.entries[message].step}
        self._trace.notes.append(note)

    def reported(
        self, *, usage: Usage | None = None, cost: float | None = None, duration_s: float | None = None
    ) -> None:
        """Totals that the file states for the whole conversation. They stand beside what the steps add up to.

        Args:
            usage: tokens, by our rules.
            cost: US dollars.
            duration_s: seconds from begin to end.
        """
        stated.state(self._trace, usage=usage, cost=cost, duration_s=duration_s)

    def finish(self) -> Trace:
        """The trace."""
        trace = self._trace
        trace.task = self._task()
        trace.title = trace.title or _title(trace.task)
        if self._failed:
            self._end_with_failure()
        else:
            self._read_outcome()
        for sentence in counted(self.repairs):
            trace.notes.append({"kind": "import", "text": f"put right while reading: {sentence}"})
        return trace

    def _task(self) -> str:
        """The first words of a person; a harness may write in the role of the user as well, before or instead."""
        users = [n for n, message in enumerate(self._trace.messages) if message.role == "user"]
        users.sort(key=lambda n: self._trace.entries[n].maker != Maker.USER)
        texts = (self._trace.messages[n].text for n in users)
        return next((text for text in texts if text.strip()), "")

    def _count(self, step: TraceStep, reply: Reply) -> None:
        for name in _NUMBERS:
            if (value := getattr(reply, name)) is not None:
                setattr(step, name, value)
        if reply.model:
            self.model(reply.model)
        if reply.started and self._trace.created is None:
            self._trace.created = reply.started

    # -- steps and pairs -----------------------------------------------------------------------------------------

    def _open_step(self, position: int) -> None:
        trace = self._trace
        step = TraceStep(index=len(trace.steps) + 1, reply=position, retries=self._take_failures())
        before = trace.messages[position - 1] if position else None
        if before is None or before.role != "assistant":
            self._calls.new_block()
        message = trace.messages[position]
        calls = [call if call.id else replace(call, id=self._make_id()) for call in message.tool_calls]
        for place, (call, original) in enumerate(zip(calls, message.tool_calls, strict=True)):
            run = ToolRun(tool_call_id=call.id, name=call.name, arguments=call.arguments, decision="unknown")
            step.tools.append(run)
            self._runs[call.id] = run
            self._calls.add(OpenCall(run, position, place, has_id=bool(original.id)))
        if made := sum(not call.id for call in message.tool_calls):
            self.repairs["a call has no id; one was made up"] += made
            self._keep_original(position)
            self._change(position, tool_calls=tuple(calls))
        trace.entries[position].step = step.index
        trace.steps.append(step)
        self._last = step

    def _pair(self, position: int, repaired: Repaired, data: Mapping[str, Any]) -> None:
        message = repaired.message
        call = self._calls.answer(message.tool_call_id or "", message.name)
        if call is None:
            return
        run = call.run
        run.message, run.decision = position, "run"
        if is_error(message, data):
            run.ok = False
        self._trace.entries[position].step = self._trace.entries[call.message].step
        if message.tool_call_id:
            self._rename_call(call, message.tool_call_id)
        else:
            self.repairs["a result has no call id; it was paired by name or order"] += 1
            self._keep_original(position)
            self._change(position, tool_call_id=run.tool_call_id)

    def _rename_call(self, call: OpenCall, call_id: str) -> None:
        """The result knows an id that the call came without."""
        if call.run.tool_call_id == call_id:
            return
        call.run.tool_call_id = call_id
        self._runs[call_id] = call.run
        calls: list[ToolCall] = list(self._trace.messages[call.message].tool_calls)
        calls[call.place] = replace(calls[call.place], id=call_id)
        self._change(call.message, tool_calls=tuple(calls))

    def _keep_original(self, position: int) -> None:
        entry = self._trace.entries[position]
        if entry.raw is None:
            entry.raw = self._trace.messages[position].to_dict()

    def _change(self, position: int, **fields: Any) -> None:
        self._trace.messages[position] = replace(self._trace.messages[position], **fields)

    def _make_id(self) -> str:
        """Nine letters and digits, the form that every provider takes; the same at every reading of the file."""
        self._made_ids += 1
        return f"call{self._made_ids:05d}"

    # -- how it ended --------------------------------------------------------------------------------------------

    def _take_failures(self) -> list[dict[str, Any]]:
        failed, self._failed = self._failed, []
        return [
            {"attempt": number, "error": reply.error, "wait_s": None, "status": reply.status}
            for number, reply in enumerate(failed, 1)
        ]

    def _end_with_failure(self) -> None:
        trace, reply = self._trace, self._failed[-1]
        self._failed = self._failed[:-1]
        step = TraceStep(index=len(trace.steps) + 1, retries=self._take_failures(), latency_ms=reply.latency_ms)
        step.request, step.usage, step.model = Request(upto=len(trace.messages)), reply.usage, reply.model
        step.warnings = [reply.error or "the call gave no message"]
        trace.steps.append(step)
        self.outcome(trace.outcome.reason or "model_error", detail=trace.outcome.detail or step.warnings[0])

    def _read_outcome(self) -> None:
        """The end as far as the file says it: a reason only where the last model call has a finish reason."""
        trace, step = self._trace, self._last
        if step is None or step.reply is None or step.reply != len(trace.messages) - 1:
            return
        message = trace.messages[step.reply]
        if message.tool_calls:
            return
        outcome = trace.outcome
        outcome.final = outcome.final or visible_text(message)
        outcome.reason = outcome.reason or _ENDINGS.get((step.finish_reason or "").lower())


def _title(task: str) -> str:
    lines = task.strip().splitlines()
    if not lines:
        return ""
    return lines[0] if len(lines[0]) <= TITLE_LENGTH else lines[0][: TITLE_LENGTH - 1] + "…"


def _tool_name(schema: dict[str, Any]) -> str:
    function = schema.get("function")
    return as_text(function.get("name") if isinstance(function, dict) else schema.get("name"))
