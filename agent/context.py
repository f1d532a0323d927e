"""The context budget: what leaves the request, and in which order, when the message list outgrows the window.

First the oldest call/result blocks go, as whole blocks. When that is not enough, the turns before the last user message
become one summary in the system text. The system message, the last user message and the newest block always stay. The
message list itself never changes: all of this is edits of the request, and the trace records them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import Any

from agent import tokens
from agent.cutting import head, tail
from agent.errors import ContextOverflow, InputError
from agent.messages import Message
from agent.state import ContextState
from agent.trace import Edit

Summarise = Callable[[list[Message]], str]
"""A separate model call that is not a step: messages in, text of the summary out."""

SUMMARY_INSTRUCTION = (
    "Summarise the earlier part of a conversation between a user, an assistant and its tools. Keep every fact, number, "
    "name and decision that may still be needed. Answer with the summary alone."
)


_ENOUGH_TO_LEARN = 40
"""Tokens by which two requests must differ before their counts say how the provider's tokens relate to ours."""
_MOST_OFF = 4.0
"""The provider's vocabulary is taken to differ from our estimate by no more than this factor."""
_AFTER_REFUSAL = 0.7
"""Share of a refused request that the next one may take: our count was too low by an unknown amount."""


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """How long a request may be. Tokens are the provider's count where it reports one, else an estimate."""

    max_tokens: int
    """Tokens that a request may take: system text, tools and messages."""
    max_result_tokens: int | None = None
    """Tokens that one tool result may bring into the message list; None: a quarter of ``max_tokens``."""
    summarise: bool = True
    """Whether older turns may become a summary, which costs a model call."""

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_result_tokens"):
            value = getattr(self, name)
            unset = value is None and name == "max_result_tokens"
            if not unset and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InputError(f"{name} must be a whole number of tokens from 1, not {value!r}")

    @property
    def result_limit(self) -> int:
        """Tokens after which a tool result is cut in the middle."""
        return self.max_result_tokens if self.max_result_tokens is not None else max(1, self.max_tokens // 4)

    def to_dict(self) -> dict[str, Any]:
        """JSON data, as it stands in a trace's ``config``."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ContextBudget:
        """Read what :meth:`to_dict` wrote."""
        return cls(**{key: value for key, value in data.items() if key in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the budget made of one request."""

    edits: list[Edit]
    tokens: int
    """Tokens of the request as it will be sent."""
    before: int
    """Tokens it would have taken had nothing more been left out than before."""
    changed: bool
    """Whether something more was left out than for the request before."""


class ContextWindow:
    """The budget at work on one run. Counts each message once, so that a step costs the same however long the run is.

    Args:
        budget: the limits.
        state: what was done so far; updated in place.
        schemas_tokens: what the tools on offer take in every request.
    """

    def __init__(self, budget: ContextBudget, state: ContextState, schemas_tokens: int = 0) -> None:
        self.budget = budget
        self.state = state
        self._schemas = schemas_tokens
        self._sizes: list[int] = []
        self._kept = 0

    def copy(self) -> ContextWindow:
        """Another one for the same run, that may be tried out without a trace."""
        return ContextWindow(self.budget, deepcopy(self.state), self._schemas)

    def fit(self, messages: Sequence[Message], task_at: int, summarise: Summarise) -> Fitted:
        """Bring the request below the limit.

        Args:
            messages: the message list.
            task_at: position of the user's message that the run is working on; it stays.
            summarise: makes the summary, when one is needed.

        Raises:
            ContextOverflow: it cannot be done.
            ModelError: the summary call failed.
        """
        self._count(messages)
        limit = min(self.budget.max_tokens, self.state.limit or self.budget.max_tokens)
        before = self._total()
        blocks = _droppable_blocks(messages, self._dropped_until(messages))
        while self._total() > limit and (block := next(blocks, None)):
            self._drop(*block)
        if self._total() > limit and self.budget.summarise:
            self._summarise(messages, task_at, summarise)
        if self._total() > limit:
            raise ContextOverflow(self._overflow(messages, limit))
        changed = self._total() != before
        return Fitted(self.edits(messages), self._total(), before, changed)

    def edits(self, messages: Sequence[Message]) -> list[Edit]:
        """The edits that stand for everything left out so far."""
        if not self.state.dropped:
            return []
        drops = [Edit(op="drop", message=start, count=end - start, by="context") for start, end in self.state.dropped]
        system = Message("system", _system_text(messages, self.state)).to_dict()
        op = "replace" if _has_system(messages) else "insert"
        return [Edit(op=op, message=0, by="context", with_=system), *drops]

    def learn(self, sent: Sequence[Message], reported: int | None) -> None:
        """Take over the provider's count of a request, which we had only estimated.

        Args:
            sent: the part of the message list that the request was made of.
            reported: prompt tokens; None teaches nothing.
        """
        self._count(sent)
        if not reported:
            return
        state, estimated = self.state, self._estimate()
        if state.known and abs(estimated - state.known[0]) >= _ENOUGH_TO_LEARN:
            growth = (reported - state.known[1]) / (estimated - state.known[0])
            state.scale = min(max(growth, 1 / _MOST_OFF), _MOST_OFF)
        state.offset = reported - state.scale * estimated
        state.known = [estimated, reported]

    def refused(self, step: int, sent: Sequence[Message]) -> bool:
        """A provider found the request of this step too long. True: leave more out and try once more."""
        self._count(sent)
        if self.state.refused_step == step:
            return False
        self.state.refused_step = step
        self.state.limit = int(min(self._total(), self.budget.max_tokens) * _AFTER_REFUSAL)
        return True

    def _count(self, messages: Sequence[Message]) -> None:
        gone = {at for start, end in self.state.dropped for at in range(start, end)} if not self._sizes else ()
        for position in range(len(self._sizes), len(messages)):
            size = tokens.count_message(messages[position])
            self._sizes.append(size)
            if position not in gone:
                self._kept += size

    def _estimate(self) -> int:
        extra = tokens.count_text(_notice(self.state)) if self.state.dropped else 0
        return self._schemas + self._kept + extra

    def _total(self) -> int:
        return max(0, round(self._estimate() * self.state.scale + self.state.offset))

    def _drop(self, start: int, end: int) -> None:
        self._kept -= sum(self._sizes[start:end])
        ranges = self.state.dropped
        if ranges and ranges[-1][1] == start:
            ranges[-1][1] = end
        else:
            ranges.append([start, end])

    def _dropped_until(self, messages: Sequence[Message]) -> int:
        return self.state.dropped[-1][1] if self.state.dropped else int(_has_system(messages))

    def _summarise(self, messages: Sequence[Message], end: int, summarise: Summarise) -> None:
        start = int(_has_system(messages))
        covered = self.state.dropped[0] if self.state.dropped and self.state.summary else None
        fresh = [messages[at] for at in range(covered[1] if covered else start, end)]
        if not fresh:
            return
        self.state.summary = summarise(self._summary_request(fresh))
        self._kept = sum(self._sizes[:start]) + sum(self._sizes[end:])
        for left, right in (later := [r for r in self.state.dropped if r[1] > end]):
            self._kept -= sum(self._sizes[max(left, end) : right])
        self.state.dropped = [[start, end], *([max(left, end), right] for left, right in later)]

    def _summary_request(self, fresh: list[Message]) -> list[Message]:
        room = max(50, self.budget.max_tokens // max(1, 2 * len(fresh)))
        lines = [f"Summary so far: {self.state.summary}"] if self.state.summary else []
        lines += [_told(message, room) for message in fresh]
        return [Message("system", SUMMARY_INSTRUCTION), Message("user", "\n".join(lines))]

    def _overflow(self, messages: Sequence[Message], limit: int) -> str:
        system = self._sizes[0] if _has_system(messages) else 0
        fixed = max(0, round((system + self._schemas) * self.state.scale + self.state.offset))
        kind = "from the provider's count" if self.state.known else "estimated"
        return (
            f"the request needs {self._total()} tokens ({kind}) and the limit is {limit}: system text and tools take "
            f"{fixed}, the messages that must stay take {self._total() - fixed}"
        )


def cap_result(text: str, limit: int) -> str:
    """A tool result of at most about ``limit`` tokens: its head and its tail, and how much was left out between.

    Gives the same object back when it is short enough. Cut between words where it can be (:mod:`agent.cutting`);
    measured in tokens, so that Chinese text and base64 are cut as well.
    """
    if len(text) < limit or (size := tokens.count_text(text)) <= limit:
        return text
    keep = max(20, int(len(text) * limit / size))
    if keep >= len(text):
        return text
    first, last = head(text, keep * 2 // 3), tail(text, keep - keep * 2 // 3)
    omitted = len(text) - len(first) - len(last)
    return f"{first}\n[… {omitted} of {len(text)} characters omitted]\n{last}"


def _droppable_blocks(messages: Sequence[Message], start: int) -> Iterator[tuple[int, int]]:
    """Blocks of a call and its results, oldest first, without the newest block."""
    at = start
    while at < len(messages):
        end = at + 1
        if messages[at].tool_calls:
            while end < len(messages) and messages[end].role == "tool":
                end += 1
            if end >= len(messages):
                return
            yield at, end
        at = end


def _has_system(messages: Sequence[Message]) -> bool:
    return bool(messages) and messages[0].role in ("system", "developer")


def _notice(state: ContextState) -> str:
    left_out = sum(end - start for start, end in state.dropped)
    note = f"[{left_out} earlier messages were left out to fit the context; call a tool again if you need its result.]"
    return f"{note}\nSummary of what was left out:\n{state.summary}" if state.summary else note


def _system_text(messages: Sequence[Message], state: ContextState) -> str:
    text = messages[0].text if _has_system(messages) else ""
    return f"{text}\n\n{_notice(state)}".strip()


def _told(message: Message, room: int) -> str:
    calls = "".join(f" [calls {call.name}({call.arguments_text()})]" for call in message.tool_calls)
    return f"{message.role}: {cap_result(message.text, room)}{calls}"
