"""What a secret looks like in running text: after the name of an option or a field, in a URL, by a vendor's prefix.

A text may come from anybody, so no pattern here may take more than a time proportional to its length. Where a pattern
can begin at many places of one unbroken run of characters, what it then reads is bounded, or the run is consumed whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

from agent.secret_names import (
    ENDING,
    NAME_TAILS,
    is_ordinary_alone,
    is_placeholder,
    is_secret_field,
    mark,
    mark_of,
    may_count,
    words_of,
)

# -- the quick look ------------------------------------------------------------------------------------------------

_PREFIXES = (
    "sk-", "sk_live_", "sk_test_", "rk_live_", "tvly-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "xox", "xapp-", "AKIA", "ASIA", "AIza", "hf_", "gsk_", "r8_", "npm_", "pypi-", "pplx-", "nvapi-", "xai-", "lsv2_",
    "dop_v1_", "ya29.", "SG.", "eyJ",
)  # fmt: skip
"""How the keys of known vendors begin; ``eyJ`` begins a JSON Web Token."""
_ANY_NAME = "|".join(NAME_TAILS.values())
_LOOSE_SIGN = r"""[\\"'\s]*(?:(?<=\\)(?:[bfnrt]|u[0-9a-f]{4})[\\"'\s]*)*[:=]"""
"""What makes a name one with a value, also where the text stands inside JSON: a line break is two characters or six."""
_OPTION_BEGINS = r"--(?:(?<![\w-]--)|(?<=\\[bfnrt]--)|(?<=\\u[0-9a-f]{4}--))"
"""Only at the beginning of a run, or a run of ``--a--a`` would be read from each of its places; inside JSON that may be
behind an escape."""
_HINTS = {
    **{hint: (":=", tail + ENDING + _LOOSE_SIGN) for hint, tail in NAME_TAILS.items()},
    "bearer": ("", rf"bearer(?:[\s\\]|{ENDING}{_LOOSE_SIGN})"),
    "--": ("-", rf"{_OPTION_BEGINS}[\w-]*(?:{_ANY_NAME}){ENDING}[\s\\\"']"),
    "curl": ("-", r"-\w*u"),
    "://": (":", r"://[^\s/@:]*:[^\s/@]*@"),
    "sig": ("=", r"sig(?:nature)?="),
    "private key": ("-", "private key-"),
}
"""What the lower-cased text must hold before any rule is tried: a plain search; characters without all of which it
counts for nothing; and the pattern that it stands for."""


def _needles() -> dict[str, tuple[str, ...]]:
    """All hints and prefixes in small letters, by a character without which they count for nothing (``""``: none).

    Looking for that one first saves most of the searches.
    """
    needs = [(hint, signs) for hint, (signs, _) in _HINTS.items()]
    needs += [(prefix.lower(), next((sign for sign in "-_." if sign in prefix), "")) for prefix in _PREFIXES]
    by_sign = {sign: tuple(needle for needle, signs in needs if sign in signs) for sign in "-_.:="}
    return {"": tuple(needle for needle, signs in needs if not signs), **by_sign}


_NEEDLES = _needles()


def may_match(text: str) -> bool:
    """Whether some rule may match; a few plain searches say no to nearly every text."""
    lower, needles = _lower(text), _NEEDLES[""]
    for sign in "-_.:=":
        if sign in text:
            needles += _NEEDLES[sign]
    if not any(map(lower.__contains__, needles)):
        return False
    if any(map(text.__contains__, _PREFIXES)):
        return True
    return any(re.search(pattern, lower) for hint, (_, pattern) in _HINTS.items() if hint in lower)


def _lower(text: str) -> str:
    """Small letters, one for each character: the only letter that would become two would also break a name in two."""
    return text.lower() if text.isascii() else text.replace("İ", "i").lower()


# -- the rules -----------------------------------------------------------------------------------------------------

_UNMARKED = r"(?!\[redacted: )"
_PEM = r"(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"
_IN_URL = rf"(?P<head>://[^\s/:@]*:){_UNMARKED}(?P<value>[^\s/@]+)(?=@)"
_IN_QUERY = rf"""(?P<head>[?&](?P<name>[\w.-]+)=){_UNMARKED}(?P<value>[^\s&#"'<>\\]+)"""
_SIGN = r"""\\*["']?\s*[:=]"""
_NAME = rf"""(?ix)(?<![\w-])
    (?P<name>[\w-]*(?:{_ANY_NAME}){ENDING})
    (?:(?P<sign>{_SIGN}\s*)|\s+|(?P<comma>\\*["']\s*,\s*))"""
_VALUE = rf"""(?ix)
    (?P<quote>\\{{0,15}}["']){_UNMARKED}(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\n]))+)(?=(?P=quote))
    |(?P<bare>(?:(?:bearer|basic|digest|token)\s+)?[^\s,;&"'<>()\[\]\\]+)(?P<after>[(\[]?)"""
_CURL_USER = rf"""(?x)
    (?P<head>(?<![\w-])
        (?:(?:-\w*+(?<=[uU])|--(?:proxy-)?user)(?:\s++|=)?(?P<quote>\\*["'])?|-(?:(?![uU])\w)*+[uU])
        {_UNMARKED}[^\s:"'\\]{{0,256}}+:)
    {_UNMARKED}(?P<value>(?(quote)[^"'\\\n]+|[^\s"'\\]+))"""
_BEARER = r"(?i)(?P<head>\bbearer\s+)(?!bearer\s)(?P<value>[\w.~+/=-]{6,})"
_JWT = r"\beyJ(?:(?P<value>[\w-]{6,}+\.[\w-]{4,}(?:\.[\w-]*)*)|[\w-]*+)"
_VENDOR_KEY = (
    r"(?<![A-Za-z0-9])(?:A[KS]IA[0-9A-Z]{16}\b|(?:hf_|npm_|r8_|gsk_)[A-Za-z0-9]{16,}"
    r"|(?:AIza|SG\.|ya29\.)[\w.-]{16,}"
    r"|sk-(?:proj|ant|svcacct|admin)-[\w-]{8,}|sk-[A-Za-z0-9]{20,}|gh[oprsu]_[A-Za-z0-9]{16,}"
    rf"|(?:{'|'.join(map(re.escape, _PREFIXES))})(?=[\w-]{{0,100}}?\d)[\w-]{{6,}})"
)

_NO_VALUE = r"(?i:str|string|int|bool|bytes|any|none|null|true|false|optional|required|undefined|nan)\.?|['\"=:]*"
_PROSE = (
    "(?i:a|an|and|are|argument|as|but|by|can|flag|for|from|has|if|in|instead|is|must|needs|not|of|on|option|or|"
    "parameter|should|takes|that|the|then|to|was|when|will|with|you|your)[.:]?"
)
"""What follows the name of an option in a sentence about it: ``use --password to set it``."""
_CODE = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"


def hide_shapes(text: str) -> str:
    """``text`` with a mark in place of everything that looks like a secret."""
    for rule in _rules():
        text = rule(text)
    return text


def is_secret_option(item: str) -> bool:
    """Whether an item of a list is an option whose value is the item after it: ``["--password", "hunter2"]``."""
    return re.fullmatch(r"--[\w-]+", item) is not None and is_secret_field(item)


def may_be_argument(text: str) -> bool:
    """Whether what follows ``--password`` can be its value: no other option, and not a sentence that speaks of it."""
    return not text.startswith("-") and re.match(rf"(?:{_PROSE})(?!\S)", text) is None


def may_be_item(text: str, option: str) -> bool:
    """The same in a list, where the next item may also describe the option: ``Password of the user``."""
    return may_be_argument(text) and not (" " in text and words_of(option)[-1] in text.lower())


def _named(text: str) -> str:
    """Hide what follows the name of a secret: ``password=...``, ``"api_key": "..."``, ``--token ...``."""
    names, values = _name_and_value()
    parts, done, judged = [], 0, 0
    for name in names.finditer(text):
        if name.start() < max(done, judged) or not is_secret_field(name["name"]) or _never_has_value(name):
            continue
        value = values.match(text, name.end())
        if value is None or is_placeholder(value["quoted"] or value["bare"]):
            continue
        if name["sign"] and value["after"]:  # a call, and so are all the values that end at the same bracket
            judged = value.end()
        elif _is_assigned(name, value) if name["sign"] else _is_given(name, value):
            parts += [text[done : name.end()], value["quote"] or "", mark_of(name["name"]), value["after"] or ""]
            done = value.end()
    return "".join((*parts, text[done:])) if parts else text


def _never_has_value(name: re.Match[str]) -> bool:
    """Whether no text after this name would be its secret.

    Asked before that text is read: in ``auth:auth:auth:`` each would reach to the end of the line.
    """
    if not name["sign"]:
        return not name["name"].startswith("--")
    words, first = words_of(name["name"]), name.string[name.end() : name.end() + 1]
    if words == ["pwd"] and first in ("/", "~"):  # the shell's working folder
        return True
    return first not in ("'", '"', "\\") and is_ordinary_alone(words) and _is_prose(name)


def _is_given(name: re.Match[str], value: re.Match[str]) -> bool:
    """Whether what follows an option after a blank, or as the next item of a list, is its value."""
    if name["comma"]:
        return value["quoted"] is not None and may_be_item(value["quoted"], name["name"])
    return value["bare"] is None or may_be_argument(value["bare"])


def _is_assigned(name: re.Match[str], value: re.Match[str]) -> bool:
    """Whether what follows a name and a sign is a secret: not a count, a type or a piece of program text."""
    bare = value["bare"]
    if not bare:
        return True
    if re.fullmatch(_NO_VALUE, bare) or re.fullmatch(_CODE, bare) or bare == name["name"]:
        return False
    if may_count(words_of(name["name"])) and bare.rstrip(".").isdigit():
        return False
    return not _is_prose(name) or len(bare) >= 16 or any(c.isdigit() for c in bare)


def _is_prose(name: re.Match[str]) -> bool:
    """Whether the sign after a name is one that sentences use as well."""
    return name["sign"].rstrip() != "=" and words_of(name["name"])[-1] != "authorization"


def _curl(text: str) -> str:
    """``curl -u ada:hunter2``; other programs mean a user and a group by it."""
    start = text.find("curl")
    return text if start < 0 else text[:start] + _curl_user().sub(_after_head("password"), text[start:])


def _in_query(match: re.Match[str]) -> str:
    name = match["name"]
    if is_placeholder(match["value"]) or not (is_secret_field(name) or name.lower() in ("key", "sig", "signature")):
        return match[0]
    return match["head"] + mark_of(name)


def _bearer(match: re.Match[str]) -> str:
    """``Bearer`` and a credential; two words of English are left alone."""
    value = match["value"]
    if value.isalpha() and len(value) < 20:
        return match[0]
    return match["head"] + mark("bearer token")


def _jwt(match: re.Match[str]) -> str:
    return mark("token") if match["value"] else match[0]


def _after_head(what: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match[0] if is_placeholder(match["value"]) else match["head"] + mark(what)


@cache
def _name_and_value() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_NAME), re.compile(_VALUE)


@cache
def _curl_user() -> re.Pattern[str]:
    return re.compile(_CURL_USER)


@cache
def _rules() -> list[Callable[[str], str]]:
    """The rules in their order; compiled at the first find, for most runs never meet one."""
    return [
        partial(re.compile(_PEM).sub, mark("private key")),
        partial(re.compile(_IN_URL).sub, _after_head("password")),
        partial(re.compile(_IN_QUERY).sub, _in_query),
        _named,
        _curl,
        partial(re.compile(_BEARER).sub, _bearer),
        partial(re.compile(_JWT).sub, _jwt),
        partial(re.compile(_VENDOR_KEY).sub, mark("key")),
    ]
