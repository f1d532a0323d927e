"""Two traces side by side: what is the same, where they part, and what it cost.

Messages are aligned by their content; ids, times and the numbers of the model calls do not count. Between two messages
that are the same, those of the same kind are taken for versions of each other, which is a guess and is said to be one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from agent import jsontext
from agent.messages import Message, ToolCall
from agent.trace import ToolRun, Trace, TraceStep
from traces.aligning import align
from traces.billing import bill_of, total_cost
from traces.lookup import steps_by_reply
from traces.prices import PriceTable
from traces.repair import as_text
from traces.summary import TraceSummary, summarise
from traces.text import message_text
from traces.timing import wall_time

Kind = Literal["same", "changed", "only_a", "only_b"]

GUESSED = "Messages that differ are paired by their role, their tools and their order."
IN_ORDER = "A stretch is so long and repeats so much that its messages are paired in order only."
"""Why an alignment is approximate; fixed sentences, so that a page can translate them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison: a message of either trace, or one of each that belong together."""

    kind: Kind
    a: int | None
    """Position in the first trace."""
    b: int | None
    """Position in the second trace."""
    differs: tuple[str, ...] = ()
    """Of a changed pair what differs: role, text, calls or reasoning."""


@dataclass(frozen=True, slots=True)
class StepPair:
    """Two steps that belong together, or one that the other trace does not have."""

    a: TraceStep | None
    b: TraceStep | None
    same: bool
    """Both made the same message."""


@dataclass(frozen=True, slots=True)
class Delta:
    """One number of both traces. ``None``: not reported."""

    name: str
    a: float | None
    b: float | None
    computed: bool = False
    """A cost that no file says: it comes from the table of prices, at least in part."""

    @property
    def change(self) -> float | None:
        """Second less first; None where one of them is not reported."""
        return None if self.a is None or self.b is None else self.b - self.a


@dataclass(frozen=True, slots=True)
class ToolUse:
    """How often one tool was called in each trace, and how often it failed."""

    name: str
    calls_a: int
    calls_b: int
    errors_a: int
    errors_b: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two traces compared."""

    rows: tuple[Row, ...]
    prefix: int
    """How many rows from the first on are the same."""
    steps: tuple[StepPair, ...]
    deltas: tuple[Delta, ...]
    tools: tuple[ToolUse, ...]
    """Tools that either trace called, those with the largest difference first."""
    outcome_a: str | None
    """The stop reason; None where the file does not say."""
    outcome_b: str | None
    same_answer: bool | None
    """Whether the final answers are equal; None where neither has one."""
    approximate: tuple[str, ...]
    """Why the alignment is a guess in parts; empty where it is not."""

    @property
    def divergence(self) -> int | None:
        """The first row at which the traces differ; None: their messages are the same."""
        return self.prefix if self.prefix < len(self.rows) else None

    def count(self, kind: Kind) -> int:
        """How many rows are of this kind."""
        return sum(row.kind == kind for row in self.rows)


def compare(a: Trace, b: Trace, prices: PriceTable | None = None) -> Comparison:
    """Compare two traces. It takes time in proportion to their length, also where they have little in common.

    Args:
        a: the first trace.
        b: the second trace.
        prices: for costs that a file does not say; None: they stay unknown.
    """
    rows, approximate = _rows(a.messages, b.messages)
    summary_a, summary_b = summarise(a), summarise(b)
    answers = a.outcome.final, b.outcome.final
    return Comparison(
        rows=tuple(rows),
        prefix=next((n for n, row in enumerate(rows) if row.kind != "same"), len(rows)),
        steps=tuple(_steps(a.steps, b.steps, rows)),
        deltas=tuple(_deltas(a, b, summary_a, summary_b, prices or PriceTable())),
        tools=tuple(_tools(a, b)),
        outcome_a=summary_a.outcome,
        outcome_b=summary_b.outcome,
        same_answer=answers[0] == answers[1] if any(answers) else None,
        approximate=approximate,
    )


# -- messages ------------------------------------------------------------------------------------------------------


def _content(message: Message) -> Hashable:
    """What makes two messages the same."""
    content = message.content
    text = content if content is None or isinstance(content, str) else jsontext.canonical(content)
    return message.role, text or "", message.reasoning, tuple(map(_call, message.tool_calls))


def _call(call: ToolCall) -> tuple[str, str]:
    return call.name, call.text or "" if call.problem else jsontext.canonical(call.arguments)


def _shape(message: Message) -> Hashable:
    """What makes two different messages versions of each other."""
    return message.role, tuple(call.name for call in message.tool_calls), message.name


def _rows(a: Sequence[Message], b: Sequence[Message]) -> tuple[list[Row], tuple[str, ...]]:
    keys_a, keys_b = list(map(_content, a)), list(map(_content, b))
    found = align(keys_a, keys_b)
    rows: list[Row] = []
    reasons = [] if found.thorough else [IN_ORDER]
    borders = [(-1, -1), *found.pairs, (len(a), len(b))]
    for (i, j), (next_i, next_j) in pairwise(borders):
        rows += [Row("same", i, j)] if i >= 0 else []
        between, guessed = _between(a, b, range(i + 1, next_i), range(j + 1, next_j))
        rows += between
        if guessed and GUESSED not in reasons:
            reasons.append(GUESSED)
    return rows, tuple(reasons)


def _between(a: Sequence[Message], b: Sequence[Message], in_a: range, in_b: range) -> tuple[list[Row], bool]:
    """The rows of a stretch in which nothing is the same, and whether their pairs are a guess.

    A stretch of one message on each side of the same role leaves no other choice.
    """
    pairs = _versions(a, b, in_a, in_b)
    rows: list[Row] = []
    at_a, at_b = in_a.start, in_b.start
    for i, j in [*pairs, (in_a.stop, in_b.stop)]:
        rows += [Row("only_a", n, None) for n in range(at_a, i)]
        rows += [Row("only_b", None, n) for n in range(at_b, j)]
        if i < in_a.stop:
            rows.append(Row("changed", i, j, _differences(a[i], b[j])))
        at_a, at_b = i + 1, j + 1
    return rows, bool(pairs) and not len(in_a) == len(in_b) == 1


def _versions(a: Sequence[Message], b: Sequence[Message], in_a: range, in_b: range) -> list[tuple[int, int]]:
    """Messages of a stretch that are versions of each other: of the same shape first, then of the same role."""
    if not in_a or not in_b:
        return []
    alike = align([_shape(a[n]) for n in in_a], [_shape(b[n]) for n in in_b]).pairs
    pairs = [(in_a[i], in_b[j]) for i, j in alike]
    borders = [(in_a.start - 1, in_b.start - 1), *pairs, (in_a.stop, in_b.stop)]
    for (i, j), (next_i, next_j) in pairwise(borders):
        roles = align([a[n].role for n in range(i + 1, next_i)], [b[n].role for n in range(j + 1, next_j)]).pairs
        pairs += [(i + 1 + x, j + 1 + y) for x, y in roles]
    return sorted(pairs)


def _differences(a: Message, b: Message) -> tuple[str, ...]:
    parts = {
        "role": a.role != b.role,
        "text": a.content != b.content,
        "calls": list(map(_call, a.tool_calls)) != list(map(_call, b.tool_calls)),
        "reasoning": a.reasoning != b.reasoning,
    }
    return tuple(name for name, differs in parts.items() if differs)


def whole_text(message: Message) -> str:
    """All that a message says, for a comparison of words: reasoning, text and calls with their arguments."""
    calls = (f"{call.name}({_arguments(call)})" for call in message.tool_calls)
    return "\n".join(part for part in (message.reasoning, message_text(message), *calls) if part)


def _arguments(call: ToolCall) -> str:
    if call.problem:
        return as_text(call.text or "")
    return jsontext.dumps(call.arguments, indent=True) if call.arguments else ""


# -- steps and numbers ---------------------------------------------------------------------------------------------


def _steps(a: Sequence[TraceStep], b: Sequence[TraceStep], rows: Sequence[Row]) -> list[StepPair]:
    """Steps are paired as their replies are; those without a reply of their own stand where their number puts them."""
    by_reply_a = steps_by_reply(a)
    by_reply_b = steps_by_reply(b)
    pairs: list[StepPair] = []
    for row in rows:
        step_a = None if row.a is None else by_reply_a.get(row.a)
        step_b = None if row.b is None else by_reply_b.get(row.b)
        if step_a or step_b:
            pairs.append(StepPair(step_a, step_b, row.kind == "same"))
    pairs = _insert(pairs, [StepPair(step, None, False) for step in a if step.reply is None])
    return _insert(pairs, [StepPair(None, step, False) for step in b if step.reply is None])


def _insert(pairs: list[StepPair], more: list[StepPair]) -> list[StepPair]:
    """Put steps without a reply before the first later step of their own trace."""
    for pair in more:
        later = (
            n
            for n, other in enumerate(pairs)
            if (pair.a and other.a and other.a.index > pair.a.index)
            or (pair.b and other.b and other.b.index > pair.b.index)
        )
        pairs.insert(next(later, len(pairs)), pair)
    return pairs


def _deltas(
    a: Trace, b: Trace, summary_a: TraceSummary, summary_b: TraceSummary, prices: PriceTable
) -> Iterable[Delta]:
    cost_a = total_cost(summary_a.cost, bill_of(a, summary_a.cost), prices)
    cost_b = total_cost(summary_b.cost, bill_of(b, summary_b.cost), prices)
    tokens_a, tokens_b = summary_a.tokens, summary_b.tokens
    time_a, time_b = wall_time(a), wall_time(b)
    yield Delta("steps", summary_a.steps, summary_b.steps)
    yield Delta("messages", summary_a.messages, summary_b.messages)
    yield Delta("tool_calls", summary_a.tool_calls, summary_b.tool_calls)
    yield Delta("errors", summary_a.errors, summary_b.errors)
    yield Delta("prompt_tokens", tokens_a.prompt_tokens, tokens_b.prompt_tokens)
    yield Delta("cached_tokens", tokens_a.cached_tokens, tokens_b.cached_tokens)
    yield Delta("completion_tokens", tokens_a.completion_tokens, tokens_b.completion_tokens)
    yield Delta("total_tokens", tokens_a.total, tokens_b.total)
    yield Delta("cost", cost_a.value, cost_b.value, cost_a.computed or cost_b.computed)
    yield Delta("duration_s", summary_a.duration_s, summary_b.duration_s)
    yield Delta("model_s", time_a.model, time_b.model)
    yield Delta("tools_s", time_a.tools, time_b.tools)


def _tools(a: Trace, b: Trace) -> list[ToolUse]:
    runs_a, runs_b = _runs(a), _runs(b)
    calls_a, calls_b = Counter(run.name for run in runs_a), Counter(run.name for run in runs_b)
    errors_a = Counter(run.name for run in runs_a if run.ok is False)
    errors_b = Counter(run.name for run in runs_b if run.ok is False)
    used = [ToolUse(n, calls_a[n], calls_b[n], errors_a[n], errors_b[n]) for n in dict.fromkeys([*calls_a, *calls_b])]
    return sorted(used, key=lambda use: -abs(use.calls_b - use.calls_a))


def _runs(trace: Trace) -> list[ToolRun]:
    return [run for step in trace.steps for run in step.tools]
