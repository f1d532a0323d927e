"""What an answer says: whether it is another one spelt otherwise, and whether it names what its request does not hold.

Rules of thumb, for English and Chinese. They look at words, not at meaning.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_OWN_NUMBER = re.compile(rf"(?<![A-Za-z0-9_])(?<![A-Za-z0-9]-){_NUMBER.pattern}(?![A-Za-z_])")
"""One that is not a part of a word."""
_CAPITALS = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_-]*[A-Z0-9](?![A-Za-z])")
_QUOTED = re.compile("|".join(f"{a}([^{b}\\n]{{2,200}}){b}" for a, b in ('""', "“”", "「」", "『』", "``")))
_LIST_MARK = re.compile(r"^\s*(?:[-*#]+\s*)?\d+[.)、](?=\s|\D)", re.MULTILINE)
_SHORTEST = 3
"""Letters of a word in capitals: shorter ones are OK, US and the like."""
_ENDS = " \t\n.,;:!?。，；：！？…"


def normal(answer: str) -> str:
    """An answer without what does not count: white space, upper and lower case, punctuation at the end."""
    return " ".join(unicodedata.normalize("NFKC", answer).casefold().split()).rstrip(_ENDS)


def names_in(answer: str) -> list[str]:
    """What an answer names: numbers, words in capitals and quoted texts, each once. The numbers of a list are none."""
    text = _LIST_MARK.sub(" ", unicodedata.normalize("NFKC", answer))
    words = (found for found in _CAPITALS.findall(text) if sum(map(str.isalpha, found)) >= _SHORTEST)
    quoted = ("".join(groups) for groups in _QUOTED.findall(text))
    return list(dict.fromkeys([*_OWN_NUMBER.findall(text), *words, *quoted]))


def invented_in(answer: str, request: Iterable[str]) -> list[str]:
    """What of it the texts of a request do not hold.

    A number is held where the same one stands there, spelt otherwise perhaps, or one that it is rounded from.

    Args:
        answer: of a model.
        request: all texts that the model was given.
    """
    names = names_in(answer)
    if not names:
        return []
    held = _Held("\n".join(request))
    return [name for name in names if not held.holds(name)]


class _Held:
    """The words and numbers of a request."""

    def __init__(self, text: str) -> None:
        plain = unicodedata.normalize("NFKC", text)
        self._words = " ".join(plain.casefold().split())
        self._numbers = sorted({value for found in _NUMBER.findall(plain) for value in _values(found)})

    def holds(self, name: str) -> bool:
        if not _NUMBER.fullmatch(name):
            return " ".join(name.casefold().split()) in self._words
        values = list(_values(name))
        if not values:  # a version, a date
            return name in self._words
        return any(self._is_near(value, _half(name)) for value in values)

    def _is_near(self, value: float, half: float) -> bool:
        at = bisect_left(self._numbers, value - half)
        return at < len(self._numbers) and self._numbers[at] <= value + half


def _values(number: str) -> Iterator[float]:
    """What a number may mean: a comma stands between thousands, or before the decimals."""
    for spelt in dict.fromkeys((number.replace(",", ""), number.replace(",", "."))):
        if spelt.count(".") <= 1 and math.isfinite(value := float(spelt)):
            yield value


def _half(number: str) -> float:
    """How far a number may be from one that it is rounded from. A whole number is taken as exact."""
    decimals = len(number.rpartition(".")[2]) if "." in number else 0
    return 0.5 * 10.0**-decimals if decimals else 0.0
