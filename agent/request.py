"""The request: what one model call is really given. It is the message list, looked at through a list of edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, overload

from agent import tokens
from agent.messages import Message
from agent.trace import Edit, Request, Trace, TraceStep


class MessageView(Sequence[Message]):
    """The first ``upto`` messages of a list that goes on growing: a fixed request that costs nothing to make."""

    __slots__ = ("_messages", "_upto")

    def __init__(self, messages: list[Message], upto: int) -> None:
        self._messages = messages
        self._upto = upto

    def __len__(self) -> int:
        return self._upto

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return self._messages[: self._upto][index]
        if not -self._upto <= index < self._upto:
            raise IndexError("message index out of range")
        return self._messages[index if index >= 0 else self._upto + index]

    def __iter__(self) -> Iterator[Message]:
        messages = self._messages
        for index in range(self._upto):
            yield messages[index]

    def __repr__(self) -> str:
        return f"MessageView({list(self)!r})"


class Placed(NamedTuple):
    """One message of a request, or one that was left out of it, and where it comes from."""

    message: Message
    """As it was sent; one that was left out as it stands in the message list."""
    position: int
    """In the message list. An inserted message stands before that position."""
    op: str
    """keep, replace, insert or drop."""
    by: str
    """Who changed it: ``context``, ``protocol`` or an intervention; empty for keep."""


def apply_edits(messages: Sequence[Message], edits: Sequence[Edit]) -> list[Message]:
    """The messages as changed by the edits. All positions speak of the unchanged list.

    Where several edits meet one position, insertions come first, and a drop is stronger than a replacement.
    """
    dropped, replaced, inserted = by_position(edits)
    result: list[Message] = []
    for position, message in enumerate(messages):
        if position in inserted:
            result += map(_with, inserted[position])
        if position not in dropped:
            result.append(_with(replaced[position]) if position in replaced else message)
    return result + [_with(edit) for edit in inserted.get(len(messages), ())]


def lay_out(messages: Sequence[Message], edits: Sequence[Edit]) -> Iterator[Placed]:
    """The same for a person to read: every message of :func:`apply_edits`, and in its place each that is left out."""
    dropped, replaced, inserted = by_position(edits)
    for position, message in enumerate(messages):
        for edit in inserted.get(position, ()):
            yield Placed(_with(edit), position, "insert", edit.by)
        if position in dropped:
            yield Placed(message, position, "drop", dropped[position])
        elif position in replaced:
            yield Placed(_with(replaced[position]), position, "replace", replaced[position].by)
        else:
            yield Placed(message, position, "keep", "")
    for edit in inserted.get(len(messages), ()):
        yield Placed(_with(edit), len(messages), "insert", edit.by)


def by_position(edits: Sequence[Edit]) -> tuple[dict[int, str], dict[int, Edit], dict[int, list[Edit]]]:
    """The edits of a request by the positions that they concern.

    Returns:
        By position: who drops it; the replacement that holds, the last one of several; what is inserted before it.
    """
    dropped: dict[int, str] = {}
    replaced: dict[int, Edit] = {}
    inserted: dict[int, list[Edit]] = {}
    for edit in edits:
        if edit.op == "drop":
            dropped.update(dict.fromkeys(range(edit.message, edit.message + edit.count), edit.by))
        elif edit.op == "replace":
            replaced[edit.message] = edit
        else:
            inserted.setdefault(edit.message, []).append(edit)
    return dropped, replaced, inserted


def _with(edit: Edit) -> Message:
    return Message.from_dict(edit.with_ or {})


def request_of(trace: Trace, step: TraceStep) -> Sequence[Message]:
    """What the model was given in this step, exactly. Empty where the trace does not say."""
    return _sent(trace, step.request)


def _sent(trace: Trace, request: Request | None) -> Sequence[Message]:
    if request is None:
        return []
    view = MessageView(trace.messages, min(request.upto, len(trace.messages)))
    return apply_edits(view, request.edits) if request.edits else view


class PromptSizes:
    """Estimates what the requests of one run take. Each message is counted once: the list only grows."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._until = [0]  # tokens of the first so many messages

    def about(self, request: Request | None) -> int:
        """About how many prompt tokens a request takes, as it will be sent, the tools on offer included.

        Where a provider counted an earlier request, only what differs from that one is estimated.
        """
        size = self._messages(request)
        for step in reversed(self._trace.steps):
            if step.usage and step.usage.prompt_tokens is not None and not step.usage.estimated and step.request:
                return max(0, step.usage.prompt_tokens + size - self._messages(step.request))
        return size + self._schemas

    @cached_property
    def _schemas(self) -> int:
        return tokens.count_schemas(self._trace.tools)

    def _messages(self, request: Request | None) -> int:
        if request is None:
            return 0
        until, messages = self._until, self._trace.messages
        count = min(request.upto, len(messages))
        for position in range(len(until) - 1, count):
            until.append(until[-1] + tokens.count_message(messages[position]))
        dropped, replaced, inserted = by_position(request.edits)
        gone = sum(until[at + 1] - until[at] for at in {*dropped, *replaced} if 0 <= at < count)
        new = [edit for at, edit in replaced.items() if at not in dropped and 0 <= at < count]
        new += [edit for at, edits in inserted.items() if 0 <= at <= count for edit in edits]
        return until[count] - gone + tokens.count_messages(map(_with, new))
