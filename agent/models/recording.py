"""What a run was, as far as a replay of it is compared with: every message, and what each model call was asked with.

As plain data it stands under ``recorded:`` of a script. A message is kept as a digest and its first words, a request as
the numbers of the messages that it held: ``1-4``, or ``1-2,5-7`` where some were left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agent.asked import asked_in
from agent.cutting import head
from agent.errors import InputError
from agent.messages import Message
from agent.models.likeness import Fingerprint, Pairing, fingerprint, options_of, tools_of, words_of
from agent.models.made_calls import ModelCall, model_calls
from agent.noting import ASKED_UNTIL
from agent.protocol import violations
from agent.request import request_of
from agent.stops import StopReason
from agent.trace import Trace, TraceStep

HEAD = 200
"""Characters that are kept of a message, at most."""
_KINDS: dict[Any, str] = {int: "a number", str: "a text", dict: "a mapping", list: "a list"}
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """One message that a request held."""

    role: str
    chars: int
    """How many characters it says, its calls included."""
    digest: str
    head: str
    """What it says, or the first words of that."""
    reasoning: str = ""
    """Digest of its reasoning; empty where there is none."""

    @property
    def text_is_whole(self) -> bool:
        """Whether ``head`` is all that it says."""
        return len(self.head) == self.chars

    @property
    def fingerprint(self) -> Fingerprint:
        """What it is compared by."""
        return Fingerprint(self.role, self.digest, self.reasoning)

    @classmethod
    def of(cls, message: Message, known: Fingerprint) -> RecordedMessage:
        """What is kept of a message with this fingerprint."""
        words = words_of(message)
        return cls(known.role, len(words), known.digest, head(words, HEAD), known.reasoning)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """What one model call was given."""

    step: int
    """The step that it belongs to, from 1."""
    ranges: tuple[tuple[int, int], ...] = ()
    """Its messages, in order: ranges ``[start, end)`` of the recorded ones, from 0."""
    asked: int = 0
    """What else it was asked with: place in ``Recording.asked``."""

    @property
    def size(self) -> int:
        """How many messages it held."""
        return sum(end - start for start, end in self.ranges)

    def pick(self, items: Sequence[_Item]) -> list[_Item]:
        """Those items that stand for the messages of this request, out of one for each recorded message."""
        return [item for start, end in self.ranges for item in items[start:end]]


@dataclass(frozen=True, slots=True)
class RecordedAsk:
    """What model calls were asked with beside their messages."""

    tools: dict[str, str] | None = None
    """A digest of each tool on offer, by its name; None where that is not known."""
    options: dict[str, Any] | None = None
    """The model, its temperature and so on; None where nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Everything that a replay is compared with."""

    messages: tuple[RecordedMessage, ...] = ()
    """The message list, and after it what requests held besides: messages that were changed or put in."""
    length: int = 0
    """How many of them are the message list."""
    requests: tuple[RecordedRequest | None, ...] = ()
    """One for each model call; None: not known, so not compared."""
    asked: tuple[RecordedAsk, ...] = (RecordedAsk(),)
    reason: str | None = None
    """Why the run ended."""
    final: str = ""
    """Its final answer."""
    trace_id: str = ""
    title: str = ""
    format: str | None = None
    """The format of the file that the trace was read from; None for a run of this program."""

    @property
    def says_how_it_ended(self) -> bool:
        """Whether it names one of our reasons; files of other programs say it in words of their own."""
        return self.reason in set(StopReason)

    @classmethod
    def of(cls, trace: Trace) -> Recording:
        """What a trace holds. Each message is read once.

        A request from elsewhere that breaks the protocol counts as not known: the loop would not send it as it stands.
        """
        pool, asked = _Pool(trace.messages), _Asked(trace)
        odd = trace.source.kind == "import" and bool(violations(trace.messages))
        requests = [_recorded(trace, call, pool, asked, odd) for call in model_calls(trace)]
        return cls(
            messages=tuple(pool.messages),
            length=len(trace.messages),
            requests=tuple(requests),
            asked=tuple(asked.known),
            reason=trace.outcome.reason,
            final=trace.outcome.final,
            trace_id=trace.trace_id,
            title=trace.title,
            format=trace.source.format,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON data for a file: what says nothing is left out, and counts are from 1."""
        about = {"trace": self.trace_id, "title": self.title, "format": self.format}
        outcome = {"reason": self.reason, "final": self.final}
        return {key: value for key, value in about.items() if value} | {
            "length": self.length,
            "messages": [_message_data(message) for message in self.messages],
            "requests": [request and _request_data(request, at) for at, request in enumerate(self.requests)],
            "asked": [_ask_data(ask) for ask in self.asked],
            "outcome": {key: value for key, value in outcome.items() if value},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recording:
        """Read what :meth:`to_dict` wrote.

        Raises:
            InputError: something is missing or has the wrong shape; the text says where.
        """
        messages = _each(data, "messages", _read_message)
        asked = _each(data, "asked", _read_ask) or [RecordedAsk()]
        requests = _each(data, "requests", lambda item, at: _read_request(item, at, len(messages), len(asked)))
        outcome = _typed(data.get("outcome") or {}, dict, "recorded.outcome")
        length = _typed(data.get("length", len(messages)), int, "recorded.length")
        if not 0 <= length <= len(messages):
            raise InputError(f"recorded.length: there are {len(messages)} messages, not {length}")
        return cls(
            messages=tuple(messages),
            length=length,
            requests=tuple(requests),
            asked=tuple(asked),
            reason=outcome.get("reason"),
            final=str(outcome.get("final") or ""),
            trace_id=str(data.get("trace") or ""),
            title=str(data.get("title") or ""),
            format=data.get("format"),
        )


# ---- from a trace ----


class _Pool:
    """The recorded messages, and where each message of a request stands among them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        pairing = Pairing()
        self._places = [pairing.place(message) for message in messages]
        known = list(map(fingerprint, messages, self._places))
        self.messages = list(map(RecordedMessage.of, messages, known))
        self._at = {id(message): at for at, message in enumerate(messages)}
        self._found = {known[at]: at for at in reversed(range(len(known)))}

    def ranges(self, request: Iterable[Message]) -> Iterator[tuple[int, int]]:
        """Where the messages of a request stand that is not simply the beginning of the list."""
        pairing = Pairing()
        start = end = 0
        for message in request:
            at = self._position(message, pairing.place(message))
            if at != end and start < end:
                yield start, end
            if at != end or start == end:
                start = at
            end = at + 1
        if start < end:
            yield start, end

    def _position(self, message: Message, place: str) -> int:
        at = self._at.get(id(message))
        if at is not None and self._places[at] == place:
            return at
        known = fingerprint(message, place)
        if known not in self._found:
            self._found[known] = len(self.messages)
            self.messages.append(RecordedMessage.of(message, known))
        return self._found[known]


class _Asked:
    """What the model calls of a trace were asked with. That changes seldom: each span of steps is read once."""

    def __init__(self, trace: Trace) -> None:
        steps = trace.steps
        self._spans = [at for at, step in enumerate(steps) if ASKED_UNTIL in step.extra]
        starts = [0, *(at + 1 for at in self._spans)]
        self.known = [_ask_of(trace, steps[at] if at < len(steps) else TraceStep(index=at + 1)) for at in starts]

    def at(self, step: int) -> int:
        """The place in ``known`` for a step, counted from 1."""
        return bisect_left(self._spans, step - 1)


def _ask_of(trace: Trace, step: TraceStep) -> RecordedAsk:
    asked = asked_in(trace, step)
    tools = tools_of(asked.tools)
    if not tools and any(message.tool_calls for message in trace.messages):
        return RecordedAsk(None, options_of(asked.form.to_dict()) or None)  # the file does not name them
    return RecordedAsk(tools, options_of(asked.form.to_dict()) or None)


def _recorded(trace: Trace, call: ModelCall, pool: _Pool, asked: _Asked, odd: bool) -> RecordedRequest | None:
    request = call.request
    if request is None:
        return None
    sent = request_of(trace, TraceStep(index=call.step, request=request))
    if odd and violations(sent):
        return None
    whole = ((0, len(sent)),) if sent else ()
    ranges = tuple(pool.ranges(sent)) if request.edits else whole
    return RecordedRequest(call.step, ranges, asked.at(call.step))


# ---- to and from data ----


def _message_data(message: RecordedMessage) -> dict[str, Any]:
    data = {"role": message.role, "chars": message.chars, "digest": message.digest, "head": message.head}
    return {**data, "reasoning": message.reasoning} if message.reasoning else data


def _request_data(request: RecordedRequest, at: int) -> str | dict[str, Any]:
    holds = ",".join(f"{start + 1}-{end}" if end - start > 1 else str(end) for start, end in request.ranges)
    more = ({"step": request.step} if request.step != at + 1 else {}) | (
        {"asked": request.asked + 1} if request.asked else {}
    )
    return {"holds": holds, **more} if more else holds


def _ask_data(ask: RecordedAsk) -> dict[str, Any]:
    data = {"tools": ask.tools, "options": ask.options}
    return {key: value for key, value in data.items() if value is not None}


def _each(data: Mapping[str, Any], key: str, read: Callable[[Any, int], _Item]) -> list[_Item]:
    """Read the items of a list.

    Raises:
        InputError: as ``read`` says it, with the place.
    """
    made = []
    for at, item in enumerate(_typed(data.get(key) or [], list, f"recorded.{key}")):
        try:
            made.append(read(item, at))
        except InputError as error:
            raise InputError(f"recorded.{key}[{at + 1}]: {error}") from None
    return made


def _read_message(item: Any, at: int) -> RecordedMessage:
    given = _typed(item, dict, "a message")
    texts = {name: _typed(given.get(name, ""), str, name) for name in ("role", "digest", "head", "reasoning")}
    return RecordedMessage(chars=_typed(given.get("chars"), int, "chars"), **texts)


def _read_request(item: Any, at: int, messages: int, asked: int) -> RecordedRequest | None:
    if item is None:
        return None
    given = item if isinstance(item, dict) else {"holds": item}
    holds = str(given.get("holds", ""))
    ranges = tuple(_read_range(part, messages) for part in holds.split(",") if part.strip())
    which = _typed(given.get("asked", 1), int, "asked")
    if not 1 <= which <= asked:
        raise InputError(f"asked: there is no entry {which}")
    return RecordedRequest(_typed(given.get("step", at + 1), int, "step"), ranges, which - 1)


def _read_range(text: str, messages: int) -> tuple[int, int]:
    first, _, last = text.partition("-")
    try:
        start, end = int(first) - 1, int(last or first)
    except ValueError:
        raise InputError(f"holds: {text.strip()!r} should be numbers of messages, such as 1-4") from None
    if not 0 <= start < end <= messages:
        raise InputError(f"holds: there are no messages {text.strip()}; the recording has {messages}")
    return start, end


def _read_ask(item: Any, at: int) -> RecordedAsk:
    given = _typed(item, dict, "an entry")
    tools, options = (given.get(name) for name in ("tools", "options"))
    return RecordedAsk(
        None if tools is None else {str(k): str(v) for k, v in _typed(tools, dict, "tools").items()},
        None if options is None else _typed(options, dict, "options"),
    )


def _typed(value: Any, kind: type[_Item], what: str) -> _Item:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{what}: expected {_KINDS[kind]}, found {value!r:.60}")
    return value
