"""What is taken out of a trace before it leaves: a copy without secrets, and where each of them stood.

What a secret is and how it is marked is decided in :mod:`agent.redact`; here the trace before and after is compared, so
that the list tells of everything that was done and of nothing else. The list never holds a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from agent.redact import redact
from agent.trace import Trace

_MARK = re.compile(r"\[redacted: ([^\[\]]*)\]")
_NUMBERED = re.compile(r"(?:messages|entries)\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Removed:
    """One secret that was taken out."""

    message: int | None
    """Number of the message, from 1; None where it stood elsewhere in the trace."""
    where: str
    """The path of keys to it: ``messages[3].tool_calls[0].function.arguments.api_key``."""
    kind: str
    """What the mark in its place says: ``api_key``, ``password``, ``key``."""
    length: int | None
    """Characters that were taken out; None where that cannot be told."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return asdict(self)


def without_secrets(trace: Trace, secrets: Iterable[str] = ()) -> tuple[Trace, list[Removed]]:
    """The trace without secrets, and what was taken out; the same object where there is nothing to take out.

    Args:
        trace: never changed.
        secrets: exact values that must not leave, such as the key in use.
    """
    before = trace.to_dict()
    after = redact(before, secrets)
    if after is before:
        return trace, []
    return Trace.from_dict(after), removed_between(before, after)


def removed_between(before: Any, after: Any) -> list[Removed]:
    """What was taken out of a JSON value on its way through :func:`agent.redact.redact`."""
    return list(_removed(before, after, ""))


def _removed(before: Any, after: Any, path: str) -> Iterator[Removed]:
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for (key, old), (new_key, new) in zip(before.items(), after.items(), strict=False):
            here = f"{path}.{new_key}" if path else str(new_key)
            yield from _in_text(str(key), str(new_key), f"{here} (the key)")
            yield from _removed(old, new, here)
    elif isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        for number, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from _removed(old, new, f"{path}[{number}]")
    elif isinstance(after, str):
        yield from _in_text(before if isinstance(before, str) else str(before), after, path)


def _in_text(before: str, after: str, path: str) -> Iterator[Removed]:
    """The secrets of one text. JSON text was read, cleaned and written again, so it is compared as the JSON it is."""
    if before == after:
        return
    inside = _both_json(before, after)
    if inside is not None:
        yield from _removed(*inside, path)
        return
    pieces = _MARK.split(after)
    yield from (
        Removed(_message_of(path), path, kind, length)
        for kind, length in zip(pieces[1::2], _lengths(before, pieces[::2]), strict=True)
        if length != 0
    )


def _lengths(before: str, kept: list[str]) -> Iterator[int | None]:
    """How much of ``before`` stood in each gap between the texts that were kept; 0 where the mark was there before."""
    place: int | None = len(kept[0]) if before.startswith(kept[0]) else None
    for number, text in enumerate(kept[1:], 2):
        start = place
        if place is not None:
            last = number == len(kept)
            found = len(before) - len(text) if last else before.find(text, place) if text else -1
            place = found + len(text) if found >= place else None
        if place is None or start is None:
            yield None
            continue
        gap = before[start : place - len(text)]
        yield 0 if _MARK.fullmatch(gap) else len(gap)


def _both_json(before: str, after: str) -> tuple[Any, Any] | None:
    if before.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(before), json.loads(after)
    except (ValueError, RecursionError):
        return None


def _message_of(path: str) -> int | None:
    found = _NUMBERED.match(path)
    return int(found[1]) + 1 if found else None
