"""Parts: what one message of any provider holds, gathered block by block and given out in OpenAI Chat form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Convert = Callable[[Mapping[str, Any]], list[Mapping[str, Any]]]
"""Turns one message of a provider into messages in OpenAI Chat form."""
_IMAGE_HEADS = (("iVBORw0", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp"))
"""How base64 of an image begins, for providers that do not say what kind of image it is."""


class Parts:
    """The content of one message on its way to OpenAI Chat form: text, media, thoughts and calls, in the file's order.

    Blocks that OpenAI Chat has no word for, such as tools that ran at the provider, are content parts too: as they
    are, with their type.
    """

    def __init__(self) -> None:
        self._content: list[dict[str, Any]] = []
        self._thoughts: list[str] = []
        self._hidden: list[str] = []
        self._calls: list[dict[str, Any]] = []

    def __bool__(self) -> bool:
        return bool(self._content or self._thoughts or self._hidden or self._calls)

    @property
    def has_text(self) -> bool:
        """Whether anything was said."""
        return any(part.get("type") == "text" for part in self._content)

    def text(self, text: str, *, glue: bool = False) -> None:
        """Words. Glued, they go on in the part before, as pieces of one text do."""
        last = self._content[-1] if self._content else {}
        if glue and last.get("type") == "text" and isinstance(last.get("text"), str):
            last["text"] += text
        else:
            self._content.append({"type": "text", "text": text})

    def add(self, part: Mapping[str, Any], kind: str = "unknown") -> None:
        """A content part; ``kind`` is the type of one that has none."""
        self._content.append({"type": kind, **part} if not isinstance(part.get("type"), str) else dict(part))

    def thought(self, text: str, *, glue: bool = False) -> None:
        """Reasoning; glued, it goes on in the thought before."""
        if glue and self._thoughts:
            self._thoughts[-1] += text
        elif text:
            self._thoughts.append(text)

    def hidden_thought(self, data: str) -> None:
        """Reasoning that only the provider can read."""
        self._hidden.append(data)

    def call(self, call_id: Any, name: Any, arguments: Any, **extra: Any) -> None:
        """A tool call. Arguments are an object, or text that should hold one."""
        self._calls.append({"id": call_id, "function": {"name": name, "arguments": arguments}, **extra})

    @property
    def content(self) -> str | list[dict[str, Any]] | None:
        """One text as text, anything else as a list of parts; None where there is nothing."""
        if not self._content:
            return None
        if len(self._content) == 1 and self._content[0].keys() == {"type", "text"}:
            return str(self._content[0]["text"])
        return self._content

    def message(self, role: str) -> dict[str, Any]:
        """The message."""
        message: dict[str, Any] = {"role": role, "content": self.content}
        if self._calls:
            message["tool_calls"] = self._calls
        if self._thoughts:
            message["reasoning_content"] = "\n\n".join(self._thoughts)
        if self._hidden:
            message["reasoning_details"] = [{"type": "reasoning.encrypted", "data": data} for data in self._hidden]
        return message


def media(media_type: Any, data: str, name: Any = None) -> dict[str, Any]:
    """An image, a sound or a file as a content part.

    Args:
        media_type: MIME type; guessed from the data where it is no text.
        data: base64.
        name: the file's name.
    """
    kind = media_type if isinstance(media_type, str) and media_type else _image_type(data)
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
    if kind.startswith("audio/"):
        return {"type": "input_audio", "input_audio": {"data": data, "format": kind.removeprefix("audio/")}}
    return file(name, file_data=f"data:{kind};base64,{data}")


def linked(url: Any, media_type: Any = None, name: Any = None) -> dict[str, Any]:
    """An image or a file that stands elsewhere, as a content part."""
    if isinstance(media_type, str) and not media_type.startswith("image/"):
        return file(name, file_url=url)
    return {"type": "image_url", "image_url": {"url": url}}


def file(name: Any = None, **where: Any) -> dict[str, Any]:
    """A file as a content part: ``file_data``, ``file_url`` or ``file_id``."""
    named = {"filename": name} if isinstance(name, str) and name else {}
    return {"type": "file", "file": {**named, **where}}


def _image_type(data: str) -> str:
    """The MIME type of base64 data by its first characters."""
    return next((kind for head, kind in _IMAGE_HEADS if data.startswith(head)), "application/octet-stream")


def with_system(body: Mapping[str, Any], converted: Convert) -> list[Mapping[str, Any]]:
    """The system text of a request, where it stands beside the messages, and the messages, each converted."""
    system = body.get("system")
    first = [{"role": "system", "content": system}] if system else []
    return [made for message in (*first, *listed(body.get("messages"))) for made in converted(message)]


def answer_in(messages: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The assistant message among what a response was converted to; one without content where there is none."""
    found = (message for message in messages if message["role"] == "assistant")
    return next(found, {"role": "assistant", "content": None})


def listed(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; nothing for what is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def kind_of(value: Any) -> str:
    """The ``type`` of an object; ``""`` where there is none."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def words(value: Any) -> str | None:
    """Text that is not empty."""
    return value if isinstance(value, str) and value else None


def count(*values: Any) -> int | None:
    """The sum of those that are counts; None where none is."""
    known = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return sum(known) if known else None
