"""The end of a sentence about a name that is not known: what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, or all of them."""
    names = list(known)
    if near := nearest_of(name, names):
        return f"; did you mean {near!r}?"
    return f"; known are {', '.join(names)}" if names else ""


def nearest_of(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like an unknown one; None where none looks like it."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), None)
