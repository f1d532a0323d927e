"""Carry-forward cost: a message is paid for once more in every later call whose request holds it.

A tool result of 4,000 tokens that 13 calls were given cost 52,000 prompt tokens, however short the answers were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from agent.trace import Trace
from traces.held import held_by_steps
from traces.sizes import Size, estimate, message_sizes


@dataclass(frozen=True, slots=True)
class Carried:
    """What one message cost as part of prompts."""

    tokens: int
    """What it takes in one prompt."""
    measured: bool
    """True where :attr:`tokens` follows from the provider's counts; else it is an estimate."""
    sent: int
    """How many requests held it, in whatever form."""
    cost: int
    """Prompt tokens that it took in all of them. Cached tokens count like others."""


def carried(trace: Trace, sizes: Sequence[Size] | None = None) -> list[Carried]:
    """What each message cost, parallel to ``trace.messages``.

    Args:
        trace: the trace.
        sizes: what :func:`traces.sizes.message_sizes` gave for it, where the caller has that already.
    """
    sizes = message_sizes(trace) if sizes is None else sizes
    count = len(trace.messages)
    changes = [0] * (count + 1)
    replaced: dict[int, list[int]] = {}
    for held in held_by_steps(trace):
        for start, end in held.spans:
            changes[start] += 1
            changes[end] -= 1
        for at, message in held.replaced:
            replaced.setdefault(at, []).append(estimate(message))
    result = []
    for at, (size, sent) in enumerate(zip(sizes, accumulate(changes[:count]), strict=True)):
        others = replaced.get(at, ())
        cost = size.tokens * sent + sum(others)
        result.append(Carried(size.tokens, size.measured and not others, sent + len(others), cost))
    return result
