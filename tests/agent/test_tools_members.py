"""A parameter that takes chosen members of an enum: the model sees their values, the function receives the members."""

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, Field

from agent.errors import ToolDefinitionError
from agent.tools import tool


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    LARGE = 2


class Mode(StrEnum):
    FAST = "fast"


class Odd(Enum):
    YES = True
    PAIR = (1, 2)


@dataclass
class Pot:
    name: str
    color: Literal[Color.RED] = Color.RED


class Painted(BaseModel):
    color: Annotated[Literal[Color.RED], BeforeValidator(Color)]


def one(hint):
    """A tool with one parameter ``x`` of this hint, that gives the ``repr`` of what it received."""

    def show(x):
        return repr(x)

    show.__annotations__["x"] = hint
    return tool(show)


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (Literal[Color.RED], {"type": "string", "enum": ["red"]}),
        (Literal[Color.RED, Size.LARGE, "x", None], {"enum": ["red", 2, "x", None]}),
        (Literal[Color.RED] | None, {"anyOf": [{"type": "string", "enum": ["red"]}, {"type": "null"}]}),
    ],
    ids=str,
)
def test_the_model_is_offered_the_values_of_the_members(hint, schema):
    assert one(hint).parameters["properties"]["x"] == schema


@pytest.mark.parametrize(
    ("hint", "sent", "received"),
    [
        (Literal[Color.RED], "red", "<Color.RED: 'red'>"),
        (Literal[Color.RED, "x"], "x", "'x'"),
        (Literal[Size.LARGE], "2", "<Size.LARGE: 2>"),
        (Literal[Mode.FAST], "fast", "<Mode.FAST: 'fast'>"),
        (Literal[Odd.YES, 1], True, "<Odd.YES: True>"),
        (Literal[Odd.YES, 1], 1, "1"),
        (Literal[Odd.PAIR], [1, 2], "<Odd.PAIR: (1, 2)>"),
        (Literal[Color.RED] | None, "red", "<Color.RED: 'red'>"),
        (Literal[Color.RED] | None, None, "None"),
        (dict[str, list[Literal[Color.RED, Color.BLUE]]], {"a": ["blue"]}, "{'a': [<Color.BLUE: 'blue'>]}"),
        (tuple[Literal[Color.RED], ...], ["red"], "(<Color.RED: 'red'>,)"),
        (Annotated[Literal[Color.RED], Field(description="The colour.")], "red", "<Color.RED: 'red'>"),
        (Painted, {"color": "red"}, "Painted(color=<Color.RED: 'red'>)"),
    ],
    ids=str,
)
def test_the_function_receives_the_member(hint, sent, received):
    assert one(hint).run({"x": sent}).text == received


@pytest.mark.parametrize("sent", ["blue", "RED", 1, None, ["red"]])
def test_another_value_is_answered_with_what_the_parameter_takes(sent):
    result = one(Literal[Color.RED]).run({"x": sent})
    assert result.ok is False
    assert 'x takes {"type": "string", "enum": ["red"]}' in result.value["error"]


def test_a_member_may_be_the_default():
    def paint(color: Literal[Color.RED, Color.BLUE] = Color.BLUE) -> str:
        return repr(color)

    assert tool(paint).parameters["properties"]["color"]["default"] == "blue"
    assert tool(paint).run({}).text == "<Color.BLUE: 'blue'>"


def test_a_member_inside_a_class_that_no_json_value_reaches_is_refused_by_the_name_of_its_parameter():
    def paint(n: int, pots: list[Pot] | None = None) -> str:
        return ""

    with pytest.raises(ToolDefinitionError, match=r"'pots'.*Literal\[Color\.RED\].*write Color or strings"):
        tool(paint)
