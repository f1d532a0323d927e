"""The tool results of a request that is being made, each with its call, its step and its age, and which are meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from agent.interventions.draft import Draft
from agent.messages import Message, ToolCall
from agent.tool_result import error_in


class Result(NamedTuple):
    """One tool message of a request."""

    position: int
    """In the message list."""
    message: Message
    """As it stands in the request by now."""
    call: ToolCall | None
    """The call that it answers; None where its block holds none."""
    asked_at: int | None
    """Position of the assistant message with that call."""
    step: int
    """Which of the model's replies it answers, from 1. All replies of the message list count, also those left out."""
    age: int
    """How many replies came after that one: 0 for the newest results."""


class Selection(NamedTuple):
    """Which results an intervention concerns. All that is given must hold."""

    tools: Collection[str] = ()
    """Names of tools, as the model called them; empty: all."""
    from_step: int = 1
    to_step: int | None = None
    """Steps, both included; None: to the end."""
    min_age: int = 0
    max_age: int | None = None
    """Ages, both included; None: however old."""

    def covers(self, step: int, age: int) -> bool:
        """Whether a reply and its results are meant, by their step and age."""
        in_steps = self.from_step <= step and (self.to_step is None or step <= self.to_step)
        return in_steps and self.min_age <= age and (self.max_age is None or age <= self.max_age)

    def holds(self, result: Result) -> bool:
        """Whether a result is meant."""
        by_tool = not self.tools or (result.call is not None and result.call.name in self.tools)
        return by_tool and self.covers(result.step, result.age)


EVERYTHING = Selection()


def replies_in(draft: Draft) -> int:
    """How many replies of a model the message list holds."""
    return sum(message.role == "assistant" for message in draft.messages)


def results_of(draft: Draft, selection: Selection = EVERYTHING) -> list[Result]:
    """The tool messages that are meant, in order. They are paired with their calls by id, within their block."""
    last, found = replies_in(draft), list[Result]()
    step, asked_at, calls = 0, 0, dict[str, ToolCall]()
    for position, listed in enumerate(draft.messages):
        if listed.role == "assistant":
            step, asked_at = step + 1, position
            reply = draft[position]
            calls = {call.id: call for call in reply.tool_calls} if reply is not None else {}
            continue
        message = draft[position]
        if message is None:
            continue
        if message.role != "tool":
            calls = {}
            continue
        call = calls.pop(message.tool_call_id or "", None)
        result = Result(position, message, call, None if call is None else asked_at, step, last - step)
        if selection.holds(result):
            found.append(result)
    return found


def blocks(results: Iterable[Result]) -> list[list[Result]]:
    """Those results that answer a call: those of each reply together, in order."""
    found: dict[int, list[Result]] = {}
    for result in results:
        if result.asked_at is not None:
            found.setdefault(result.asked_at, []).append(result)
    return list(found.values())


def is_error(message: Message) -> bool:
    """Whether a tool message tells of a failure: a JSON object with an ``error`` that says something."""
    told = error_in(message.text)
    return told is not None and bool(told["error"])
