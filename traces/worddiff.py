"""What differs between two texts, word by word, and the same as plain lines to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from traces.aligning import align

Op = Literal["same", "only_a", "only_b"]

_WORDS = re.compile(r"\s|[぀-ヿ㐀-鿿豈-﫿]|[^\W_]+|[\W_]")
"""A blank, a character of a script without blanks, a word, or a sign."""
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_LONGEST = 200_000
"""Characters of both texts together up to which words are compared; beyond that whole lines."""
_AROUND = 2
"""Unchanged lines that are kept before and after a change."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that both have, or only one of them."""

    op: Op
    text: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The differences between two texts: the pieces of both in order."""

    pieces: tuple[Piece, ...]
    approximate: bool
    """True: the texts are so long that not each word was compared."""


def word_diff(a: str, b: str) -> WordDiff:
    """Compare two texts word by word; very long ones line by line, which is then said."""
    long = len(a) + len(b) > _LONGEST
    tokens = _LINES if long else _WORDS
    words_a, words_b = tokens.findall(a), tokens.findall(b)
    found = align(words_a, words_b)
    pieces: list[Piece] = []
    at_a = at_b = 0
    for i, j in [*found.pairs, (len(words_a), len(words_b))]:
        _add(pieces, "only_a", "".join(words_a[at_a:i]))
        _add(pieces, "only_b", "".join(words_b[at_b:j]))
        _add(pieces, "same", words_a[i] if i < len(words_a) else "")
        at_a, at_b = i + 1, j + 1
    return WordDiff(tuple(pieces), long or not found.thorough)


def _add(pieces: list[Piece], op: Op, text: str) -> None:
    if not text:
        return
    if pieces and pieces[-1].op == op:
        text = pieces.pop().text + text
    pieces.append(Piece(op, text))


def diff_lines(diff: WordDiff, folded: str = "… {n} …") -> str:
    """The differences as lines: ``-`` before those of the first text, ``+`` before those of the second.

    In a line that is new in part, the words that differ stand in ``[-…-]`` and ``{+…+}``. Unchanged lines far from a
    change are folded.

    Args:
        diff: of two texts.
        folded: the line that stands for ``{n}`` unchanged ones.
    """
    lines: list[str] = []
    same: list[str] = []
    for hunk in _hunks(diff.pieces):
        if not (hunk.removed or hunk.added):
            same.append(f" {hunk.text_a}")
            continue
        lines += [*_fold(same, folded, first=not lines), *_changed(hunk)]
        same = []
    return "\n".join([*lines, *_fold(same, folded, first=not lines, last=True)])


@dataclass(slots=True)
class _Hunk:
    """A stretch between two line breaks that both texts have; words that differ are marked."""

    text_a: str = ""
    text_b: str = ""
    removed: bool = False
    added: bool = False


def _hunks(pieces: tuple[Piece, ...]) -> Iterator[_Hunk]:
    hunk = _Hunk()
    for piece in pieces:
        if piece.op == "only_a":
            hunk.text_a, hunk.removed = hunk.text_a + _marked(piece.text, "[-", "-]"), True
        elif piece.op == "only_b":
            hunk.text_b, hunk.added = hunk.text_b + _marked(piece.text, "{+", "+}"), True
        else:
            head, *rest = piece.text.split("\n")
            hunk.text_a, hunk.text_b = hunk.text_a + head, hunk.text_b + head
            for line in rest:
                yield hunk
                hunk = _Hunk(line, line)
    if hunk.text_a or hunk.text_b:
        yield hunk


def _marked(text: str, begin: str, end: str) -> str:
    """Each line of a text between marks."""
    return "\n".join(f"{begin}{line}{end}" if line else "" for line in text.split("\n"))


def _changed(hunk: _Hunk) -> list[str]:
    """The lines of a hunk. Where nothing was taken away, or nothing added, one text shows all there is."""
    if not hunk.added:
        return [_line("-", line, "[-", "-]", whole=False) for line in hunk.text_a.split("\n")]
    if not hunk.removed:
        return [_line("+", line, "{+", "+}", whole=False) for line in hunk.text_b.split("\n")]
    return [
        *(_line("-", line, "[-", "-]", whole=True) for line in hunk.text_a.split("\n")),
        *(_line("+", line, "{+", "+}", whole=True) for line in hunk.text_b.split("\n")),
    ]


def _line(sign: str, line: str, begin: str, end: str, *, whole: bool) -> str:
    """One line with its sign; marks round all of it say no more than the sign does.

    Args:
        sign: ``-`` or ``+``.
        line: its words.
        begin: of a mark.
        end: of a mark.
        whole: the sign holds for lines without a mark too.
    """
    if begin not in line:
        return f"{sign if whole or not line else ' '}{line}"
    inner = line[len(begin) : -len(end)]
    return f"{sign}{inner}" if line.startswith(begin) and line.endswith(end) and end not in inner else f"{sign}{line}"


def _fold(lines: list[str], folded: str, *, first: bool, last: bool = False) -> list[str]:
    head = 0 if first else _AROUND
    tail = 0 if last else _AROUND
    hidden = len(lines) - head - tail
    if hidden < 2:
        return lines
    return [*lines[:head], folded.format(n=hidden), *lines[len(lines) - tail :]]
