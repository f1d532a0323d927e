"""Rules of a fake model: what a request really holds, and the conditions that ask about it.

A condition is plain data. The same request, the same number of the call and the same seed always give the same answer,
so that a fake model reacts to what is taken away from it, and a run can be said again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from agent import tokens
from agent.messages import Message, ToolCall
from agent.tool_result import error_in

ResultState = Literal["present", "missing", "blank", "error"]
_WHOLE = 2**64


class Asked(NamedTuple):
    """One tool call that a request holds, and its result there."""

    call: ToolCall
    result: str | None
    """The text of its tool message; None: the request holds none."""
    round: int
    """Which of the assistant messages with calls it stands in, from 0."""

    @property
    def failed(self) -> bool:
        """Whether the result is an error."""
        return self.result is not None and error_in(self.result) is not None


class Facts:
    """What one request holds, each fact found out when it is first asked for.

    Args:
        messages: the request.
        tool_schemas: the tools on offer, in OpenAI form.
        model_call: how many model calls the run has made before this one.
        seed: of the script, for chance.
    """

    def __init__(
        self, messages: Sequence[Message], tool_schemas: Sequence[Mapping[str, Any]], model_call: int, seed: int
    ) -> None:
        self.messages = messages
        self.model_call = model_call
        self._schemas = tool_schemas
        self._seed = seed

    @cached_property
    def asked(self) -> list[Asked]:
        """All calls in their order."""
        found: list[Asked] = []
        rounds, open_calls = 0, dict[str, int]()
        for message in self.messages:
            if message.role == "assistant" and message.tool_calls:
                open_calls = {call.id: len(found) + at for at, call in enumerate(message.tool_calls)}
                found += [Asked(call, None, rounds) for call in message.tool_calls]
                rounds += 1
            elif message.role == "tool" and (at := open_calls.pop(message.tool_call_id or "", None)) is not None:
                found[at] = found[at]._replace(result=message.text)
        return found

    def looked_at(self, tool: str | None) -> list[Asked]:
        """The calls whose results a condition looks at: those of the last round, or the last one of a tool."""
        if tool is not None:
            return [asked for asked in self.asked if asked.call.name == tool][-1:]
        return [asked for asked in self.asked if asked.round == self.asked[-1].round]

    @cached_property
    def offered(self) -> frozenset[str]:
        """The names of the tools on offer."""
        return frozenset(str((schema.get("function") or {}).get("name")) for schema in self._schemas)

    @cached_property
    def calls(self) -> Counter[str]:
        """How many calls of each tool there are."""
        return Counter(asked.call.name for asked in self.asked)

    @cached_property
    def words(self) -> str:
        """The words of all messages."""
        return self.text_of()

    @cached_property
    def last_error(self) -> str | None:
        """The last result that is an error; None where none is."""
        return next((asked.result for asked in reversed(self.asked) if asked.failed), None)

    @cached_property
    def prompt_tokens(self) -> int:
        """About how many tokens the request takes, the tools on offer included."""
        return tokens.count_messages(self.messages) + tokens.count_schemas(list(map(dict, self._schemas)))

    def text_of(self, *roles: str) -> str:
        """The words of the messages of these roles; without any, of all messages."""
        return "\n".join(message.text for message in self.messages if not roles or message.role in roles)

    def chance(self, place: str) -> float:
        """A number from 0 up to 1 that depends on the seed, the number of the call and the place of the rule alone."""
        drawn = blake2b(f"{self._seed}/{self.model_call}/{place}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn, "big") / _WHOLE


@dataclass(frozen=True, slots=True)
class Count:
    """Bounds of a number, both included; None: none."""

    at_least: int | None = None
    at_most: int | None = None

    def holds(self, number: int) -> bool:
        """Whether the number is within them."""
        return (self.at_least is None or number >= self.at_least) and (self.at_most is None or number <= self.at_most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What must hold of a request. All that is given must hold; an empty condition always holds."""

    result: ResultState | None = None
    """Of the results of the last round of calls, or of the last call of ``tool``: ``present``, all are there and say
    something; ``missing``, one is not there; ``blank``, one is there and says nothing; ``error``, one is an error. A
    request without such calls has no results, and none of these holds."""
    contains: str | None = None
    """A text that one of these results holds."""
    tool: str | None = None
    """Limits result, contains and calls to the calls of this tool."""
    calls: Count | None = None
    """How many calls the request holds."""
    turn: Count | None = None
    """Which model call of the run it is, from 1."""
    offered: str | None = None
    """A tool that is on offer."""
    hidden: str | None = None
    """A tool that is not."""
    last_error: str | None = None
    """A text that the last error among the results holds; an empty one: there is an error."""
    prompt_over: int | None = None
    """Tokens, estimated, that the request must exceed."""
    request_contains: str | None = None
    """A text that any message holds."""
    system_contains: str | None = None
    """A text that the system text holds."""
    chance: float | None = None
    """How often it holds, from 0 to 1."""
    negated: Condition | None = None
    """What must not hold; ``not`` in a script."""
    either: tuple[Condition, ...] = field(default=())
    """Of these one must hold; ``any`` in a script."""

    def holds(self, facts: Facts, place: str = "") -> bool:
        """Whether it holds.

        Args:
            facts: of the request.
            place: of the rule in its script, so that two rules draw their chances apart.
        """
        return self._of_results(facts) and self._of_request(facts) and self._of_parts(facts, place)

    def _of_results(self, facts: Facts) -> bool:
        seen = facts.looked_at(self.tool) if self.result or self.contains is not None else []
        if self.result and not (seen and _STATES[self.result](seen)):
            return False
        if self.contains is not None and not any(self.contains in (asked.result or "") for asked in seen):
            return False
        if self.calls is not None:
            return self.calls.holds(len(facts.asked) if self.tool is None else facts.calls[self.tool])
        return True

    def _of_request(self, facts: Facts) -> bool:
        return (
            (self.turn is None or self.turn.holds(facts.model_call + 1))
            and (self.offered is None or self.offered in facts.offered)
            and (self.hidden is None or self.hidden not in facts.offered)
            and (self.last_error is None or (facts.last_error is not None and self.last_error in facts.last_error))
            and (self.prompt_over is None or facts.prompt_tokens > self.prompt_over)
            and (self.request_contains is None or self.request_contains in facts.words)
            and (self.system_contains is None or self.system_contains in facts.text_of("system", "developer"))
        )

    def _of_parts(self, facts: Facts, place: str) -> bool:
        if self.chance is not None and facts.chance(place) >= self.chance:
            return False
        if self.negated is not None and self.negated.holds(facts, f"{place}/not"):
            return False
        return not self.either or any(part.holds(facts, f"{place}/{at}") for at, part in enumerate(self.either))


def _is_blank(asked: Asked) -> bool:
    return asked.result is not None and not asked.result.strip()


_STATES = {
    "present": lambda seen: all(asked.result is not None and not _is_blank(asked) for asked in seen),
    "missing": lambda seen: any(asked.result is None for asked in seen),
    "blank": lambda seen: any(map(_is_blank, seen)),
    "error": lambda seen: any(asked.failed for asked in seen),
}
