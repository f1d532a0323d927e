"""What fills the context: the prompt of each step, split by who wrote it. The parts add up to the measured prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from agent import jsontext
from agent.messages import Message
from agent.trace import Trace
from traces.held import Held, held_by_steps
from traces.lookup import runs_by_result
from traces.repair import TOOL_ROLES
from traces.sizes import Size, estimate, estimate_text, message_sizes, prompt_of

MOST_TOOLS = 6
"""Tools whose results are parts of their own: those with the most tokens. The others are one part."""
_OFF = 1.15
"""How far our count may lie below the provider's for the same text; more than that is text that we do not have."""


@dataclass(frozen=True, slots=True)
class Part:
    """One band of the stack."""

    kind: str
    """system, tools (their schemas), user, assistant, result, other_results, or unseen: what the provider counted
    beyond all that the file holds, such as a system text that it leaves out."""
    name: str = ""
    """Of a result the tool's name as the trace has it, else empty."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the prompt of one step was made of."""

    step: int
    """From 1."""
    tokens: tuple[int, ...]
    """Tokens of each part, parallel to :attr:`Composition.parts`; their sum is :attr:`total`."""
    total: int
    measured: bool
    """True: the total is the provider's count, and only the shares are estimates. False: all is estimated."""
    assumed: bool
    """True where the file does not say which messages were sent."""


@dataclass(frozen=True, slots=True)
class Composition:
    """What filled the context in every step."""

    parts: tuple[Part, ...]
    """From the bottom of the stack to its top."""
    steps: tuple[StepContext, ...]
    window: int | None
    """Tokens that a request may take, where the trace says it."""


def composition(trace: Trace, sizes: Sequence[Size] | None = None) -> Composition:
    """Split the prompt of each step. Time is linear in the length of the trace.

    Args:
        trace: the trace.
        sizes: what :func:`traces.sizes.message_sizes` gave for it, where the caller has that already.
    """
    sizes = message_sizes(trace) if sizes is None else sizes
    stack = _Stack(trace, sizes)
    return Composition(tuple(stack.parts), tuple(map(stack.step, held_by_steps(trace))), _window_of(trace))


def _window_of(trace: Trace) -> int | None:
    """The context budget or window of the run in tokens, as its configuration says."""
    budget: Any = trace.config.get("context")
    limit = budget.get("max_tokens") if isinstance(budget, dict) else trace.config.get("context_window")
    return limit if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 else None


class _Stack:
    """The parts of a trace, and how many tokens of each stand before every position of the message list."""

    def __init__(self, trace: Trace, sizes: Sequence[Size]) -> None:
        tools = _tools_of_results(trace)
        keys = [_part_of(message, tools.get(at, "")) for at, message in enumerate(trace.messages)]
        self._kept = _largest(keys, sizes)
        keys = [self._known(part) for part in keys]
        self._schemas = sum(estimate_text(jsontext.dumps(schema)) for schema in trace.tools)
        calls = any(step.tools for step in trace.steps)
        headed = bool(trace.messages) and trace.messages[0].role in ("system", "developer")
        self._complete = headed and (bool(trace.tools) or not calls)
        found = dict.fromkeys(keys)
        order = [Part("system"), Part("tools"), Part("user"), Part("assistant"), *sorted(self._kept, key=_by_name)]
        self.parts = [*order, Part("other_results"), Part("unseen")]
        self._place = {part: at for at, part in enumerate(self.parts)}
        self._until = {
            part: [0, *accumulate(size.tokens if key == part else 0 for key, size in zip(keys, sizes, strict=True))]
            for part in found
        }

    def step(self, held: Held) -> StepContext:
        """The parts of one request, scaled to what the provider counted."""
        counts = [0] * len(self.parts)
        for part, until in self._until.items():
            counts[self._place[part]] = sum(until[end] - until[start] for start, end in held.spans)
        for message in (*(message for _, message in held.replaced), *held.inserted):
            counts[self._place[self._known(_part_of(message, ""))]] += estimate(message)
        counts[self._place[Part("tools")]] += self._schemas
        measured = prompt_of(held.step)
        if measured is not None:
            counts = self._fit(counts, measured)
        return StepContext(held.step.index, tuple(counts), sum(counts), measured is not None, held.assumed)

    def _fit(self, counts: list[int], measured: int) -> list[int]:
        about = sum(counts)
        scale = measured / about if about else 0.0
        if not self._complete:
            scale = min(scale, _OFF)
        counts = [int(count * scale) for count in counts]
        rest = measured - sum(counts)
        if self._complete and about:  # only what rounding left over
            counts[max(range(len(counts)), key=counts.__getitem__)] += rest
        else:
            counts[-1] += rest
        return counts

    def _known(self, part: Part) -> Part:
        return part if part.kind != "result" or part in self._kept else Part("other_results")


def _tools_of_results(trace: Trace) -> dict[int, str]:
    return {at: run.name for at, run in runs_by_result(trace.steps).items()}


def _part_of(message: Message, tool: str) -> Part:
    if message.role in TOOL_ROLES:
        return Part("result", tool or message.name or "")
    if message.role in ("system", "developer"):
        return Part("system")
    return Part("assistant" if message.role == "assistant" else "user")


def _largest(keys: Sequence[Part], sizes: Sequence[Size]) -> set[Part]:
    totals: Counter[Part] = Counter()
    for part, size in zip(keys, sizes, strict=True):
        if part.kind == "result":
            totals[part] += size.tokens
    return {part for part, _ in totals.most_common(MOST_TOOLS)}


def _by_name(part: Part) -> str:
    return part.name
