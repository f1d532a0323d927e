"""Which names stand for a secret, and the mark that takes a secret's place."""

from __future__ import annotations

import re
from functools import lru_cache

NAME_TAILS = {
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
ENDING = r"[\d_-]*"
"""What may follow the last word of a name: ``password2``, ``token_1``."""

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
MARK = "[redacted: "
"""How every mark begins."""

_ALONE_ORDINARY = frozenset(("auth", "bearer", "pass"))
_PLACEHOLDER = r"\$\{?[A-Za-z_]\w*\}?|\$\(.*|%\w+%|<[^>]*>?|\{\{?[\w. ]*\}?\}?|\*+|[xX]+|\.+"


@lru_cache(maxsize=4096)
def is_secret_field(name: str) -> bool:
    """Whether a field of this name holds a secret: ``apiKey``, ``X-Auth-Token``; not ``max_tokens`` or ``author``."""
    words = words_of(name)
    if not words or not re.search(rf"[A-Za-z]{ENDING}\Z", name):
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return re.fullmatch(_KINDS_OF_KEY, before) is not None
    if last == "token":
        return re.fullmatch(_ORDINARY_TOKENS, before) is None
    if last == "pass":
        return re.fullmatch(_ORDINARY_PASSES, before) is None
    return re.fullmatch(_SECRET_WORDS, last) is not None


def words_of(name: str) -> list[str]:
    """``X-ApiKey2`` -> ``["x", "api", "key"]``."""
    return [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def is_ordinary_alone(words: list[str]) -> bool:
    """Whether a name is as often a kind, a count or an outcome (``PASS: test_2``, ``pass=12``) when it stands alone."""
    return len(words) == 1 and words[0] in _ALONE_ORDINARY


def may_count(words: list[str]) -> bool:
    """Whether a number under this name is most likely a count."""
    return words[-1] == "token" or is_ordinary_alone(words)


def mark(what: str) -> str:
    """What a reader finds where a secret stood."""
    return f"{MARK}{what}]"


def mark_of(name: str) -> str:
    """The mark of a field or option of this name."""
    return mark("_".join(words_of(name)))


def is_placeholder(value: str) -> bool:
    """``$API_KEY``, ``<your key>``, ``***`` and marks of an earlier pass: not a secret, and worth reading."""
    return "[redacted:" in value or re.fullmatch(_PLACEHOLDER, value) is not None
