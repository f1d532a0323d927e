"""The tool results of a message list, each with its call, its step and its age, and which of them are meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from agent.messages import Message, ToolCall
from agent.tool_result import error_in


class Result(NamedTuple):
    """One tool message."""

    position: int
    """In the message list."""
    call: ToolCall | None
    """The call that it answers; None where the list holds none."""
    asked_at: int | None
    """Position of the assistant message with that call."""
    step: int
    """Which of the model's replies it answers, from 1."""
    age: int
    """How many replies came after that one: 0 for the newest results."""


class Selection(NamedTuple):
    """Which results an intervention concerns. All that is given must hold."""

    tools: Collection[str] = ()
    """Names of tools; empty: all."""
    from_step: int = 1
    to_step: int | None = None
    """Steps, both included; None: to the end."""
    min_age: int = 0
    max_age: int | None = None
    """Ages, both included; None: however old."""

    def holds(self, result: Result) -> bool:
        """Whether a result is meant."""
        if self.tools and (result.call is None or result.call.name not in self.tools):
            return False
        in_steps = self.from_step <= result.step and (self.to_step is None or result.step <= self.to_step)
        return in_steps and self.min_age <= result.age and (self.max_age is None or result.age <= self.max_age)


EVERYTHING = Selection()


def results_of(messages: Sequence[Message], selection: Selection = EVERYTHING) -> list[Result]:
    """The tool messages that are meant, in order. They are paired with their calls by id, within their block."""
    found: list[Result] = []
    step, asked_at, calls = 0, None, dict[str, ToolCall]()
    for position, message in enumerate(messages):
        if message.role == "assistant":
            step, asked_at, calls = step + 1, position, {call.id: call for call in message.tool_calls}
        elif message.role == "tool":
            call = calls.get(message.tool_call_id or "")
            found.append(Result(position, call, None if call is None else asked_at, step, 0))
    aged = (result._replace(age=step - result.step) for result in found)
    return [result for result in aged if selection.holds(result)]


def blocks(results: Iterable[Result]) -> list[list[Result]]:
    """The results of each reply together, in order."""
    found: dict[int, list[Result]] = {}
    for result in results:
        found.setdefault(result.step, []).append(result)
    return list(found.values())


def is_error(message: Message) -> bool:
    """Whether a tool message tells of a failure."""
    return error_in(message.text) is not None
