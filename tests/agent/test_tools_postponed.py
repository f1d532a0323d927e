"""Hints that are strings, as they all are under this import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from agent import tools
from agent.errors import ToolDefinitionError
from agent.tools import RunContext, Tool, tool

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass
class Wallet:
    owner: str
    coins: int = 0


def pay(n: int, mode: Literal["a", "b"] = "a", p: Path | None = None, w: Wallet | None = None, q: "int" = 1) -> str:  # noqa: UP037
    """Pay."""
    return f"{n!r} {mode!r} {p!r} {w!r} {q!r}"


def test_string_hints_give_the_same_schema_as_the_objects_they_name():
    def resolved(n, mode="a", p=None, w=None, q=1):
        return ""

    resolved.__annotations__ = {
        "n": int, "mode": Literal["a", "b"], "p": Path | None, "w": Wallet | None, "q": int,
    }  # fmt: skip
    assert tool(pay).parameters == tool(resolved).parameters
    assert tool(pay).parameters["properties"]["n"] == {"type": "integer"}
    assert tool(pay).parameters["properties"]["mode"]["enum"] == ["a", "b"]


def test_string_hints_convert_like_the_objects_they_name():
    result = tool(pay).run({"n": 1, "w": {"owner": "Ann", "coins": 2}, "q": "3"})
    assert result.text == "1 'a' None Wallet(owner='Ann', coins=2) 3"


def test_the_context_is_recognised_by_its_name_in_a_string():
    def greet(text: str, ctx: RunContext, other: tools.RunContext | None = None) -> str:
        return f"{text} {ctx.step} {other.step}"

    made = tool(greet)
    assert list(made.parameters["properties"]) == ["text"]
    assert made.run({"text": "hi", "ctx": {"step": 9}}, RunContext(step=2)).text == "hi 2 2"


def test_the_context_of_a_hand_written_tool_is_recognised_too():
    def greet(text: str, ctx: RunContext) -> str:
        return f"{text} {ctx.step}"

    made = Tool(name="greet", description="", parameters={"properties": {"text": {"type": "string"}}}, func=greet)
    assert made.run({"text": "hi", "ctx": 1}, RunContext(step=2)).text == "hi 2"


def test_a_hint_known_only_to_type_checkers_is_refused_by_name():
    def price(n: int, amount: Decimal) -> str:
        return str(amount)

    with pytest.raises(ToolDefinitionError, match=r"'price'.*'amount'.*'Decimal'"):
        tool(price)


def test_a_local_class_that_the_function_cannot_see_is_refused_by_name():
    def make():
        @dataclass
        class Parcel:
            weight: int

        def send(n: int, parcel: Parcel) -> str:
            return "sent"

        return send

    with pytest.raises(ToolDefinitionError, match=r"'parcel'.*'Parcel'"):
        tool(make())


def test_a_local_class_that_the_function_uses_is_found():
    def make():
        @dataclass
        class Parcel:
            weight: int

        def send(n: int, parcel: Parcel) -> str:
            return "sent" if isinstance(parcel, Parcel) else "lost"

        return send

    assert tool(make()).run({"n": 1, "parcel": {"weight": 2}}).text == "sent"
