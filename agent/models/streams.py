"""A streamed reply, put together from its pieces into the form of a whole one.

Hosts disagree about everything here: which index belongs to which call, whether a name is repeated or continued, where
usage comes. A piece that could belong to several calls is never guessed at: then no call of the turn is run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent import jsontext
from agent.models.arguments import repair_arguments

Delta = tuple[str, str]
"""``("text" | "reasoning", piece)``: something to show while the reply is still coming."""

MALFORMED = "the pieces of the streamed calls could not be told apart"
_REASONING = ("reasoning_content", "reasoning")
_CALL_KEYS = frozenset(("index", "id", "type", "function"))


@dataclass(slots=True)
class _Call:
    """One tool call that is still being streamed."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether more arguments can come: those so far are not a whole JSON object."""
        text = "".join(self.arguments)
        return not text.strip() or repair_arguments(text).problem is not None

    def to_dict(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": "".join(self.arguments)}
        return {"id": self.id, "type": "function", "function": function, **self.extra}


class StreamedReply:
    """Collects chunks (``chat.completion.chunk``) and gives the reply as one ``chat.completion``.

    Args:
        names: the registered tool names. They settle whether a second piece of a name continues the first.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        self._names = names
        self._text: dict[str, list[str]] = {}
        self._other: dict[str, Any] = {}
        self._calls: list[_Call] = []
        self._by_index: dict[Any, _Call] = {}
        self._usage: Any = None
        self._model: str | None = None
        self._finish_reason: str | None = None
        self.started = False
        """Whether anything of the reply has come: text, reasoning or a piece of a call."""
        self.malformed = False
        """Whether a piece came that could belong to several calls."""

    @property
    def finished(self) -> bool:
        """Whether the provider has said why the reply ended."""
        return self._finish_reason is not None

    def add(self, chunk: Mapping[str, Any]) -> list[Delta]:
        """Take one chunk in; give what it adds to the text that people read."""
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
        self._usage = _usage_of(chunk, choice) or self._usage
        if isinstance(model := chunk.get("model"), str) and model:
            self._model = model
        if choice.get("index"):
            return []
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        delta = choice.get("delta")
        return self._add_delta(delta) if isinstance(delta, Mapping) else []

    def to_dict(self) -> dict[str, Any]:
        """The reply as a ``chat.completion`` with one choice."""
        message: dict[str, Any] = {"role": "assistant", "content": None, **self._other}
        message.update((key, "".join(pieces)) for key, pieces in self._text.items())
        if self._calls:
            message["tool_calls"] = [call.to_dict() for call in self._calls]
        choice = {"index": 0, "finish_reason": self._finish_reason, "message": message}
        return {"model": self._model, "choices": [choice], "usage": self._usage}

    def _add_delta(self, delta: Mapping[str, Any]) -> list[Delta]:
        deltas: list[Delta] = []
        for key, value in delta.items():
            if value is None or (value == "" and key != "content"):
                continue
            if key == "content":
                deltas.extend(self._add_content(value))
            elif key == "tool_calls" and isinstance(value, list):
                for piece in value:
                    if isinstance(piece, Mapping):
                        self._add_call(piece)
            elif key == "function_call" and isinstance(value, Mapping):
                self._add_call({"index": "function_call", "function": value})
            elif key in _REASONING and isinstance(value, str):
                self._text.setdefault(key, []).append(value)
                deltas.append(("reasoning", value))
            else:
                self._add_other(key, value)
        if not self.started and (deltas or self._calls):
            self.started = True
        return _without_twins(deltas)

    def _add_content(self, content: Any) -> Iterator[Delta]:
        """Text, or a list of parts, as a few hosts stream it: their texts and thoughts go where the others put them."""
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                self._text.setdefault("content", []).append(part)
                if part:
                    yield "text", part
            elif isinstance(part, Mapping) and isinstance(text := part.get("text"), str):
                yield from self._add_content(text)
            elif isinstance(part, Mapping) and "thinking" in part:
                thought = _part_text(part["thinking"])
                self._text.setdefault("reasoning_content", []).append(thought)
                yield "reasoning", thought

    def _add_other(self, key: str, value: Any) -> None:
        """A key that we do not know: text of a refusal grows, lists grow, anything else is replaced."""
        if key == "refusal" and isinstance(value, str):
            self._text.setdefault(key, []).append(value)
        elif isinstance(value, list) and isinstance(held := self._other.get(key), list):
            self._other[key] = held + value
        elif key != "role":
            self._other[key] = value

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        name, arguments = function.get("name"), function.get("arguments")
        name = name if isinstance(name, str) else ""
        text = jsontext.dumps(arguments) if isinstance(arguments, (Mapping, list)) else str(arguments or "")
        call_id = str(piece.get("id") or "")
        call = self._call_for(piece.get("index"), call_id, name, text)
        if call is None:
            self.malformed = self.malformed or bool(text.strip())
            return
        call.id = call.id or call_id
        call.name = self._joined_name(call.name, name)
        if text:
            call.arguments.append(text)
        call.extra.update((k, v) for k, v in piece.items() if k not in _CALL_KEYS and v is not None)

    def _call_for(self, index: Any, call_id: str, name: str, text: str) -> _Call | None:
        """The call that a piece belongs to, a new one, or None where that cannot be told."""
        call = self._by_index.get(index) if index is not None else None
        if call is None and call_id:
            call = next((c for c in self._calls if c.id == call_id), None)
        if call is not None and not _begins_another(call, call_id, name, text):
            return call
        if call_id or name:
            call = _Call()
            self._calls.append(call)
            if index is not None:
                self._by_index[index] = call
            return call
        still_open = [c for c in self._calls if c.is_open]
        return still_open[0] if len(still_open) == 1 else None

    def _joined_name(self, held: str, piece: str) -> str:
        """A repeat of the name is ignored, a longer form replaces it, a continuation is appended."""
        if not piece or piece == held:
            return held
        if held + piece in self._names or not held:
            return held + piece
        if piece in self._names and piece.startswith(held):
            return piece
        return held if held in self._names else held + piece


def _begins_another(call: _Call, call_id: str, name: str, text: str) -> bool:
    """Whether a piece under the index of ``call`` is a call of its own: hosts exist that number every call 0."""
    if not name:
        return False
    if call_id and call.id:
        return call_id != call.id
    return text.lstrip().startswith("{") and bool(call.arguments) and not call.is_open


def _without_twins(deltas: list[Delta]) -> list[Delta]:
    """Some hosts send each thought under two names; people see it once."""
    thoughts = [delta for delta in deltas if delta[0] == "reasoning"]
    if len(thoughts) < 2:
        return deltas
    return [*dict.fromkeys(thoughts), *(delta for delta in deltas if delta[0] == "text")]


def _part_text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(map(_part_text, value))
    if isinstance(value, Mapping):
        return str(value.get("text") or "")
    return str(value or "")


def _usage_of(chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> Any:
    """The usage of a chunk; Moonshot puts it into the choice and Groq under a key of its own."""
    groq = chunk.get("x_groq")
    return chunk.get("usage") or choice.get("usage") or (groq.get("usage") if isinstance(groq, Mapping) else None)
