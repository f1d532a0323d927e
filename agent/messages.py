"""Message and ToolCall: the entries of the message list, in the shape of the OpenAI Chat API.

Both are values: they never change after they are made, so a trace, a request and a fork can share them. What we do not
know of a provider's message (reasoning fields, signatures, whatever comes next) is kept in ``extra`` and sent back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent import jsontext

UNREADABLE = "_unreadable_arguments"
"""The key under which arguments that were not a JSON object stay in the history, so that the history is valid JSON."""
PROBLEM = "_problem"
"""The key beside it that says why they could not be read; older files do without."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asked for.

    Two calls are equal when id, name and arguments are; how the provider spelt the argument string does not count.
    """

    id: str
    """Pairs the call with its result; unique within one assistant message."""
    name: str
    """The tool's name in the model's own words. What it resolves to is decided when the call is approved."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments as an object; empty where they could not be read."""
    text: str | None = field(default=None, compare=False)
    """The argument string as the provider sent it; None for a call made here."""
    problem: str | None = field(default=None, compare=False)
    """Why the arguments could not be read. Such a call is answered with an error and never run."""
    extra: dict[str, Any] = field(default_factory=dict, compare=False)
    """Keys of the provider that we do not know (signatures, for instance)."""

    def arguments_text(self) -> str:
        """The arguments as the JSON object that stands in the history and goes over the wire."""
        if self.problem is not None:
            return jsontext.dumps({UNREADABLE: self.text or "", PROBLEM: self.problem})
        return self.text if self.text is not None else jsontext.dumps(self.arguments)

    def to_dict(self) -> dict[str, Any]:
        """The call in OpenAI form: ``{"id", "type": "function", "function": {"name", "arguments"}}``."""
        function = {"name": self.name, "arguments": self.arguments_text()}
        return {"id": self.id, "type": "function", "function": function, **self.extra}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolCall:
        """Read the OpenAI form. Arguments may be a JSON string or an object; anything else becomes a ``problem``."""
        function = data.get("function")
        function = function if isinstance(function, _MAPPING) else {}
        text = function.get("arguments")
        plain = data.keys() <= _CALL_KEYS
        extra = {} if plain else {key: value for key, value in data.items() if key not in _CALL_KEYS}
        call_id, name = str(data.get("id") or ""), str(function.get("name") or "")
        if isinstance(text, _MAPPING):
            return cls(call_id, name, dict(text), extra=extra)
        arguments, problem = read_arguments(text)
        if UNREADABLE in arguments and arguments.keys() <= {UNREADABLE, PROBLEM}:
            text = str(arguments[UNREADABLE])
            problem = arguments.get(PROBLEM) or read_arguments(text)[1] or "the arguments were not a JSON object"
            return cls(call_id, name, {}, text, str(problem), extra)
        kept = None if text is None or not str(text).strip() or text == "null" else str(text)
        return cls(call_id, name, arguments, kept, problem, extra)


_CALL_KEYS = frozenset(("id", "type", "function"))
_MAPPING = (dict, Mapping)
"""What :func:`isinstance` is asked about: a dict is told by the first of them, in a tenth of the time."""
_decoder = json.JSONDecoder()


def read_arguments(text: Any) -> tuple[dict[str, Any], str | None]:
    """Read an argument string: ``(arguments, problem)``.

    Empty, blank, missing and ``null`` all mean "no arguments". What is not one JSON object gives ``({}, why)``.
    """
    if text.__class__ is str and text.startswith("{"):
        try:
            arguments, end = _decoder.raw_decode(text)  # as json.loads does it, without what that does before
            if end == len(text):
                return arguments, None
        except (ValueError, RecursionError):
            pass  # the way below finds it again, and words for it
    if text is None or not str(text).strip():
        return {}, None
    try:
        value = json.loads(str(text))
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not valid JSON ({error})"
    if value is None:
        return {}, None
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, not {_json_type(value)}"
    return value, None


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the message list."""

    role: str
    """system, developer, user, assistant or tool; an imported trace may hold others."""
    content: str | list[Any] | None = None
    """Text, a list of content parts, or None (an assistant turn that only calls tools)."""
    tool_calls: tuple[ToolCall, ...] = ()
    """What an assistant message asks for, in the model's order. Any sequence is accepted and kept as a tuple."""
    tool_call_id: str | None = None
    """On a tool message: the call that it answers."""
    name: str | None = None
    """Who speaks, where a provider says so."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Every other key, kept and sent back: ``reasoning_content``, ``refusal`` and what we do not know."""
    _dict: dict[str, Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.tool_calls.__class__ is not tuple:
            object.__setattr__(self, "tool_calls", tuple(self.tool_calls or ()))

    @property
    def text(self) -> str:
        """The words of the message: its content, or the text parts of it joined by line breaks."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content or ()
        return "\n".join(t for part in parts if (t := _part_text(part)))

    @property
    def reasoning(self) -> str:
        """The reasoning text that a provider sent beside the answer, or ``""``."""
        for key in ("reasoning_content", "reasoning"):
            if isinstance(value := self.extra.get(key), str) and value:
                return value
        return ""

    def to_dict(self) -> dict[str, Any]:
        """The message in OpenAI Chat form; empty fields are left out, a tool-only turn keeps ``content: null``.

        The result is made once and shared: copy it before you change it.
        """
        if self._dict is not None:
            return self._dict
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            data["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            data["name"] = self.name
        if self.extra:
            data.update(self.extra)
        object.__setattr__(self, "_dict", data)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Message:
        """Read OpenAI Chat form. Keys that are present but null, and unknown keys, do no harm."""
        calls = data.get("tool_calls") or ()
        return cls(
            role=str(data.get("role") or ""),
            content=data.get("content"),
            tool_calls=tuple([ToolCall.from_dict(call) for call in calls if isinstance(call, _MAPPING)]),
            tool_call_id=data.get("tool_call_id"),
            name=data.get("name"),
            extra={} if data.keys() <= _KNOWN else {k: v for k, v in data.items() if k not in _KNOWN and v is not None},
        )


_KNOWN = frozenset(("role", "content", "tool_calls", "tool_call_id", "name"))


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        value = part.get("text") or part.get("refusal")
        return value if isinstance(value, str) else ""
    return ""


def _json_type(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "an array"}
    return names.get(type(value), type(value).__name__)
