"""Lineage: the runs that were forked from one another, out of the lines of the list of traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agent.events import Phase
from agent.journal import SAFE_ID
from traces.index import TraceInfo

_END = "end"


@dataclass(frozen=True, slots=True)
class Member:
    """One run of a family."""

    id: str
    depth: int
    """Forks between it and the root."""
    info: TraceInfo | None
    """Its line of the list; None for a parent that is not there (any more)."""
    step: int | None = None
    """The step of the parent at which it was forked, from 1; None for the root, or where it is not said."""
    phase: Phase | None = None
    """The phase of the parent that came next; None: the parent's turn was over, or it is not said."""


def family(infos: Iterable[TraceInfo], trace_id: str) -> list[Member]:
    """All runs that have a forefather in common with this one, each parent before its children, the oldest child first.

    A parent that is not among the lines is listed without one. Runs that name each other as parents are listed once.

    Args:
        infos: the lines of the list.
        trace_id: of the run whose family it is; it is listed even where it has no line.
    """
    by_id: dict[str, TraceInfo] = {}
    for info in infos:
        by_id.setdefault(info.id, info)
    children: dict[str, list[TraceInfo]] = {}
    for info in by_id.values():
        if info.parent:
            children.setdefault(info.parent, []).append(info)
    return list(_downwards(_root(by_id, trace_id), by_id, children))


def _root(by_id: dict[str, TraceInfo], trace_id: str) -> str:
    seen = {trace_id}
    while (info := by_id.get(trace_id)) and info.parent and info.parent not in seen:
        trace_id = info.parent
        seen.add(trace_id)
    return trace_id


def _downwards(root: str, by_id: dict[str, TraceInfo], children: dict[str, list[TraceInfo]]) -> Iterator[Member]:
    seen: set[str] = set()
    stack = [(root, 0)]
    while stack:
        trace_id, depth = stack.pop()
        if trace_id in seen:
            continue
        seen.add(trace_id)
        info = by_id.get(trace_id)
        step, phase = _point(info.at) if info and depth else (None, None)
        yield Member(trace_id, depth, info, step, phase)
        born = sorted(children.get(trace_id, ()), key=lambda child: (child.created or "", child.id))
        stack += [(child.id, depth + 1) for child in reversed(born)]


def fork_point(parent: Any, at: Any) -> tuple[str | None, str | None]:
    """The id of the parent and the point of the fork as one text, for a line of the list.

    Args:
        parent: as a trace's ``source`` has it.
        at: ``{"step", "phase"}``, as it stands there.
    """
    if not isinstance(parent, str) or not SAFE_ID.fullmatch(parent):
        return None, None
    step, phase = (at.get("step"), at.get("phase")) if isinstance(at, dict) else (None, None)
    if not isinstance(step, int) or isinstance(step, bool) or not 0 < step < 10**9:
        return parent, None
    return parent, f"{step} {phase}" if isinstance(phase, str) and phase in set(Phase) else f"{step} {_END}"


def _point(at: str | None) -> tuple[int | None, Phase | None]:
    if not at:
        return None, None
    step, _, phase = at.partition(" ")
    return int(step), None if phase == _END else Phase(phase)
