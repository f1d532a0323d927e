"""The fields of a rule's condition: what a script may ask about a request."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from agent.models.rules import Condition, Count, ResultState
from agent.scripts.strict import Misplaced, Strict, found

SomeText = Annotated[str, Field(min_length=1)]
Bound = Annotated[int, Field(ge=0)]


class CountFields(Strict):
    """A number within bounds; a plain number means exactly this one."""

    at_least: Bound | None = None
    at_most: Bound | None = None

    @model_validator(mode="after")
    def _bounds_something(self) -> CountFields:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give a whole number, or at_least, at_most or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise Misplaced(["at_least"], f"no number is at least {self.at_least} and at most {self.at_most}")
        return self

    def count(self) -> Count:
        """The bounds."""
        return Count(self.at_least, self.at_most)


def _exactly(value: Any) -> Any:
    """A plain number stands for itself."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"at_least": value, "at_most": value}
    if not isinstance(value, dict):
        raise ValueError(f"expected a whole number, or a mapping with at_least or at_most, found {found(value)}")
    return value


Number = Annotated[CountFields, BeforeValidator(_exactly)]


class WhenFields(Strict):
    """What must hold of the request; everything that is given must. See :class:`agent.models.rules.Condition`."""

    result: ResultState | None = None
    contains: SomeText | None = None
    tool: SomeText | None = None
    calls: Number | None = None
    turn: Number | None = None
    offered: SomeText | None = None
    hidden: SomeText | None = None
    last_error: str | None = None
    prompt_over: Bound | None = None
    request_contains: SomeText | None = None
    system_contains: SomeText | None = None
    chance: Annotated[float, Field(ge=0, le=1)] | None = None
    negated: WhenFields | None = Field(default=None, alias="not")
    either: Annotated[list[WhenFields], Field(min_length=1)] | None = Field(default=None, alias="any")

    @model_validator(mode="after")
    def _asks_something(self) -> WhenFields:
        asked = {name for name in self.model_fields_set if getattr(self, name) is not None}
        if not asked:
            raise ValueError("an empty condition always holds: leave out the rule, or make what it says the default")
        if "tool" in asked and not asked & {"result", "contains", "calls"}:
            raise Misplaced(["tool"], "tool says only whose results and calls are meant: add result, contains or calls")
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
