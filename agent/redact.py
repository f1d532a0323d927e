"""Secrets never reach a file: everything that is written goes through :func:`redact` or :func:`redact_text` first.

Three ways to know a secret: by the name of its field (``api_key``, ``Authorization``), by its shape (``sk-...``, a JWT,
a password in a URL), and by its exact value, where the caller holds it. What was taken out is marked in its place, so
that a reader sees that something was there: ``[redacted: api_key]``. The run itself goes on with the real values.

Every line of a journal passes here, so the common case is a few plain searches that find nothing and give back the same
object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

from agent import jsontext

_SHORTEST_SECRET = 6
"""An exact value shorter than this is too likely an ordinary word to be looked for."""
_STAND_INS = frozenset(("ollama", "lm-studio", "not-needed", "notneeded", "anything", "no-key", "nokey", "api-key"))
"""What people type where a local server asks for no key; hiding these words would only damage the text."""


def redact(value: Any, secrets: Iterable[str] = ()) -> Any:
    """A JSON value with its secrets replaced by marks, at every depth, in keys, values and JSON inside strings.

    Args:
        value: dicts, lists, tuples, strings and other JSON values. Never changed.
        secrets: exact values to hide wherever they occur, such as the key that is in use.

    Returns:
        A new value, or ``value`` itself where nothing was found. A second pass changes nothing more.
    """
    return _redact(value, _exact(secrets))


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` with its secrets replaced by marks; the same object where nothing was found.

    A text that is a JSON object or array comes out as valid JSON.
    """
    return _redact_text(text, _exact(secrets))


def may_hold_secret(text: str, secrets: Iterable[str] = ()) -> bool:
    """A cheap yes or no about JSON text: no means that :func:`redact` would give back the value that it stands for."""
    return any(map(text.__contains__, _exact(secrets))) or _may_match(text)


@lru_cache(maxsize=4096)
def is_secret_field(name: str) -> bool:
    """Whether a field of this name holds a secret: ``apiKey``, ``X-Auth-Token``; not ``max_tokens`` or ``author``."""
    words = _words(name)
    if not words or not re.search(rf"[A-Za-z]{_ENDING}$", name):
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return re.fullmatch(_KINDS_OF_KEY, before) is not None
    if last == "token":
        return re.fullmatch(_ORDINARY_TOKENS, before) is None
    return re.fullmatch(_SECRET_WORDS, last) is not None or name == "_auth"


_SECRET_WORDS = (
    "(?:api|access|secret|private)keys?|(?:access|auth)token|passwords?|passwd|pwd|passphrase|secrets?|authorization|"
    "credentials?|cookie|jwt"
)
_KINDS_OF_KEY = "api|access|secret|private|auth|account|encryption|signing|subscription|master"
_ORDINARY_TOKENS = (
    "max|min|num|total|per|first|last|next|page|continuation|sync|start|end|stop|eos|bos|pad|unk|sep|cls|mask|special|"
    "input|output|prompt|completion|cached|reasoning|image|audio|text|tool|current|each"
)
"""Words before ``token`` that make it a count, a cursor or a piece of vocabulary."""


_ENDING = r"[\d_-]*"
"""What may follow the last word of a name: ``password2``, ``token_1``."""


def _words(name: str) -> list[str]:
    """``X-ApiKey2`` -> ``["x", "api", "key"]``."""
    return [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


# -- the shapes ----------------------------------------------------------------------------------------------------

_SIGN = r"""\\*["']?\s*[:=]"""
_NAMES = {
    "key": "keys?",
    "token": "token",
    "secret": "secrets?",
    "pass": "pass(?:phrase|w(?:or)?ds?)",
    "pwd": "pwd",
    "auth": "(?:_auth|authorization)",
    "credential": "credentials?",
    "cookie": "cookie",
    "jwt": "jwt",
}
"""How the name of a secret field ends: a plain search that costs next to nothing, and the pattern it stands for."""
_HINTS = {
    **{hint: tail + _ENDING + _SIGN for hint, tail in _NAMES.items()},
    "bearer": r"bearer\s",
    "://": r"://[^\s/@]*:[^\s/@]*@",
    "sig": r"sig(?:nature)?=",
    "private key": "private key-",
}
"""What the lower-cased text must hold before any rule is tried."""
_PREFIXES = (
    "sk-", "sk_live_", "sk_test_", "rk_live_", "tvly-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "xox", "xapp-", "AKIA", "ASIA", "AIza", "hf_", "gsk_", "r8_", "npm_", "pypi-", "pplx-", "nvapi-", "xai-", "lsv2_",
    "dop_v1_", "ya29.", "SG.", "eyJ",
)  # fmt: skip
"""How the keys of known vendors begin; ``eyJ`` begins a JSON Web Token."""

_UNMARKED = r"(?!\[redacted: )"
_PEM = r"(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"
_IN_URL = rf"(?P<head>://[^\s/:@]*:){_UNMARKED}(?P<value>[^\s/@]+)(?=@)"
_IN_QUERY = rf"""(?P<head>[?&](?P<name>[\w.-]+)=){_UNMARKED}(?P<value>[^\s&#"'<>\\]+)"""
_NAMED = rf"""(?ix)
    (?P<head>(?<![\w-])(?P<name>[\w-]*(?:{"|".join(_NAMES.values())}){_ENDING})(?P<sign>{_SIGN})\s*)
    (?:(?P<quote>\\*["']){_UNMARKED}(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\n]))+)(?=(?P=quote))
      |(?P<bare>(?:(?:bearer|basic|digest|token)\s+)?[^\s,;&"'<>()\[\]\\]+)(?P<after>[(\[]?))"""
_BEARER = r"(?i)(?P<head>\bbearer\s+)(?P<value>[\w.~+/=-]{6,})"
_JWT = r"\beyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)*"
_VENDOR_KEY = (
    r"(?<![A-Za-z0-9])(?:A[KS]IA[0-9A-Z]{16}\b|(?:hf_|npm_|r8_|gsk_)[A-Za-z0-9]{16,}"
    r"|(?:AIza|SG\.|ya29\.)[\w.-]{16,}"
    rf"|(?:{'|'.join(map(re.escape, _PREFIXES))})(?=[\w-]*\d)[\w-]{{6,}})"
)

_PLACEHOLDER = r"\$\{?[A-Za-z_]\w*\}?|\$\(.*|%\w+%|<[^>]*>?|\{\{?[\w. ]*\}?\}?|\*+|[xX]+|\.+|\[redacted: [^\]]*\]"
_NO_VALUE = r"(?i:str|string|int|bool|bytes|any|none|null|true|false|optional|required|undefined|nan)\.?|['\"=:]*"
_CODE = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"


def _mark(what: str) -> str:
    return f"[redacted: {what}]"


def _is_placeholder(value: str) -> bool:
    """``$API_KEY``, ``<your key>``, ``***`` and marks of an earlier pass: not a secret, and worth reading."""
    return re.fullmatch(_PLACEHOLDER, value) is not None


def _redact(value: Any, exact: tuple[str, ...]) -> Any:
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
        return value if all(map(_same, items, value)) else type(value)(items)
    return value


def _same(one: Any, other: Any) -> bool:
    return one is other


def _hide(value: Any, name: str, exact: tuple[str, ...]) -> Any:
    """What stands in a field with a secret's name. Numbers of a ``token`` field are counts; dicts are looked into."""
    if isinstance(value, str):
        return value if not value or _is_placeholder(value) else _mark_of(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if _words(name)[-1] == "token" else _mark_of(name)
    if isinstance(value, (list, tuple)):
        items = [_hide(item, name, exact) for item in value]
        return value if all(map(_same, items, value)) else type(value)(items)
    return _redact(value, exact)


def _mark_of(name: str) -> str:
    return _mark("_".join(_words(name)))


def _redact_text(text: str, exact: tuple[str, ...]) -> str:
    for secret in exact:
        if secret in text:
            text = text.replace(secret, _mark("secret"))
    if not _may_match(text):
        return text
    if (value := _json_inside(text)) is not None:
        new = _redact(value, exact)
        return text if new is value else jsontext.dumps(new)
    redacted = text
    for pattern, replace in _rules():
        redacted = pattern.sub(replace, redacted)
    return text if redacted == text else redacted


def _may_match(text: str) -> bool:
    """Whether some rule may match; a few plain searches say no to nearly every text."""
    if any(map(text.__contains__, _PREFIXES)):
        return True
    lower = text.lower()
    if not any(map(lower.__contains__, _HINTS)):
        return False
    return any(re.search(pattern, lower) for hint, pattern in _HINTS.items() if hint in lower)


def _json_inside(text: str) -> Any:
    """The object or array that the text is, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _named(match: re.Match[str]) -> str:
    name, head, quote = match["name"], match["head"], match["quote"]
    if not is_secret_field(name):
        return match[0]
    if quote:
        return match[0] if _is_placeholder(match["quoted"]) else f"{head}{quote}{_mark_of(name)}"
    bare = match["bare"]
    return match[0] if _is_no_secret(bare, match) else f"{head}{_mark_of(name)}{match['after']}"


def _is_no_secret(bare: str, match: re.Match[str]) -> bool:
    """Whether an unquoted value is a placeholder, a count, a type or a piece of program text."""
    name = _words(match["name"])
    if _is_placeholder(bare) or re.fullmatch(_NO_VALUE, bare):
        return True
    if match["after"] or re.fullmatch(_CODE, bare) or bare == match["name"]:
        return True
    if name[-1] == "token" and bare.rstrip(".").isdigit():
        return True
    in_prose = match["sign"] != "=" and name[-1] != "authorization"
    return in_prose and len(bare) < 16 and not any(c.isdigit() for c in bare)


def _in_query(match: re.Match[str]) -> str:
    name = match["name"]
    if _is_placeholder(match["value"]) or not (is_secret_field(name) or name.lower() in ("key", "sig", "signature")):
        return match[0]
    return match["head"] + _mark_of(name)


def _bearer(match: re.Match[str]) -> str:
    """``Bearer`` and a credential; two words of English are left alone."""
    value = match["value"]
    if value.isalpha() and len(value) < 20:
        return match[0]
    return match["head"] + _mark("bearer token")


def _in_url(match: re.Match[str]) -> str:
    return match[0] if _is_placeholder(match["value"]) else match["head"] + _mark("password")


@cache
def _rules() -> list[tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str]]:
    """The rules in their order; compiled at the first find, for most runs never meet one."""
    return [
        (re.compile(_PEM), _mark("private key")),
        (re.compile(_IN_URL), _in_url),
        (re.compile(_IN_QUERY), _in_query),
        (re.compile(_NAMED), _named),
        (re.compile(_BEARER), _bearer),
        (re.compile(_JWT), _mark("token")),
        (re.compile(_VENDOR_KEY), _mark("key")),
    ]


def _exact(secrets: Iterable[str]) -> tuple[str, ...]:
    """The exact values to look for, longest first, as they stand and as they stand inside JSON text."""
    return _spellings(tuple(secrets)) if secrets else ()


@lru_cache(maxsize=64)
def _spellings(secrets: tuple[str, ...]) -> tuple[str, ...]:
    kept = [s for s in secrets if len(s) >= _SHORTEST_SECRET and s.lower() not in _STAND_INS]
    return tuple(sorted({*kept, *(jsontext.dumps(s)[1:-1] for s in kept)}, key=len, reverse=True))
