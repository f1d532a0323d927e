"""Aligning two sequences: which items of one stand for which of the other, in nearly linear time."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_THOROUGH = 200_000
"""Largest product of two lengths that is compared item by item."""

_Range = tuple[int, int, int, int]
"""From and to in the first sequence, from and to in the second."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs of equal items, in order in both sequences."""

    pairs: list[tuple[int, int]]
    thorough: bool
    """False: some stretch was too long and too repetitive to look for the longest match; it was matched in order."""


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> Alignment:
    """Pair equal items of two sequences.

    Common ends first; then items that stand once in each are anchors, as in patience diff, or where there are none,
    runs of several items that do. What is left between two anchors is compared item by item where it is short.
    """
    pairs: list[tuple[int, int]] = []
    thorough = True
    todo: list[_Range] = [(0, len(a), 0, len(b))]
    while todo:
        inner = _without_ends(a, b, todo.pop(), pairs)
        if inner is None:
            continue
        alo, ahi, blo, bhi = inner
        short = (ahi - alo) * (bhi - blo) <= _THOROUGH
        if anchors := _anchors(a, b, inner, (1,) if short else (1, 4, 16)):
            for i, j in [*anchors, (ahi, bhi)]:
                todo.append((alo, i, blo, j))
                alo, blo = i + 1, j + 1
            pairs += anchors
        elif short:
            matcher = SequenceMatcher(None, a[alo:ahi], b[blo:bhi], autojunk=False)
            for i, j, size in matcher.get_matching_blocks():
                pairs += ((alo + i + n, blo + j + n) for n in range(size))
        else:
            thorough = False
            pairs += _in_order(a, b, inner)
    return Alignment(sorted(pairs), thorough)


def _without_ends(
    a: Sequence[Hashable], b: Sequence[Hashable], where: _Range, pairs: list[tuple[int, int]]
) -> _Range | None:
    """Pair what both ranges begin and end with; gives what is left of them, None where one is used up."""
    alo, ahi, blo, bhi = where
    while alo < ahi and blo < bhi and a[alo] == b[blo]:
        pairs.append((alo, blo))
        alo, blo = alo + 1, blo + 1
    while alo < ahi and blo < bhi and a[ahi - 1] == b[bhi - 1]:
        ahi, bhi = ahi - 1, bhi - 1
        pairs.append((ahi, bhi))
    return (alo, ahi, blo, bhi) if alo < ahi and blo < bhi else None


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], where: _Range, widths: Sequence[int]
) -> list[tuple[int, int]]:
    """The longest series of items that stand once in each range and in the same order.

    Args:
        a: the first sequence.
        b: the second.
        where: the ranges.
        widths: how many items in a row count as one, each tried where the one before gave nothing.
    """
    alo, ahi, blo, bhi = where
    for width in widths:
        runs_a, runs_b = _runs(a[alo:ahi], width), _runs(b[blo:bhi], width)
        counts_a, counts_b = Counter(runs_a), Counter(runs_b)
        places = {run: n for n, run in enumerate(runs_b, blo) if counts_b[run] == 1}
        unique = [(n, places[run]) for n, run in enumerate(runs_a, alo) if counts_a[run] == 1 and run in places]
        if unique:
            return _longest_rising(unique)
    return []


def _runs(items: Sequence[Hashable], width: int) -> list[Hashable]:
    """Every so many neighbours of a sequence, as one item each."""
    if width == 1:
        return list(items)
    return list(zip(*(items[n:] for n in range(width)), strict=False))


def _longest_rising(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of points, sorted by their first number, in which the second rises too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for n, (_, place) in enumerate(points):
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
        last[at : at + 1] = [n]
        before.append(last[at - 1] if at else None)
    found: list[tuple[int, int]] = []
    at_last = last[-1] if last else None
    while at_last is not None:
        found.append(points[at_last])
        at_last = before[at_last]
    return found[::-1]


def _in_order(a: Sequence[Hashable], b: Sequence[Hashable], where: _Range) -> Iterator[tuple[int, int]]:
    """Pair each item with the next equal one that is not too far ahead, so that one chance match skips little."""
    alo, ahi, blo, bhi = where
    places: dict[Hashable, list[int]] = defaultdict(list)
    for n in range(blo, bhi):
        places[b[n]].append(n)
    reach = max(50, abs((ahi - alo) - (bhi - blo)))
    after = blo
    for n in range(alo, ahi):
        found = places.get(a[n], [])
        at = bisect_left(found, after)
        if at < len(found) and found[at] <= blo + (n - alo) + reach:
            yield n, found[at]
            after = found[at] + 1
