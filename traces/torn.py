"""A JSON document that ends in its middle, as a killed program leaves it: everything before its last whole item."""

from __future__ import annotations

import re

_MARKS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{},]', re.DOTALL)
"""Strings (the last of them may be without its end), and what opens, closes and parts values outside of them."""
_CLOSING = {b"[": b"]", b"{": b"}"}


def mended(data: bytes) -> tuple[bytes, int] | None:
    """The document up to its last whole item with all brackets closed, and the line on which it was cut.

    An item is what stands in a list; where no list has a whole one, it is a key with its value. None where the document
    does not end early: nothing is open at its end, or more was closed than opened.
    """
    opened: list[bytes] = []
    item = key = (0, 0)
    """Where to cut, and how many brackets are open there."""
    for found in _MARKS.finditer(data):
        mark = found[0]
        if mark in _CLOSING:
            opened.append(mark)
        elif not mark.startswith(b'"'):
            if not opened:
                return None
            if mark != b",":
                opened.pop()
            key = (found.start() if mark == b"," else found.end(), len(opened))
            if mark == b"]" or opened[-1:] == [b"["] or len(opened) < item[1]:
                item = key
    cut, depth = item if item[1] else key
    if not opened or not depth:
        return None
    closing = b"".join(_CLOSING[mark] for mark in reversed(opened[:depth]))
    return data[:cut] + closing, data.count(b"\n", 0, cut) + 1
