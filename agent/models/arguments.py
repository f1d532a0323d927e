"""The arguments of a tool call, as providers really send them, made into one JSON object or a clear problem."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from agent import jsontext
from agent.messages import read_arguments

_JUNK = re.compile(r'(?:\s|""|<\|[^|<>]*\|>|</?tool_call>|</?s>)*')
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Arguments:
    """What :func:`repair_arguments` made of a provider's ``arguments``."""

    value: dict[str, Any] = field(default_factory=dict)
    """The object; empty where nothing could be read."""
    text: str | None = None
    """The argument string for the history: a JSON object, or with a ``problem`` what came. None: write ``value``."""
    problem: str | None = None
    """Why the arguments cannot be used."""
    repair: str | None = None
    """What was repaired, to be read after "The arguments of add"."""


def repair_arguments(sent: Any) -> Arguments:
    """Read the ``arguments`` of a call.

    Missing, blank and ``null`` mean no arguments. An object instead of a string is taken as it is. Of a complete object
    with something behind it the object is used, provided that what follows is blank, a leaked token of the template, an
    exact repeat or plain words. Two different objects are two calls glued together and are never guessed at.
    """
    if isinstance(sent, Mapping):
        return Arguments(dict(sent), repair="came as an object instead of a string.")
    if sent is not None and not isinstance(sent, str):
        return Arguments(text=jsontext.dumps(sent), problem=read_arguments(jsontext.dumps(sent))[1] or "no JSON object")
    text = sent or ""
    if not text.strip() or text.strip() == "null":
        return Arguments()
    try:
        value, end, strict = _decode(text)
    except (ValueError, RecursionError) as error:
        return Arguments(text=text, problem=f"the arguments are not valid JSON ({error})")
    if not isinstance(value, dict):
        return Arguments(text=text, problem=read_arguments(text)[1] or "the arguments must be a JSON object")
    return _with_rest(text, value, end, strict)


def _decode(text: str) -> tuple[Any, int, bool]:
    """The first JSON value of ``text``, where it ends, and False if it holds line breaks that should be escaped."""
    start = len(text) - len(text.lstrip())
    try:
        return *_strict(text, start), True
    except ValueError:
        return *_lenient(text, start), False


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


_strict = json.JSONDecoder(parse_constant=_refuse).raw_decode
_lenient = json.JSONDecoder(parse_constant=_refuse, strict=False).raw_decode


def _with_rest(text: str, value: dict[str, Any], end: int, strict: bool) -> Arguments:
    kept, rest = text[:end].strip() if strict else None, text[end:].strip()
    came = f"They came as {_short(text)}"
    if not rest:
        repair = None if strict else f"held unescaped control characters. {came}"
        return Arguments(value, kept, repair=repair)
    if _JUNK.fullmatch(rest):
        return Arguments(value, kept, repair=f"were followed by characters that mean nothing. {came}")
    if "{" not in rest and "[" not in rest:
        return Arguments(value, kept, repair=f"were followed by words that were ignored. {came}")
    if _repeats(rest, value):
        return Arguments(value, kept, repair=f"came more than once. {came}")
    return Arguments(text=text, problem=f"the arguments are more than one JSON object: {_short(text)}")


def _repeats(rest: str, value: dict[str, Any]) -> bool:
    while rest:
        try:
            again, end, _ = _decode(rest)
        except (ValueError, RecursionError):
            return False
        if again != value:
            return False
        rest = rest[end:].strip()
    return True


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
