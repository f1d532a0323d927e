"""Secrets never reach a file: everything that is written goes through :func:`redact` or :func:`redact_text` first.

Three ways to know a secret: by the name of its field or option (``api_key``, ``Authorization``, ``--password x`` in a
command or its list of arguments: :mod:`agent.secret_names`), by its shape (``sk-...``, a JWT, a password in a URL:
:mod:`agent.secret_shapes`), and by its exact value, where the caller holds it. What was taken out is marked in its
place, so that a reader sees that something was there: ``[redacted: api_key]``. The run itself goes on with the real
values.

Every line of a journal passes here, so the common case is a few plain searches that find nothing and give back the same
object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from agent import jsontext
from agent.secret_names import is_placeholder, is_secret_field, mark, mark_of, may_count, words_of
from agent.secret_shapes import hide_shapes, is_secret_option, may_be_item, may_match

_SHORTEST_SECRET = 6
"""An exact value shorter than this is too likely an ordinary word to be looked for."""
_SHORTEST_PIECE = 8
"""Characters of an exact value that must be left at a cut before they are taken for a piece of it."""
_STAND_INS = frozenset(("ollama", "lm-studio", "not-needed", "notneeded", "anything", "no-key", "nokey", "api-key"))
"""What people type where a local server asks for no key; hiding these words would only damage the text."""
_LAYERS = 3
"""JSON inside JSON inside JSON: how often an exact value may have been escaped."""


def redact(value: Any, secrets: Iterable[str] = ()) -> Any:
    """A JSON value with its secrets replaced by marks, at every depth, in keys, values and JSON inside strings.

    Args:
        value: dicts, lists, tuples, strings and other JSON values. Never changed.
        secrets: exact values to hide wherever they occur, such as the key that is in use.

    Returns:
        A new value, or ``value`` itself where nothing was found. A second pass rarely finds more: only where something
        was glued to a secret and a mark now stands between (``hf_...--api-key x``).
    """
    return _redact(value, _exact(secrets))


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` with its secrets replaced by marks; the same object where nothing was found.

    A text that is a JSON object or array comes out as valid JSON, unless a key in it comes twice in the same object.
    """
    return _redact_text(text, _exact(secrets))


def may_hold_secret(text: str, secrets: Iterable[str] = ()) -> bool:
    """A cheap yes or no about plain text, or about the JSON text of a value, however it is escaped.

    No means that :func:`redact_text` would give back the same text, and :func:`redact` the value that it stands for.
    """
    return _may_hold(text, _exact(secrets))


# -- values --------------------------------------------------------------------------------------------------------


class _Exact(NamedTuple):
    """The exact values to look for."""

    values: tuple[str, ...]
    """As they stand and as they stand inside JSON text, longest first."""
    pieces: tuple[str, ...]
    """How they begin and end: one of these must be there where a value is, or what a cut has left of it."""
    ascii: bool


_NONE = _Exact((), (), True)


def _redact(value: Any, exact: _Exact) -> Any:
    if isinstance(value, str):
        return _redact_text(value, exact)
    if isinstance(value, dict):
        changed = {}
        for key, item in value.items():
            name = _redact_text(key, exact) if isinstance(key, str) else key
            secret = isinstance(key, str) and is_secret_field(key)
            new = _hide(item, key, exact) if secret else _redact(item, exact)
            if new is not item or name is not key:
                changed[key] = (name, new)
        if not changed:
            return value
        return dict(changed.get(key, (key, item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        items = [_redact(item, exact) for item in value]
        for after, option in enumerate(value[:-1], 1):
            if isinstance(option, str) and option.startswith("--") and is_secret_option(option):
                items[after] = _hide_argument(value[after], items[after], option, exact)
        return value if all(map(_same, items, value)) else type(value)(items)
    return value


def _hide_argument(value: Any, searched: Any, option: str, exact: _Exact) -> Any:
    """What stands after ``option`` in a list; ``searched``, where the value is none that belongs to the option."""
    if isinstance(value, (str, int, float)) and may_be_item(str(value), option):
        hidden = _hide(value, option, exact)
        return searched if hidden is value else hidden
    return searched


def _same(one: Any, other: Any) -> bool:
    return one is other


def _hide(value: Any, name: str, exact: _Exact) -> Any:
    """What stands in a field with a secret's name. Numbers of a ``token`` field are counts; dicts are looked into."""
    if isinstance(value, str):
        return _redact_text(value, exact) if not value or is_placeholder(value) else mark_of(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if may_count(words_of(name)) else mark_of(name)
    if isinstance(value, (list, tuple)):
        items = [_hide(item, name, exact) for item in value]
        return value if all(map(_same, items, value)) else type(value)(items)
    return _redact(value, exact)


# -- text ----------------------------------------------------------------------------------------------------------


def _redact_text(text: str, exact: _Exact) -> str:
    if not _may_hold(text, exact):
        return text
    plain = _hide_exact(text, exact)
    if (new := _redact_json(plain, exact)) is not None:
        return new
    spelt = _spelt_out(plain) if _is_oddly_spelt(plain, exact) else plain
    hidden = hide_shapes(_hide_exact(spelt, exact))
    kept = plain if hidden == spelt else hidden
    return text if kept == text else kept


def _may_hold(text: str, exact: _Exact) -> bool:
    if any(map(text.__contains__, exact.pieces)) or ("\\" in text and _is_oddly_spelt(text, exact)):
        return True
    return may_match(text)


def _redact_json(text: str, exact: _Exact) -> str | None:
    """The text without secrets, where it is a JSON object or array; else None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
        new = _redact(value, exact)
    except (ValueError, RecursionError):
        return None
    return text if new is value else jsontext.dumps(new)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; a key that comes twice would take what it says first out of sight."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key comes twice")
    return made


_ODD_ESCAPE = re.compile(r"\\u00[2-7]")
_ANY_ODD_ESCAPE = re.compile(r"(?i)\\+(?:/|u((?!00[01]|d[89a-f])[0-9a-f]{4}))")


def _is_oddly_spelt(text: str, exact: _Exact) -> bool:
    r"""Whether JSON text holds escapes that it need not (``\/``, ``\u0077``), behind which every rule is blind.

    Other escapes of letters count only where an exact value has such letters: many programs write them.
    """
    if "\\/" in text or ("\\u00" in text and _ODD_ESCAPE.search(text)):
        return True
    return not exact.ascii and "\\u" in text


def _spelt_out(text: str) -> str:
    """The text with such escapes replaced by the characters that they mean."""
    return _ANY_ODD_ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else "/", text)


# -- exact values --------------------------------------------------------------------------------------------------

_CUT = re.compile(r"(\n\[… [^\]\n]*\]\n|…|\.{3})")
"""What stands where something was left out."""


def _hide_exact(text: str, exact: _Exact) -> str:
    """``text`` without the exact values, and without what a cut has left of one."""
    if not any(map(text.__contains__, exact.pieces)):
        return text
    for secret in exact.values:
        text = text.replace(secret, mark("secret"))
    return "".join(_hide_pieces(part, exact) for part in _CUT.split(text))


def _hide_pieces(part: str, exact: _Exact) -> str:
    """A stretch of text between two cuts, without the end of a secret that it begins with or a beginning at its end."""
    if not any(map(part.__contains__, exact.pieces)):
        return part
    for secret in exact.values:
        for size in range(len(secret) - 1, _SHORTEST_PIECE - 1, -1):
            if part.endswith(secret[:size]):
                part = part[:-size] + mark("secret")
            if part.startswith(secret[-size:]):
                part = mark("secret") + part[size:]
    return part


def _exact(secrets: Iterable[str]) -> _Exact:
    return _spellings(tuple(secrets)) if secrets else _NONE


@lru_cache(maxsize=64)
def _spellings(secrets: tuple[str, ...]) -> _Exact:
    layer = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET and secret.lower() not in _STAND_INS}
    spelt = set(layer)
    for _ in range(_LAYERS):
        layer = {jsontext.dumps(secret)[1:-1] for secret in layer}
        spelt |= layer
    values = tuple(sorted(spelt, key=len, reverse=True))
    pieces = {piece for value in values for piece in (value[:_SHORTEST_PIECE], value[-_SHORTEST_PIECE:])}
    return _Exact(values, tuple(pieces), all(map(str.isascii, values)))
