"""Pieces of LangChain's answers, as they arrive while a model speaks, put together to whole messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from traces.wire import langchain
from traces.wire.parts import listed, mapping

_KIND = "AIMessageChunk"


def joined(items: Iterable[Any]) -> Iterator[Any]:
    """The same items; neighbouring pieces of one answer as one message."""
    pieces: list[Mapping[str, Any]] = []
    for item in items:
        piece = _piece(item)
        if pieces and (piece is None or piece.get("id") != pieces[0].get("id")):
            yield _whole(pieces)
            pieces = []
        if piece is not None:
            pieces.append(piece)
        else:
            yield item
    if pieces:
        yield _whole(pieces)


def _piece(item: Any) -> Mapping[str, Any] | None:
    """The fields of a piece; None for anything else."""
    found = langchain.fields_of(item)
    return found[1] if found and _KIND in (found[0], found[1].get("type")) else None


def _whole(pieces: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    if len(pieces) == 1:
        return {**pieces[0], "type": "ai"}
    texts, blocks = [], []
    about: dict[str, Any] = {}
    for piece in pieces:
        content = piece.get("content")
        if isinstance(content, str):
            texts.append(content)
        blocks += listed(content)
        about |= {key: value for key, value in mapping(piece.get("response_metadata")).items() if value}
    if blocks and any(texts):
        blocks.append({"type": "text", "text": "".join(texts)})
    return {
        "type": "ai",
        "id": pieces[0].get("id"),
        "content": _glued(blocks) or "".join(texts),
        "tool_calls": _calls(pieces) or [call for piece in pieces for call in listed(piece.get("tool_calls"))],
        "usage_metadata": _usage(pieces),
        "response_metadata": about,
        "additional_kwargs": _extra(pieces),
    }


def _glued(blocks: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Blocks of the same type and index are pieces of one."""
    found: list[dict[str, Any]] = []
    for block in blocks:
        last = found[-1] if found else {}
        if (last.get("type"), last.get("index")) != (block.get("type"), block.get("index")) or not last:
            found.append(dict(block))
            continue
        for key, value in block.items():
            is_text = isinstance(value, str) and isinstance(last.get(key), str) and key not in ("type", "id")
            last[key] = last[key] + value if is_text else value
    return found


def _calls(pieces: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The calls: each piece of one says its index, the first one its id and name."""
    found: dict[str, dict[str, Any]] = {}
    for chunk in (chunk for piece in pieces for chunk in listed(piece.get("tool_call_chunks"))):
        call = found.setdefault(str(chunk.get("index")), {"id": None, "name": None, "args": ""})
        call["id"] = call["id"] or chunk.get("id")
        call["name"] = call["name"] or chunk.get("name")
        args = chunk.get("args")
        call["args"] += args if isinstance(args, str) else ""
    return list(found.values())


def _usage(pieces: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """All pieces together: some providers give the tokens of the prompt with the first, the rest with the last."""
    said = [mapping(piece.get("usage_metadata")) for piece in pieces if piece.get("usage_metadata")]
    total: dict[str, Any] = {}
    for usage in said:
        for key, value in usage.items():
            if isinstance(value, int):
                total[key] = total.get(key, 0) + value
            elif isinstance(value, dict):
                total[key] = {**total.get(key, {}), **{name: count for name, count in value.items() if count}}
    return total or None


def _extra(pieces: list[Mapping[str, Any]]) -> dict[str, Any]:
    thoughts = [mapping(piece.get("additional_kwargs")).get("reasoning_content") for piece in pieces]
    thought = "".join(text for text in thoughts if isinstance(text, str))
    return {"reasoning_content": thought} if thought else {}
