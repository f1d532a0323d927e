"""The events of an Inspect sample: what each model call and each tool run took.

A model event belongs to the message that it made, by the message's id; logs from before there were ids are matched by
what the message says.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from agent.usage import Usage
from traces.readers.fields import amount, known_usage, milliseconds, moment, text
from traces.readers.inspect_messages import Attachments, message_of
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.parts import count, listed, mapping


@dataclass(frozen=True, slots=True)
class ToolEvent:
    """One run of a tool."""

    call_id: str
    started: str | None
    ended: str | None
    latency_ms: float | None


class Events:
    """The model calls and tool runs of one sample, each given out once."""

    def __init__(self, sample: Mapping[str, Any], attachments: Attachments) -> None:
        events = list(_events(sample.get("events") or mapping(sample.get("transcript")).get("events")))
        self._attachments = attachments
        self._pool = _pool(sample)
        self._models = [event for event in events if event.get("event") == "model" and not event.get("pending")]
        self._by_id: defaultdict[str, deque[Mapping[str, Any]]] = defaultdict(deque)
        """Answers from a cache have the id of the first one; so ids may repeat."""
        self._by_words: defaultdict[tuple[str, ...], deque[Mapping[str, Any]]] = defaultdict(deque)
        for event in self._models:
            made = _made(event)
            if name := text(made.get("id")):
                self._by_id[name].append(event)
            else:
                self._by_words[self._words(made)].append(event)
        self._tools: defaultdict[str, deque[Mapping[str, Any]]] = defaultdict(deque)
        for event in events:
            if event.get("event") == "tool":
                self._tools[text(event.get("id"))].append(event)
        self._given = 0

    @property
    def known(self) -> bool:
        """Whether the sample has model events at all."""
        return bool(self._models)

    @property
    def aside(self) -> int:
        """Model calls that no message was asked for."""
        return len(self._models) - self._given

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools of the first model call that has some, in OpenAI form."""
        offered = next((tools for event in self._models if (tools := listed(event.get("tools")))), [])
        return [{"type": "function", "function": self._attachments.resolved(tool)} for tool in offered]

    def reply_of(self, message: Mapping[str, Any]) -> Reply | None:
        """The numbers of the model call that made this message; None where no event tells."""
        queue = self._by_id.get(text(message.get("id"))) or self._by_words.get(self._words(message))
        if not queue:
            return None
        self._given += 1
        return _reply(queue.popleft())

    def tool_run(self, call_id: str) -> ToolEvent | None:
        """The next run of the call with this id."""
        queue = self._tools.get(call_id)
        if not queue:
            return None
        event = queue.popleft()
        return ToolEvent(call_id, moment(event.get("timestamp")), moment(event.get("completed")), _latency_ms(event))

    def last_conversation(self) -> list[Mapping[str, Any]]:
        """What the last model call was given and what it gave, for samples that keep no messages."""
        if not self._models:
            return []
        event = self._models[-1]
        given = listed(event.get("input")) or [
            message for start, end in _ranges(event.get("input_refs")) for message in self._pool[start:end]
        ]
        made = _made(event)
        return [*given, made] if made else given

    def _words(self, message: Mapping[str, Any]) -> tuple[str, ...]:
        chat, _ = message_of(message, self._attachments)
        calls = [f"{call['id']} {call['function']['name']}" for call in chat.get("tool_calls", ())]
        return (as_text(chat["content"] or ""), *calls)


def _events(found: Any) -> Iterator[Mapping[str, Any]]:
    """All events in order; tools and subtasks of older logs hold theirs inside."""
    waiting = deque(listed(found))
    while waiting:
        event = waiting.popleft()
        yield event
        waiting.extendleft(reversed(listed(event.get("events"))))


def _pool(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Messages that newer logs keep once for all model events."""
    return listed(sample.get("message_pool")) or listed(mapping(sample.get("events_data")).get("messages"))


def _ranges(refs: Any) -> Iterator[tuple[int, int]]:
    for pair in refs if isinstance(refs, list) else ():
        if isinstance(pair, list) and len(pair) == 2:
            start, end = count(pair[0]), count(pair[1])
            if start is not None and end is not None:
                yield start, end


def _made(event: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = listed(mapping(event.get("output")).get("choices"))
    return mapping(choices[0].get("message")) if choices else {}


def _reply(event: Mapping[str, Any]) -> Reply:
    output = mapping(event.get("output"))
    choices, usage = listed(output.get("choices")), output.get("usage")
    started, ended = moment(event.get("timestamp")), moment(event.get("completed"))
    latency_ms = _latency_ms(event) if ended else _ms(output.get("time"))
    return Reply(
        usage=usage_of(usage),
        finish_reason=text(choices[0].get("stop_reason")) or None if choices else None,
        model=text(output.get("model")) or None,
        started=None if latency_ms is None else started,
        at=ended or (started if latency_ms is None else None),
        latency_ms=latency_ms,
        cost=amount(mapping(usage).get("total_cost")),
    )


def _latency_ms(event: Mapping[str, Any]) -> float | None:
    spent = milliseconds(event.get("timestamp"), event.get("completed"))
    return spent if spent is not None else _ms(event.get("working_time"))


def _ms(seconds: Any) -> float | None:
    known = amount(seconds)
    return None if known is None else round(known * 1000, 3)


def usage_of(value: Any) -> Usage | None:
    """Inspect's ``ModelUsage`` by our rules: cached tokens inside the prompt, reasoning inside the completion.

    Logs differ in whether the input holds what the cache gave, and the output the reasoning: the total decides. Without
    a total, the documentation does: cached tokens stand beside the input.
    """
    data = mapping(value)
    sent, made, whole = (count(data.get(f"{key}_tokens")) for key in ("input", "output", "total"))
    read, written = count(data.get("input_tokens_cache_read")), count(data.get("input_tokens_cache_write"))
    thought = count(data.get("reasoning_tokens"))
    beside, extra = (read or 0) + (written or 0), thought or 0
    if whole is not None:
        fits = (
            (add_cache, add_thought)
            for add_thought, add_cache in product((False, True), (False, True))
            if (sent or 0) + (made or 0) + beside * add_cache + extra * add_thought == whole
        )
        add_cache, add_thought = next(fits, (beside > (sent or 0), False))
    else:
        add_cache, add_thought = True, False
    return known_usage(
        {
            "prompt_tokens": None if sent is None else sent + beside * add_cache,
            "completion_tokens": None if made is None else made + extra * add_thought,
            "total_tokens": whole,
            "cached_tokens": read,
            "cache_write_tokens": written,
            "reasoning_tokens": thought,
        }
    )
