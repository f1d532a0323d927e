"""Secrets never reach a file: everything that is written goes through :func:`redact` or :func:`redact_text` first.

Three ways to know a secret: by the name of its field or option (``api_key``, ``Authorization``, ``--password x`` in a
command or its list of arguments), by its shape (``sk-...``, a JWT, a password in a URL), and by its exact value, where
the caller holds it. What was taken out is marked in its place, so that a reader sees that something was there:
``[redacted: api_key]``. The run itself goes on with the real values.

Every line of a journal passes here, so the common case is a few plain searches that find nothing and give back the same
object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache, partial
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
    return (bool(secrets) and any(map(text.__contains__, _exact(secrets)))) or _may_match(text)


@lru_cache(maxsize=4096)
def is_secret_field(name: str) -> bool:
    """Whether a field of this name holds a secret: ``apiKey``, ``X-Auth-Token``; not ``max_tokens`` or ``author``."""
    words = _words(name)
    if not words or not re.search(rf"[A-Za-z]{_ENDING}\Z", name):
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return re.fullmatch(_KINDS_OF_KEY, before) is not None
    if last == "token":
        return re.fullmatch(_ORDINARY_TOKENS, before) is None
    if last == "pass":
        return re.fullmatch(_ORDINARY_PASSES, before) is None
    return re.fullmatch(_SECRET_WORDS, last) is not None


_SECRET_WORDS = (
    r"(?:api|access|secret|private|ssh)keys?|(?:access|auth)token|\w*(?:passwords?|passwd|passphrase)|pwd|"
    "(?:db|user|root|admin)pass|secrets?|auth|authorization|bearer|credentials?|cookie|jwt|[th]?otp"
)
_KINDS_OF_KEY = "api|access|secret|private|auth|account|encryption|signing|subscription|master|ssh"
_ORDINARY_TOKENS = (
    "max|min|num|total|per|first|last|next|page|continuation|sync|start|end|stop|eos|bos|pad|unk|sep|cls|mask|special|"
    "input|output|prompt|completion|cached|reasoning|image|audio|text|tool|current|each"
)
"""Words before ``token`` that make it a count, a cursor or a piece of vocabulary."""
_ORDINARY_PASSES = "first|second|third|last|next|single|one|two|multi|low|high|band|all|max|min|num|forward|backward"
"""Words before ``pass`` that make it one round of something, a filter or an outcome."""
_ALONE_ORDINARY = frozenset(("auth", "bearer", "pass"))
"""Names that are as often a kind, a count or an outcome (``PASS: test_2``, ``pass=12``) when they stand alone."""


_ENDING = r"[\d_-]*"
"""What may follow the last word of a name: ``password2``, ``token_1``."""


def _words(name: str) -> list[str]:
    """``X-ApiKey2`` -> ``["x", "api", "key"]``."""
    return [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


# -- the shapes ----------------------------------------------------------------------------------------------------

_SIGN = r"""\\*["']?\s*[:=]"""
_LOOSE_SIGN = r"""[\\"']*(?:\s|\\\w{1,5})*[:=]"""
"""The same where the text stands inside JSON, so that a line break is two characters or six."""
_NAMES = {
    "key": "keys?",
    "token": "token",
    "secret": "secrets?",
    "pass": "pass(?:phrase|w(?:or)?ds?)?",
    "pwd": "pwd",
    "auth": "auth(?:orization)?",
    "bearer": "bearer",
    "otp": "otp",
    "credential": "credentials?",
    "cookie": "cookie",
    "jwt": "jwt",
}
"""How the name of a secret field ends: a plain search that costs next to nothing, and the pattern it stands for."""
_HINTS = {
    **{hint: tail + _ENDING + _LOOSE_SIGN for hint, tail in _NAMES.items()},
    "bearer": rf"bearer(?:[\s\\]|{_ENDING}{_LOOSE_SIGN})",
    "--": rf"(?<!-)--[\w-]*(?:{'|'.join(_NAMES.values())}){_ENDING}[\s\\\"']",
    "curl": r"-\w*u",
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
_PREFIXES_WITH = {mark: tuple(prefix.lower() for prefix in _PREFIXES if mark in prefix) for mark in "-_."}
_NEEDLES: dict[str, tuple[str, ...]] = {
    "": ("bearer", *(prefix.lower() for prefix in _PREFIXES if not {*prefix} & {*_PREFIXES_WITH})),
    "-": ("--", "curl", "private key", *_PREFIXES_WITH["-"]),
    "_": _PREFIXES_WITH["_"],
    ".": _PREFIXES_WITH["."],
    ":": ("://", *_NAMES),
    "=": ("sig", *_NAMES),
}
"""All hints and prefixes in small letters, by a character without which they count for nothing: looking for that one
first saves most of the searches."""

_UNMARKED = r"(?!\[redacted: )"
_PEM = r"(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"
_IN_URL = rf"(?P<head>://[^\s/:@]*:){_UNMARKED}(?P<value>[^\s/@]+)(?=@)"
_IN_QUERY = rf"""(?P<head>[?&](?P<name>[\w.-]+)=){_UNMARKED}(?P<value>[^\s&#"'<>\\]+)"""
_NAME = rf"""(?ix)(?<![\w-])
    (?P<name>[\w-]*(?:{"|".join(_NAMES.values())}){_ENDING})
    (?:(?P<sign>{_SIGN}\s*)|\s+|(?P<comma>\\*["']\s*,\s*))"""
_VALUE = rf"""(?ix)
    (?P<quote>\\*["']){_UNMARKED}(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\n]))+)(?=(?P=quote))
    |(?P<bare>(?:(?:bearer|basic|digest|token)\s+)?[^\s,;&"'<>()\[\]\\]+)(?P<after>[(\[]?)"""
_CURL_USER = rf"""(?x)
    (?P<head>(?<![\w-])(?:-\w*[uU]|--(?:proxy-)?user)(?:\s+|=)?(?P<quote>\\*["'])?{_UNMARKED}[^\s:"'\\]*:){_UNMARKED}
    (?P<value>(?(quote)[^"'\\\n]+|[^\s"'\\]+))"""
_BEARER = r"(?i)(?P<head>\bbearer\s+)(?!bearer\s)(?P<value>[\w.~+/=-]{6,})"
_JWT = r"\beyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)*"
_VENDOR_KEY = (
    r"(?<![A-Za-z0-9])(?:A[KS]IA[0-9A-Z]{16}\b|(?:hf_|npm_|r8_|gsk_)[A-Za-z0-9]{16,}"
    r"|(?:AIza|SG\.|ya29\.)[\w.-]{16,}"
    r"|sk-(?:proj|ant|svcacct|admin)-[\w-]{8,}|sk-[A-Za-z0-9]{20,}|gh[oprsu]_[A-Za-z0-9]{16,}"
    rf"|(?:{'|'.join(map(re.escape, _PREFIXES))})(?=[\w-]*\d)[\w-]{{6,}})"
)

_PLACEHOLDER = r"\$\{?[A-Za-z_]\w*\}?|\$\(.*|%\w+%|<[^>]*>?|\{\{?[\w. ]*\}?\}?|\*+|[xX]+|\.+"
_NO_VALUE = r"(?i:str|string|int|bool|bytes|any|none|null|true|false|optional|required|undefined|nan)\.?|['\"=:]*"
_PROSE = (
    "(?i:a|an|and|are|argument|as|but|by|can|flag|for|from|has|if|in|instead|is|must|needs|not|of|on|option|or|"
    "parameter|should|takes|that|the|then|to|was|when|will|with|you|your)[.:]?"
)
"""What follows the name of an option in a sentence about it: ``use --password to set it``."""
_CODE = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"


def _mark(what: str) -> str:
    return f"[redacted: {what}]"


def _is_placeholder(value: str) -> bool:
    """``$API_KEY``, ``<your key>``, ``***`` and marks of an earlier pass: not a secret, and worth reading."""
    return "[redacted:" in value or re.fullmatch(_PLACEHOLDER, value) is not None


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
        for after, flag in enumerate(value[:-1], 1):
            if isinstance(flag, str) and flag.startswith("--") and _is_secret_flag(flag):
                items[after] = _hide_argument(value[after], items[after], flag)
        return value if all(map(_same, items, value)) else type(value)(items)
    return value


def _is_secret_flag(item: str) -> bool:
    """Whether an item of a list is an option whose value is the item after it: ``["--password", "hunter2"]``."""
    return re.fullmatch(r"--[\w-]+", item) is not None and is_secret_field(item)


def _hide_argument(value: Any, searched: Any, flag: str) -> Any:
    """What stands after ``flag`` in a list; ``searched``, where the value is none that belongs to the flag."""
    if isinstance(value, (str, int, float)) and not _is_no_item(str(value), flag):
        hidden = _hide(value, flag, ())
        return searched if hidden is value else hidden
    return searched


def _same(one: Any, other: Any) -> bool:
    return one is other


def _hide(value: Any, name: str, exact: tuple[str, ...]) -> Any:
    """What stands in a field with a secret's name. Numbers of a ``token`` field are counts; dicts are looked into."""
    if isinstance(value, str):
        return value if not value or _is_placeholder(value) else _mark_of(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if _may_count(_words(name)) else _mark_of(name)
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
    for rule in _rules():
        redacted = rule(redacted)
    return text if redacted == text else redacted


def _may_match(text: str) -> bool:
    """Whether some rule may match; a few plain searches say no to nearly every text."""
    lower, needles = text.lower(), _NEEDLES[""]
    for mark in "-_.:=":
        if mark in text:
            needles += _NEEDLES[mark]
    if not any(map(lower.__contains__, needles)):
        return False
    if any(map(text.__contains__, _PREFIXES)):
        return True
    return any(re.search(pattern, lower) for hint, pattern in _HINTS.items() if hint in lower)


def _json_inside(text: str) -> Any:
    """The object or array that the text is, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _named(text: str) -> str:
    """Hide what follows the name of a secret: ``password=...``, ``"api_key": "..."``, ``--token ...``."""
    names, values = _name_and_value()
    parts, done = [], 0
    for name in names.finditer(text):
        if name.start() < done or not is_secret_field(name["name"]):
            continue
        value = values.match(text, name.end())
        if value is None or _is_placeholder(value["quoted"] or value["bare"]):
            continue
        if _is_no_secret(name, value) if name["sign"] else _is_no_argument_of(name, value):
            continue
        parts += [text[done : name.end()], value["quote"] or "", _mark_of(name["name"]), value["after"] or ""]
        done = value.end()
    return "".join((*parts, text[done:])) if parts else text


def _is_no_argument_of(match: re.Match[str], value: re.Match[str]) -> bool:
    """Whether what follows a name after a blank, or as the next item of a list, is not the value of an option."""
    flag = match["name"]
    if not flag.startswith("--"):
        return True
    if match["comma"]:
        return value["quoted"] is None or _is_no_item(value["quoted"], flag)
    return value["bare"] is not None and _is_no_argument(value["bare"])


def _is_no_argument(text: str) -> bool:
    """Whether what follows ``--password`` is another option, or the sentence in which it is spoken of."""
    return text.startswith("-") or re.match(rf"(?:{_PROSE})(?!\S)", text) is not None


def _is_no_item(text: str, flag: str) -> bool:
    """The same in a list, where the next item may also describe the option: ``Password of the user``."""
    return _is_no_argument(text) or (" " in text and _words(flag)[-1] in text.lower())


def _is_no_secret(match: re.Match[str], value: re.Match[str]) -> bool:
    """Whether an unquoted value is a count, a type or a piece of program text."""
    if not value["bare"]:
        return False
    name, bare = _words(match["name"]), value["bare"]
    if value["after"] or re.fullmatch(_NO_VALUE, bare) or re.fullmatch(_CODE, bare) or bare == match["name"]:
        return True
    if _may_count(name) and bare.rstrip(".").isdigit():
        return True
    if name == ["pwd"] and bare.startswith(("/", "~")):  # the shell's working folder
        return True
    in_prose = match["sign"].rstrip() != "=" and name[-1] != "authorization"
    if in_prose and len(name) == 1 and name[0] in _ALONE_ORDINARY:
        return True
    return in_prose and len(bare) < 16 and not any(c.isdigit() for c in bare)


def _may_count(name: list[str]) -> bool:
    """Whether a number under this name, given in words, is most likely a count."""
    return name[-1] == "token" or (len(name) == 1 and name[0] in _ALONE_ORDINARY)


def _curl_user(match: re.Match[str]) -> str:
    """``curl -u ada:hunter2``; other programs mean a user and a group by it."""
    if _is_placeholder(match["value"]) or match.string.find("curl", 0, match.start()) < 0:
        return match[0]
    return match["head"] + _mark("password")


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
def _name_and_value() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_NAME), re.compile(_VALUE)


@cache
def _rules() -> list[Callable[[str], str]]:
    """The rules in their order; compiled at the first find, for most runs never meet one."""
    return [
        partial(re.compile(_PEM).sub, _mark("private key")),
        partial(re.compile(_IN_URL).sub, _in_url),
        partial(re.compile(_IN_QUERY).sub, _in_query),
        _named,
        partial(re.compile(_CURL_USER).sub, _curl_user),
        partial(re.compile(_BEARER).sub, _bearer),
        partial(re.compile(_JWT).sub, _mark("token")),
        partial(re.compile(_VENDOR_KEY).sub, _mark("key")),
    ]


def _exact(secrets: Iterable[str]) -> tuple[str, ...]:
    """The exact values to look for, longest first, as they stand and as they stand inside JSON text."""
    return _spellings(tuple(secrets)) if secrets else ()


@lru_cache(maxsize=64)
def _spellings(secrets: tuple[str, ...]) -> tuple[str, ...]:
    kept = [s for s in secrets if len(s) >= _SHORTEST_SECRET and s.lower() not in _STAND_INS]
    return tuple(sorted({*kept, *(jsontext.dumps(s)[1:-1] for s in kept)}, key=len, reverse=True))
