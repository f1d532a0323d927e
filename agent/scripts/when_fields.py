"""The fields of a rule's condition: what a script may ask about a request."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from agent.models.rules import Condition, Count, ResultState
from agent.scripts.strict import Strict


class CountFields(Strict):
    """A number within bounds; a plain number means exactly this one."""

    at_least: Annotated[int, Field(ge=0)] | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None

    def count(self) -> Count:
        """The bounds."""
        return Count(self.at_least, self.at_most)


def _exactly(number: Any) -> Any:
    """A plain number stands for itself."""
    plain = isinstance(number, int) and not isinstance(number, bool)
    return {"at_least": number, "at_most": number} if plain else number


Number = Annotated[CountFields, BeforeValidator(_exactly)]


class WhenFields(Strict):
    """What must hold of the request; everything that is given must. See :class:`agent.models.rules.Condition`."""

    result: ResultState | None = None
    contains: str | None = None
    tool: str | None = None
    calls: Number | None = None
    turn: Number | None = None
    offered: str | None = None
    hidden: str | None = None
    last_error: str | None = None
    prompt_over: Annotated[int, Field(ge=0)] | None = None
    request_contains: str | None = None
    system_contains: str | None = None
    chance: Annotated[float, Field(ge=0, le=1)] | None = None
    negated: WhenFields | None = Field(default=None, alias="not")
    either: Annotated[list[WhenFields], Field(min_length=1)] | None = Field(default=None, alias="any")

    @model_validator(mode="after")
    def _asks_something(self) -> WhenFields:
        if not self.model_fields_set:
            raise ValueError("an empty condition always holds: leave out the rule, or make its turn the default")
        if self.model_fields_set == {"tool"}:
            raise ValueError("tool says only whose results and calls are meant: add result, contains or calls")
        return self

    def condition(self) -> Condition:
        """The condition as the fake model asks it."""
        plain = self.model_dump(exclude={"calls", "turn", "negated", "either"})
        return Condition(
            **plain,
            calls=self.calls.count() if self.calls else None,
            turn=self.turn.count() if self.turn else None,
            negated=self.negated.condition() if self.negated else None,
            either=tuple(part.condition() for part in self.either or ()),
        )
