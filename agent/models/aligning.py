"""Two lists of messages laid side by side: what is the same, what stands for what, and what has no partner."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

_THOROUGH = 200_000
"""Largest product of two lengths that is compared item by item."""


@dataclass(slots=True)
class Alignment:
    """Positions in the two lists, from 0. What is in none of these is the same on both sides."""

    same: int = 0
    """How many items are equal and in the same order."""
    changed: list[tuple[int, int]] = field(default_factory=list)
    """Of two items of the same role that differ, one is taken for the other."""
    moved: list[tuple[int, int]] = field(default_factory=list)
    """Equal items in another order."""
    missing: list[int] = field(default_factory=list)
    """Only in the first list."""
    added: list[int] = field(default_factory=list)
    """Only in the second list."""


def align(a: Sequence[str], b: Sequence[str], roles_a: Sequence[str], roles_b: Sequence[str]) -> Alignment:
    """Lay two lists side by side.

    Where every item that differs stands in the place of one of its role, as when a replay gets other results, that is
    seen at once; else the longest common stretches are looked for.

    Args:
        a: what must be equal, for each item of the first list.
        b: the same for the second list.
        roles_a: the role of each item of the first list.
        roles_b: the same for the second list.
    """
    made = Alignment()
    if roles_a == roles_b:
        made.changed = [(at, at) for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        if not {a[at] for at, _ in made.changed} & {b[at] for _, at in made.changed}:
            made.same = len(a) - len(made.changed)
            return made
        made.changed = []
    for was, now in _stretches(a, b):
        if len(was) == len(now) and a[was.start : was.stop] == b[now.start : now.stop]:
            made.same += len(was)
            continue
        pairs = _of_equal_role(was, roles_a, now, roles_b)
        equal = [(i, j) for i, j in pairs if a[i] == b[j]]
        made.same += len(equal)
        made.changed += [(i, j) for i, j in pairs if a[i] != b[j]]
        made.missing += sorted({*was} - {i for i, _ in pairs})
        made.added += sorted({*now} - {j for _, j in pairs})
    _find_moved(made, a, b)
    return made


def _stretches(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[range, range]]:
    """The two lists cut into stretches that are equal and stretches that are not.

    What stands once in both lists, in the same order, is an anchor, as in patience diff. Only what is left between two
    anchors is compared item by item.
    """
    i = j = 0
    for anchor_a, anchor_b in [*_anchors(a, b), (len(a), len(b))]:
        inner_a, inner_b = a[i:anchor_a], b[j:anchor_b]
        if not 1 < len(inner_a) * len(inner_b) <= _THOROUGH:
            yield range(i, anchor_a), range(j, anchor_b)
        else:
            for _, i1, i2, j1, j2 in SequenceMatcher(None, inner_a, inner_b, autojunk=False).get_opcodes():
                yield range(i + i1, i + i2), range(j + j1, j + j2)
        yield range(anchor_a, min(anchor_a + 1, len(a))), range(anchor_b, min(anchor_b + 1, len(b)))
        i, j = anchor_a + 1, anchor_b + 1


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of items that stand once in each list: the longest row of them that is in order in both."""
    counts_a, counts_b = Counter(a), Counter(b)
    at = {key: j for j, key in enumerate(b) if counts_b[key] == 1}
    found = [(i, at[key]) for i, key in enumerate(a) if counts_a[key] == 1 and key in at]
    lowest: list[int] = []  # for each length, the lowest last position of a row of that length
    ends: list[int] = []  # which item that is
    before: list[int] = []  # for each item, the item before it in its row
    for number, (_, j) in enumerate(found):
        length = bisect_left(lowest, j)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [j]
        ends[length : length + 1] = [number]
    row, number = [], ends[-1] if ends else -1
    while number >= 0:
        row.append(found[number])
        number = before[number]
    return row[::-1]


def _of_equal_role(was: range, roles_a: Sequence[str], now: range, roles_b: Sequence[str]) -> list[tuple[int, int]]:
    if len(was) * len(now) > _THOROUGH:
        return [(i, j) for i, j in zip(was, now, strict=False) if roles_a[i] == roles_b[j]]
    matcher = SequenceMatcher(None, [roles_a[i] for i in was], [roles_b[j] for j in now], autojunk=False)
    blocks = matcher.get_matching_blocks()
    return [(was[i + at], now[j + at]) for i, j, size in blocks for at in range(size)]


def _find_moved(made: Alignment, a: Sequence[str], b: Sequence[str]) -> None:
    """Items that are equal but for their place, also where something else was taken for them."""
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    for i in sorted([*made.missing, *(i for i, _ in made.changed)]):
        waiting[a[i]].append(i)
    for j in sorted([*made.added, *(j for _, j in made.changed)]):
        if found := waiting[b[j]]:
            made.moved.append((found.popleft(), j))
    gone, come = {i for i, _ in made.moved}, {j for _, j in made.moved}
    broken = {(i, j) for i, j in made.changed if i in gone or j in come}
    made.changed = [pair for pair in made.changed if pair not in broken]
    made.missing = _without(made.missing, (i for i, _ in broken), gone)
    made.added = _without(made.added, (j for _, j in broken), come)


def _without(kept: list[int], more: Iterable[int], gone: set[int]) -> list[int]:
    return sorted({*kept, *more} - gone)
