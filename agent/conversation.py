"""A conversation that grows request by request: what each one adds, and what it held otherwise than the list.

A client sends the whole history with every call. A request goes on with the conversation whose newest answer it
repeats. What it leaves out or says differently before that answer is an edit of this request; what comes after it is
new. Any other request begins a conversation of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from agent import jsontext
from agent.events import Maker
from agent.messages import Message
from agent.models.base import ModelReply
from agent.models.replies import read_message, visible_text
from agent.trace import Edit, Entry, Request, ToolRun, Trace, TraceStep, maker_of
from agent.usage import Usage, reported_cost

_ENDINGS = {"stop": "final", "length": "truncated", "content_filter": "refused"}


class Conversation:
    """One trace in the making. :attr:`changed` names the steps that were touched since it was last cleared."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.changed: set[int] = set()
        self._keys: list[str] = []
        self._reply: int | None = None
        """Position of the newest answer."""
        self._open: list[ToolRun] = []
        self._failing: TraceStep | None = None

    def goes_on_with(self, keys: Sequence[str]) -> bool:
        """Whether a request, given by its :func:`keys_of`, begins with all that was said here."""
        return list(keys[: len(self._keys)]) == self._keys

    def goes_on_changed_with(self, keys: Sequence[str]) -> bool:
        """Whether a request repeats the newest answer, and most of what it says before that was said here."""
        if self._reply is None or self._keys[self._reply] not in keys:
            return False
        before = keys[: _last(keys, self._keys[self._reply]) + 1]
        known = set(self._keys)
        return 2 * sum(key in known for key in before) >= len(before)

    def ask(self, request: Sequence[Message], keys: Sequence[str], started: str | None) -> TraceStep:
        """A request was made: take in what is new, and open its step. A repeated one goes on with its failed step."""
        edits, new = self._compared(request, keys)
        for message in new:
            self._add(message, started)
        if self._failing is not None and not new:
            step = self._failing
        else:
            step = self._open_step(started, Request(upto=len(self._keys), edits=edits))
        self._failing = None
        self.changed.add(step.index)
        return step

    def answer(self, step: TraceStep, reply: ModelReply, latency_ms: float | None, at: str | None) -> None:
        """The model answered."""
        step.reply = self._append(reply.message, Maker.MODEL, step.index, at, reply.raw)
        self._reply = step.reply
        step.usage, step.cost, step.finish_reason = reply.usage, reply.cost, reply.finish_reason
        step.latency_ms, step.first_token_ms = latency_ms, reply.first_token_ms
        step.model = reply.model if reply.model != self.trace.model.name else None
        step.warnings += reply.warnings
        self._asked_for(step, reply.message)

    def fail(self, step: TraceStep, error: str, status: int | None, latency_ms: float | None) -> None:
        """The call failed; the next one with the same messages is another attempt."""
        attempt = len(step.retries) + 1
        step.retries.append({"attempt": attempt, "error": error, "wait_s": None, "status": status})
        step.latency_ms = (step.latency_ms or 0) + (latency_ms or 0)
        self._failing = step

    def measured(self, name: str, started: str, latency_ms: float, ok: bool) -> None:
        """A tool of this name ran: the oldest call of it that was not measured yet."""
        for step in self.trace.steps:
            for run in step.tools:
                if run.name == name and run.latency_ms is None:
                    run.started, run.latency_ms, run.ok, run.decision = started, latency_ms, ok, "run"
                    self.changed.add(step.index)
                    return

    def result(self, call_id: str, text: str, latency_ms: float | None, ok: bool | None) -> bool:
        """A call has its result, before the next request says so; False where no call waits for it."""
        run = next((run for run in self._open if run.tool_call_id == call_id), None)
        if run is None:
            return False
        run.latency_ms = run.latency_ms if latency_ms is None else latency_ms
        run.ok = run.ok if ok is None else ok
        self._add(Message("tool", text, tool_call_id=call_id), None)
        return True

    def end(self) -> None:
        """Nothing more comes: say how it ended, as far as that can be told from outside."""
        outcome, last = self.trace.outcome, self.trace.steps[-1] if self.trace.steps else None
        if last is None:
            return
        if last.reply is None and last.retries:
            outcome.reason, outcome.detail = "model_error", str(last.retries.pop()["error"])
        elif last.reply is not None and not last.tools:
            outcome.reason = _ENDINGS.get(last.finish_reason or "")
            text = visible_text(self.trace.messages[last.reply])
            if outcome.reason == "final":
                outcome.final = text
            else:
                outcome.fallback = text

    def _compared(self, request: Sequence[Message], keys: Sequence[str]) -> tuple[list[Edit], Sequence[Message]]:
        """What the request held otherwise than the list, and what of it is new."""
        if self.goes_on_with(keys):
            return [], request[len(self._keys) :]
        last = self._reply or 0
        cut = _last(keys, self._keys[last]) + 1
        edits = _edits(self._keys[: last + 1], keys[:cut], request)
        results = {m.tool_call_id: n for n, m in enumerate(self.trace.messages) if n > last and m.role == "tool"}
        new = []
        for message, key in zip(request[cut:], keys[cut:], strict=True):
            at = results.get(message.tool_call_id) if message.role == "tool" else None
            if at is None:
                new.append(message)
            elif key != self._keys[at]:
                edits.append(Edit(op="replace", message=at, by="client", with_=message.to_dict()))
        return edits, new

    def _add(self, message: Message, at: str | None) -> None:
        """A message of a request that the list does not hold yet."""
        if message.role == "assistant":
            step = self._open_step(None, None)
            step.reply = self._append(message, Maker.MODEL, step.index, None)
            self._reply = step.reply
            self._asked_for(step, message)
            return
        step_index = self.trace.steps[-1].index if message.role == "tool" and self.trace.steps else None
        position = self._append(message, maker_of(message.role), step_index, at)
        if message.role == "user" and not self.trace.task:
            self.trace.task = message.text
        if message.role == "tool":
            self._pair(message.tool_call_id, position)

    def _append(self, message: Message, maker: str, step: int | None, at: str | None, raw: Any = None) -> int:
        self.trace.messages.append(message)
        self.trace.entries.append(Entry(maker=maker, at=at, step=step, raw=raw))
        self._keys.append(_key(message))
        return len(self._keys) - 1

    def _open_step(self, started: str | None, request: Request | None) -> TraceStep:
        step = TraceStep(index=len(self.trace.steps) + 1, started=started, request=request)
        self.trace.steps.append(step)
        self.changed.add(step.index)
        return step

    def _asked_for(self, step: TraceStep, message: Message) -> None:
        step.tools = [
            ToolRun(tool_call_id=call.id, name=call.name, arguments=dict(call.arguments)) for call in message.tool_calls
        ]
        self._open = [*step.tools, *self._open]

    def _pair(self, call_id: str | None, position: int) -> None:
        """The newest call with this id that waits has its result."""
        run = next((run for run in self._open if run.tool_call_id == call_id), None)
        if run is not None:
            run.message, run.decision = position, run.decision or "run"
            self._open.remove(run)
            self.changed |= {step.index for step in self.trace.steps if any(run is own for own in step.tools)}


def read_reply(body: Any) -> ModelReply | None:
    """The first choice of a response of the OpenAI Chat API; None where it holds no message."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    message, reason, model = choice.get("message"), choice.get("finish_reason"), body and body.get("model")
    if not isinstance(message, Mapping):
        return None
    reading = read_message(message, finish_reason=reason)
    return ModelReply(
        reading.message,
        usage=Usage.from_openai(body.get("usage")),
        finish_reason=reason if isinstance(reason, str) else None,
        model=model if isinstance(model, str) else None,
        cost=reported_cost(body.get("usage")),
        raw=reading.raw,
        warnings=reading.warnings,
    )


def keys_of(messages: Sequence[Message]) -> list[str]:
    """For each message a text that is the same whenever a client sends the message again."""
    return [_key(message) for message in messages]


def _key(message: Message) -> str:
    """What of a message stays the same when a client sends it again: clients add and drop empty keys."""
    calls = [[call.id, call.name, call.problem or call.arguments] for call in message.tool_calls]
    return jsontext.canonical([message.role, message.content or "", calls, message.tool_call_id])


def _last(keys: Sequence[str], key: str) -> int:
    return len(keys) - 1 - list(reversed(keys)).index(key)


def _edits(known: Sequence[str], sent: Sequence[str], request: Sequence[Message]) -> list[Edit]:
    """How ``sent`` differs from ``known``, in order: each message is looked for behind the one before."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position, key in enumerate(known):
        places[key].append(position)
    edits: list[Edit] = []
    at = 0
    for number, key in enumerate(sent):
        here = places[key]
        later = bisect_left(here, at)
        if later == len(here):
            edits.append(Edit(op="insert", message=at, by="client", with_=request[number].to_dict()))
            continue
        if here[later] > at:
            edits.append(Edit(op="drop", message=at, by="client", count=here[later] - at))
        at = here[later] + 1
    if at < len(known):
        edits.append(Edit(op="drop", message=at, by="client", count=len(known) - at))
    return edits
