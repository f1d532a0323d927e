"""A log of model calls as conversations.

Each request repeats the whole history, so a log holds the same messages many times. A request that goes on where an
earlier one stopped belongs to the same conversation; any other begins a new one, also when both begin alike: a retry
with a changed history is another run.

Clients rewrite their history a little before they send it again: they give ids to calls that came without, replace
``null`` by ``""``, split an assistant message in two or join its parts, or put reasoning back as ``<think>``. None of
that makes another conversation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.messages import Message
from agent.models.replies import visible_text
from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.repair import Repaired, as_text, repair_message
from traces.reply import Reply

_LOOKED_BACK = 50
"""How many conversations with the same first words are tried before a new one is begun."""
TRIMMED = "the next request left out some of what was said before"
_SAME_ROLE = {"developer": "system", "function": "tool"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One model call of a log, whatever the provider."""

    messages: Sequence[Mapping[str, Any]]
    """The request's messages in OpenAI Chat form; empty where the log keeps responses only."""
    reply: Reply | None
    """None: the log does not hold the answer."""
    tools: list[dict[str, Any]] = field(default_factory=list)
    model: Any = None
    """The model that was asked."""
    provider: Any = None
    settings: dict[str, Any] = field(default_factory=dict)
    """The other keys of the request: temperature, limits, ..."""
    line: int | None = None
    """Line of the log, from 1."""
    agent: str | None = None
    """Who answered, where agents share a conversation."""


class Conversations:
    """The conversations of one log, growing exchange by exchange."""

    def __init__(self, out: ImportBuilder, *, lossy: bool = False) -> None:
        """Begin.

        Args:
            out: the file that is read.
            lossy: the log keeps what a model was told, but not all of what it said. A request then goes on where
                another one stopped also when assistant messages are missing or different.
        """
        self._out = out
        self._lossy = lossy
        self._by_first_words: defaultdict[str, list[_Conversation]] = defaultdict(list)
        self._all: list[_Conversation] = []
        self._call_ids: set[str] = set()
        """Ids of all calls so far, without those that a client gave to known ones."""
        self._last: tuple[Sequence[Mapping[str, Any]], list[_Unit]] = ((), [])
        """The messages of the last request, and what was made of them."""

    def add(
        self,
        exchange: Exchange,
        *,
        after: TraceBuilder | None = None,
        begin: Callable[[], TraceBuilder] | None = None,
    ) -> TraceBuilder:
        """Add one exchange to the conversation that it continues, or begin one. Gives the trace that it went to.

        Args:
            exchange: the model call.
            after: the conversation that it continues, where it holds new messages only.
            begin: makes the trace of a new conversation; ``out.trace`` by default.
        """
        request = own = self._units(exchange.messages)
        candidates = self._by_first_words[_first_words(request)]
        conversation, known = self._find(candidates, request) if request else (None, 0)
        if after is not None:
            conversation, known = next((each for each in reversed(self._all) if each.trace is after), None), 0
            request = [*(conversation.sent if conversation else ()), *request]
        if conversation is None:
            conversation = _Conversation((begin or self._out.trace)())
            candidates.append(conversation)
            self._all.append(conversation)
        trace = conversation.trace
        trace.model(exchange.model, exchange.provider)
        trace.tools(exchange.tools)
        if exchange.settings:
            trace.config(request=exchange.settings)
        for message, unit in zip(exchange.messages[known:], own[known:], strict=True):
            if not (self._lossy and _repeats_calls(unit, conversation.sent)):
                data = conversation.with_known_id(message)
                trace.message(data, line=exchange.line, repaired=unit.repaired if data is message else None)
        self._call_ids.update(call[0] for unit in own[known:] for call in unit.calls)
        conversation.sent = request
        self._last = exchange.messages, own
        if exchange.reply is not None:
            said = exchange.reply.message
            answer = None if said is None else _unit({"role": "assistant", **said})
            repaired = answer.repaired if answer else None
            trace.reply(exchange.reply, line=exchange.line, repaired=repaired, agent=exchange.agent)
            if answer is not None:
                self._call_ids.update(call[0] for call in answer.calls)
                conversation.sent = [*request, answer]
            for sentence in exchange.reply.unread:
                self._out.unread(sentence)
        return trace

    def handed_over(self, messages: Sequence[Mapping[str, Any]]) -> tuple[TraceBuilder, list[Mapping[str, Any]]] | None:
        """``(conversation, new messages)`` where a request goes on with one under other instructions; else None.

        Another agent was handed it: it is told all that was said, but not what the first agent was instructed.
        """
        units = zip(self._units(messages), messages, strict=True)
        spoken = [(unit, message) for unit, message in units if unit.role != "system"]
        for conversation in reversed(self._all[-_LOOKED_BACK:]):
            sent = [unit for unit in conversation.sent if unit.role != "system"]
            if any(unit.role == "assistant" for unit in sent):
                known = _goes_on(sent, [unit for unit, _ in spoken])
                if known is not None:
                    return conversation.trace, [message for _, message in spoken[known:]]
        return None

    def _units(self, messages: Sequence[Mapping[str, Any]]) -> list[_Unit]:
        """What of each message counts. What the last request said already is not looked at again."""
        before, known = self._last
        count = len(before)
        if not count or len(messages) < count or list(messages[:count]) != list(before):
            known, count = [], 0
        return [*known, *(_unit(message) for message in messages[count:])]

    def _find(self, candidates: list[_Conversation], request: list[_Unit]) -> tuple[_Conversation | None, int]:
        for compare in (_goes_on, _goes_on_renamed, _goes_on_lossy) if self._lossy else (_goes_on, _goes_on_renamed):
            for conversation in reversed(candidates[-_LOOKED_BACK:]):
                known = compare(conversation.sent, request)
                if known is not None and (
                    compare is not _goes_on_renamed or self._rename(conversation, request[:known])
                ):
                    return conversation, known
        for conversation in reversed(self._all[-_LOOKED_BACK:]):
            known = _goes_on_trimmed(conversation.sent, request)
            if known is not None:
                conversation.trace.note("compaction", TRIMMED, message=conversation.trace.last_position)
                return conversation, known
        return None, 0

    def _rename(self, conversation: _Conversation, repeated: list[_Unit]) -> bool:
        """Learn the ids that the client gave to the calls; False where one of them is that of another run's call."""
        renamed = _renamed(conversation.sent, repeated)
        if any(new in self._call_ids and new not in conversation.renamed for new in renamed):
            return False
        conversation.renamed |= renamed
        return True


@dataclass(slots=True)
class _Conversation:
    trace: TraceBuilder
    sent: list[_Unit] = field(default_factory=list)
    """What the last request held, and its answer."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Ids that the client gave to calls -> those that they have in the answers."""

    def with_known_id(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """A result under the id that its call has here."""
        call_id = message.get("tool_call_id")
        known = self.renamed.get(call_id) if isinstance(call_id, str) else None
        return message if known is None else {**message, "tool_call_id": known}


@dataclass(frozen=True, slots=True)
class _Unit:
    """What of a message must stay the same when a client sends it again."""

    role: str
    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    """``(id, name, arguments)``."""
    repaired: Repaired | None = field(default=None, compare=False, repr=False)
    """The message, as it is kept where it is new."""

    @property
    def empty(self) -> bool:
        return self.role == "assistant" and not self.text and not self.calls

    def __add__(self, other: _Unit) -> _Unit:
        return _Unit(self.role, (self.text + other.text).strip(), self.calls + other.calls)

    def same(self, other: _Unit, *, ids: bool) -> bool:
        if (self.role, self.text) != (other.role, other.text) or len(self.calls) != len(other.calls):
            return False
        return all(
            mine[1:] == theirs[1:] and (not ids or mine[0] == theirs[0] or not mine[0] or not theirs[0])
            for mine, theirs in zip(self.calls, other.calls, strict=True)
        )


def _unit(data: Mapping[str, Any]) -> _Unit:
    repaired = repair_message(data)
    message = repaired.message
    calls = tuple((call.id, call.name, _arguments(call.problem or call.arguments)) for call in message.tool_calls)
    text = _text(message) if message.role != "assistant" else _answer_text(message)
    return _Unit(_SAME_ROLE.get(message.role, message.role), text, calls, repaired)


def _text(message: Message) -> str:
    if not isinstance(message.content, list):
        return visible_text(message)
    texts = (_part_text(part, message.role) for part in message.content)
    return "\n".join(text for text in texts if text is not None).strip()


def _answer_text(message: Message) -> str:
    """What an answer says, without spaces: another provider is sent its parts joined, and thoughts in tags anywhere."""
    text = _text(message)
    for tag in ("think", "thinking"):
        text = _without(f"<{tag}>", f"</{tag}>", text)
    return "".join(text.split())


def _without(opening: str, closing: str, text: str) -> str:
    """The text without what stands between the tags. A tag that is never closed is text."""
    kept, place = [], 0
    while (start := text.find(opening, place)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[place:start])
        place = end + len(closing)
    return "".join(kept) + text[place:]


def _part_text(part: Any, role: str) -> str | None:
    """Of an answer the texts alone count: clients leave out the output of tools that ran at the provider."""
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    return None if role == "assistant" else as_text(part)


def _arguments(value: Any) -> str:
    try:
        return repr(sorted(value.items())) if isinstance(value, dict) else str(value)
    except (RecursionError, TypeError, ValueError):
        return as_text(value)


def _first_words(request: list[_Unit]) -> str:
    return next((unit.text for unit in request if unit.role != "system"), "")


def _goes_on(sent: list[_Unit], request: list[_Unit], *, ids: bool = True) -> int | None:
    """How many messages of ``request`` repeat ``sent``; None where it does not begin with all of it."""
    position = 0
    for unit in sent:
        if unit.empty:
            continue
        after = _after(unit, request, position, ids=ids)
        if after is None:
            return None
        position = after
        while position < len(request) and request[position].empty:
            position += 1
    return position


def _goes_on_renamed(sent: list[_Unit], request: list[_Unit]) -> int | None:
    """The same where the client gave ids of its own to the calls. One that kept them is looked for first."""
    return _goes_on(sent, request, ids=False)


def _renamed(sent: list[_Unit], repeated: list[_Unit]) -> dict[str, str]:
    """The ids of calls in ``repeated`` -> those of the same calls in ``sent``, where they differ."""
    mine, theirs = ([call[0] for unit in units for call in unit.calls] for units in (sent, repeated))
    return {new: old for old, new in zip(mine, theirs, strict=False) if old and new and old != new}


def _goes_on_lossy(sent: list[_Unit], request: list[_Unit]) -> int | None:
    """The same, compared by everything but assistant messages; something must have been said to the model since."""
    position = 0
    for unit in (unit for unit in sent if unit.role != "assistant"):
        while position < len(request) and request[position].role == "assistant":
            position += 1
        if position >= len(request) or not _alike(unit, request[position]):
            return None
        position += 1
    while position < len(request) and request[position].role == "assistant":
        position += 1
    return position if position < len(request) else None


def _goes_on_trimmed(sent: list[_Unit], request: list[_Unit]) -> int | None:
    """The same where the client left out some of what was said, so that the request fits: it holds the last calls.

    Their ids make sure that it is this conversation; before them stands nothing that was not said in it.
    """
    last = sent[-1] if sent else None
    if last is None or not any(call[0] for call in last.calls):
        return None
    place = next((n for n, unit in enumerate(request) if unit.calls == last.calls), None)
    if place is None:
        return None
    earlier = iter(sent[:-1])
    kept = (unit for unit in request[:place] if unit.role != "system")
    return place + 1 if all(any(known.same(unit, ids=True) for known in earlier) for unit in kept) else None


def _repeats_calls(unit: _Unit, sent: list[_Unit]) -> bool:
    """Whether an assistant message holds nothing but calls that were made before, one of several perhaps."""
    if not unit.calls or unit.text:
        return False
    return {call for each in sent for call in each.calls}.issuperset(unit.calls)


def _alike(unit: _Unit, other: _Unit) -> bool:
    """System texts hold the time of day and the like; how they begin is enough."""
    if unit.role == other.role == "system":
        return unit.text[:_SYSTEM_LOOKED_AT] == other.text[:_SYSTEM_LOOKED_AT]
    return (unit.role, unit.text) == (other.role, other.text)


_SYSTEM_LOOKED_AT = 60


def _after(unit: _Unit, request: list[_Unit], position: int, *, ids: bool) -> int | None:
    """The position after the message that says the same as ``unit``, or after several assistant messages that do."""
    found: _Unit | None = None
    while position < len(request) and request[position].role == unit.role:
        found = request[position] if found is None else found + request[position]
        position += 1
        if found is unit or found.same(unit, ids=ids):
            return position
        if unit.role != "assistant" or len(found.text) > len(unit.text) or len(found.calls) > len(unit.calls):
            return None
    return None
