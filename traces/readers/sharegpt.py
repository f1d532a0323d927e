"""ShareGPT: data sets of one conversation a row, with speakers as ``human`` and ``gpt``, in all their boxes.

Source: hiyouga/LLaMA-Factory, ``data/README.md``. There are no call ids: a result answers the calls before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, text
from traces.readers.rewards import reward
from traces.readers.sharegpt_turns import turns_of
from traces.repair import as_text
from traces.wire import openai_chat
from traces.wire.parts import listed, mapping

NAME = "sharegpt"
_LOOKED_AT = 20
_LISTS = ("conversations", "conversation", "messages")
_MEDIA = ("images", "videos", "audios")
_READ = frozenset((*_LISTS, *_MEDIA, "system", "tools", "chosen", "rejected"))
_OWN_ROLES = frozenset(("human", "gpt", "chatgpt", "function_call", "observation"))
"""Roles that no other format has."""


def matches(document: Document) -> bool:
    """Rows with turns of ``from`` and ``value``, with ShareGPT's roles, or with media that stand beside the turns."""
    return any(_is_row(record) for record in document.records[:_LOOKED_AT]) or _is_turns(document.value)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every row; each is a conversation."""
    if _is_turns(document.value):
        _read_row({"conversations": document.value}, out, None)
        return
    for number, record in enumerate(document.records):
        if _is_row(record) or _turns(record) is not None:
            _read_row(record, out, document.line_of(number))
        else:
            out.unread("a row without a conversation")


def _is_row(value: Any) -> bool:
    if isinstance(value, list):
        return _is_turns(value)
    if not isinstance(value, Mapping):
        return False
    turns = _turns(value)
    if turns is None:
        return False
    media = any(isinstance(value.get(key), list) and value[key] for key in _MEDIA)
    return _is_turns(turns) or (bool(turns) and media)


def _turns(row: Any) -> list[Any] | None:
    if isinstance(row, list):
        return row
    found = (row.get(key) for key in _LISTS) if isinstance(row, Mapping) else ()
    return next((turns for turns in found if isinstance(turns, list)), None)


def _is_turns(value: Any) -> bool:
    """Whether a list holds turns in a form that only ShareGPT has."""
    for turn in listed(value)[:_LOOKED_AT]:
        if isinstance(turn.get("from"), str) and "value" in turn:
            return True
        if "content" in turn and (text(turn.get("role")) in _OWN_ROLES or _has_values(turn["content"])):
            return True
    return False


def _has_values(content: Any) -> bool:
    return any("value" in part and isinstance(part.get("type"), str) for part in listed(content))


# -- one row -------------------------------------------------------------------------------------------------------


def _read_row(row: Any, out: ImportBuilder, line: int | None) -> None:
    data = mapping(row)
    about = {key: value for key, value in data.items() if key not in _READ}
    trace = out.trace(_title(data), about)
    trace.model(data.get("model"))
    trace.tools(openai_chat.tools_of(data))
    if system := text(data.get("system")):
        trace.message({"role": "system", "content": system}, line=line)
    pictures = _Pictures(data)
    for turn in _turns(row) or ():
        if isinstance(turn, Mapping):
            _read_turn(turn, trace, pictures, out, line)
        else:
            out.unread("an entry of a conversation that is no turn")
    _preference(data, trace, pictures, out, line)
    if amount(data.get("reward")) is not None:
        trace.outcome(checks=[reward(data["reward"])])


def _title(row: Mapping[str, Any]) -> str:
    return next((as_text(row[key]) for key in ("title", "id", "conversation_id") if row.get(key)), "")


def _read_turn(
    turn: Mapping[str, Any], trace: TraceBuilder, pictures: _Pictures, out: ImportBuilder, line: int | None
) -> None:
    for message in turns_of(turn):
        position = trace.message(
            {**message.data, "content": pictures.placed(message.data.get("content"))},
            line=line,
            raw=dict(turn) if message.changed else None,
        )
        if message.for_all:
            trace.shared_result(position)
        for kind in message.unknown:
            out.unread(f"a content part of the type {kind}")


def _preference(
    row: Mapping[str, Any], trace: TraceBuilder, pictures: _Pictures, out: ImportBuilder, line: int | None
) -> None:
    """Data sets of preferences keep two last answers: the better one ends the conversation."""
    chosen = row.get("chosen")
    if isinstance(chosen, Mapping) and not _turns(chosen):
        _read_turn(chosen, trace, pictures, out, line)
        if "rejected" in row:
            out.unread("the rejected answer of a pair")


class _Pictures:
    """The media of a row: ``<image>`` in the text stands for the next one. The files themselves are elsewhere."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._left = {f"<{key[:-1]}>": iter(_places(row.get(key))) for key in _MEDIA}

    def placed(self, content: Any) -> Any:
        """Text with each placeholder made a content part; text without one, and parts, as they are."""
        if not isinstance(content, str) or not any(mark in content for mark in self._left):
            return content
        parts: list[dict[str, Any]] = []
        rest = content
        while found := min((mark for mark in self._left if mark in rest), key=rest.index, default=None):
            before, _, rest = rest.partition(found)
            if before.strip():
                parts.append({"type": "text", "text": before})
            parts.append(self._next(found))
        return [*parts, {"type": "text", "text": rest}] if rest.strip() else parts

    def _next(self, mark: str) -> dict[str, Any]:
        place = next(self._left[mark], None)
        if place is None:
            return {"type": "text", "text": mark}
        if mark == "<image>":
            return {"type": "image_url", "image_url": {"url": place}}
        return {"type": "file", "file": {"file_url": place}}


def _places(media: Any) -> Iterator[str]:
    for item in media if isinstance(media, list) else ():
        yield as_text(item.get("path") or item.get("url") or item) if isinstance(item, Mapping) else as_text(item)
