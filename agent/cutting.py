"""Where a text that is too long is cut: between words and not through one.

Half of a key is known by no rule and equal to no key, so a cut through it would carry it past every search for secrets
(:mod:`agent.redact`). A key, as an address or a number, holds no blank: cutting at one that is near leaves it whole or
takes it whole. Only a run without any end near, such as base64 or a page of ``x``, is cut where it has to be; of a key
that is cut so, the search still knows the exact values that are in use by their beginning or end.
"""

from __future__ import annotations

import re

_NEAR = 200
"""Characters that may be given up for a better place: nearly every vendor's keys are shorter."""
_BETWEEN_LINES = re.compile("\n")
_BETWEEN_WORDS = re.compile(r"[^!-~]")
"""A blank, and every letter of a script that writes without blanks."""
_BETWEEN_SIGNS = re.compile(r"(?a:[^\w.~+/=%-])")
"""In JSON without blanks: a quote, a comma or a bracket. Nothing of this kind stands in a key."""


def head(text: str, size: int) -> str:
    """The beginning of ``text``, at most ``size`` characters; the same object where it is short enough."""
    if len(text) <= size:
        return text
    for between in (_BETWEEN_WORDS, _BETWEEN_SIGNS):
        for end in range(size, max(0, size - _NEAR), -1):
            if between.match(text, end):
                return text[:end]
    return text[:size]


def tail(text: str, size: int) -> str:
    """The end of ``text``, at most ``size`` characters; the same object where it is short enough.

    A whole line is best: a name and its value stand on the same one, and a value without its name is not known either.
    """
    start = len(text) - size
    if start <= 0:
        return text
    for between, near in ((_BETWEEN_LINES, size // 2), (_BETWEEN_WORDS, size - 1), (_BETWEEN_SIGNS, size - 1)):
        for begin in range(start, start + min(near, _NEAR)):
            if between.match(text, begin - 1):
                return text[begin:]
    return text[start:]
