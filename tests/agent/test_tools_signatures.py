"""The schema and the call that a plain signature gives; hints are objects here, strings in test_tools_postponed.py."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from agent.errors import ToolDefinitionError
from agent.tools import ToolRegistry, tool


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


@dataclass
class Node:
    name: str
    children: list["Node"] = field(default_factory=list)


class Point(BaseModel):
    x: int
    y: int = 0


class Route(BaseModel):
    start: Point
    stops: list[Point] = []


def one(hint, default=...):
    """A tool with one parameter ``x`` of this hint, that gives the ``repr`` of what it received."""

    def show(x):
        return repr(x)

    show.__annotations__["x"] = hint
    if default is not ...:
        show.__defaults__ = (default,)
    return tool(show)


def schema_of(hint, **more):
    return one(hint, **more).parameters["properties"]["x"]


def nodes(schema):
    """Every schema inside a schema, itself included."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            for inner in value.values():
                yield from nodes(inner)
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            for inner in value:
                yield from nodes(inner)
        elif key in ("items", "additionalProperties"):
            yield from nodes(value)


HINTS = [
    str, int, float, bool, Any, None, list, list[dict], tuple, tuple[int, str], tuple[int, ...], tuple[()], set[str],
    frozenset[int], dict, dict[str, list[int]], dict[str, tuple[int, str]], Color, Size, Literal["a", 1, True],
    Literal[Color.RED], list[Literal[Color.RED, "x"]] | None,
    int | None, int | str, list[Color | None], datetime, date, timedelta, Path, UUID, Decimal, bytes, Node, list[Node],
    Point, Route, Route | Point | None, Sequence[int], Iterable[str], Mapping[str, int],
    Annotated[int, Field(ge=1, description="At least one.")],
]  # fmt: skip


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_every_schema_is_plain_json_without_references_and_with_items(hint):
    schema = one(hint).schema()
    json.dumps(schema, allow_nan=False)
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "$defs" not in text
    assert all("items" in node for node in nodes(schema["function"]["parameters"]) if node.get("type") == "array")


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Color, {"type": "string", "enum": ["red", "blue"]}),
        (Size, {"type": "integer", "enum": [1, 2]}),
        (Literal["loud", "quiet"], {"type": "string", "enum": ["loud", "quiet"]}),
        (Literal[1, 2, "auto"], {"enum": [1, 2, "auto"]}),
        (Literal[True], {"type": "boolean", "enum": [True]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Literal["a"] | None, {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (Point, {"type": "object", "required": ["x"],
                 "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}}}),
    ],
    ids=str,
)  # fmt: skip
def test_a_hint_becomes_this_schema(hint, schema):
    assert schema_of(hint) == schema


def test_a_tuple_has_items_for_hosts_that_do_not_know_prefix_items():
    schema = schema_of(tuple[int, str])
    assert schema["prefixItems"] == [{"type": "integer"}, {"type": "string"}]
    assert schema["items"] == {"anyOf": schema["prefixItems"]}
    assert (schema["minItems"], schema["maxItems"]) == (2, 2)


def test_a_recursive_type_ends_at_a_stated_depth_and_still_takes_deeper_values():
    schema = schema_of(Node)
    depth = 0
    while "properties" in schema:
        assert schema["properties"]["name"] == {"type": "string"}
        schema, depth = schema["properties"]["children"]["items"], depth + 1
    assert (schema, depth) == ({"type": "object"}, 3)
    deep = {"name": "a", "children": [{"name": "b", "children": [{"name": "c", "children": [{"name": "d"}]}]}]}
    assert "Node(name='d', children=[])" in one(Node).run({"x": deep}).text
    deep["children"][0]["children"][0]["children"][0]["name"] = 4
    assert "wrong arguments: x.children" in one(Node).run({"x": deep}).value["error"]


@pytest.mark.parametrize(
    ("hint", "sent", "received"),
    [
        (int, 5, "5"),
        (int, "5", "5"),
        (int, 5.0, "5"),
        (int, 2**70, str(2**70)),
        (float, 5, "5.0"),
        (float, "5.5", "5.5"),
        (bool, "True", "True"),
        (bool, "false", "False"),
        (int | None, "7", "7"),
        (int | None, None, "None"),
        (int | str, 5, "5"),
        (int | str, "5", "'5'"),
        (list[int], "[1, 2]", "[1, 2]"),
        (list[int], '["1", "2"]', "[1, 2]"),
        (dict, '{"a": 1}', "{'a': 1}"),
        (Route, {"start": {"x": "1"}}, "Route(start=Point(x=1, y=0), stops=[])"),
        (Color, "red", "<Color.RED: 'red'>"),
        (Size, 2, "<Size.LARGE: 2>"),
        (Literal[1, 2, "auto"], "auto", "'auto'"),
        (Literal[True], True, "True"),
        (datetime, "2026-01-02T03:04:05", "datetime.datetime(2026, 1, 2, 3, 4, 5)"),
        (datetime, "2026-01-02 03:04", "datetime.datetime(2026, 1, 2, 3, 4)"),
        (date, "2026-01-02", "datetime.date(2026, 1, 2)"),
        (time, "03:04", "datetime.time(3, 4)"),
        (timedelta, "PT5S", "datetime.timedelta(seconds=5)"),
        (set[str], ["b"], "{'b'}"),
        (tuple[int, int], [1, 2], "(1, 2)"),
        (Path, "a/b", repr(Path("a/b"))),
        (UUID, "12345678-1234-5678-1234-567812345678", "UUID('12345678-1234-5678-1234-567812345678')"),
        (Decimal, "1.10", "Decimal('1.10')"),
        (bytes, "ab", "b'ab'"),
        (dict[int, int], {"1": 2}, "{1: 2}"),
        (Any, {"a": [1, None]}, "{'a': [1, None]}"),
    ],
    ids=str,
)
def test_an_argument_is_checked_and_then_converted_once(hint, sent, received):
    assert one(hint).run({"x": sent}).text == received


@pytest.mark.parametrize(
    ("hint", "sent", "words"),
    [
        (bool, "yes", "boolean"),
        (bool, 1, "boolean"),
        (int, True, "integer"),
        (int, "5 apples", "integer"),
        (int, 5.5, "integer"),
        (float, "NaN", "number"),
        (str, 5, "string"),
        (int | None, "many", "integer"),
        (Literal["loud", "quiet"], "soft", '"loud" or "quiet"'),
        (Literal[1, 2, "auto"], True, '1, 2 or "auto"'),
        (Literal[1, 2, "auto"], "1", '1, 2 or "auto"'),
        (Literal[True], 1, "true"),
        (Literal["a"] | None, "b", '"a"'),
        (Color, "green", '"red" or "blue"'),
        (Size, True, "1 or 2"),
        (datetime, "tomorrow", "date-time"),
        (datetime, "20260102", "date-time"),
        (datetime, "2026-13-40T00:00:00", "month"),
        (date, 1767312000, "string"),
        (date, "soon", '"date"'),
        (tuple[int, int], [1], "prefixItems"),
        (tuple[int, int], [1, 2, 3], "2"),
        (UUID, "x", "uuid"),
        (list[int], [1, "x"], "x[1]"),
        (Route, {"start": {"x": "one"}}, "x.start.x"),
        (Route, {"start": {}}, "x.start.x is missing"),
        (Annotated[int, Field(ge=1)], 0, "minimum"),
    ],
    ids=str,
)
def test_a_wrong_value_gives_an_error_that_names_the_parameter_and_what_it_takes(hint, sent, words):
    result = one(hint).run({"x": sent})
    assert result.ok is False
    assert result.value["error"].startswith("wrong arguments: x")
    assert words in result.value["error"]
    assert result.retryable is True


def test_unknown_keys_are_refused_and_the_known_ones_listed():
    def search(query: str, limit: int = 3) -> str:
        return query

    assert "query, limit" in tool(search).run({"query": "a", "size": 1}).value["error"]


def test_variadic_parameters_are_left_out_by_kind_and_not_by_name():
    def search(query: str, *args: str, **kwargs: str) -> list:
        return [query, args, kwargs]

    def total(args: list[int], kwargs: dict) -> int:
        return sum(args)

    assert tool(search).parameters["required"] == ["query"]
    assert list(tool(search).parameters["properties"]) == ["query"]
    assert tool(search).run({"query": "a"}).value == ["a", [], {}]
    assert "unknown parameter 'size'" in tool(search).run({"query": "a", "size": "b"}).value["error"]
    assert list(tool(total).parameters["properties"]) == ["args", "kwargs"]
    assert tool(total).run({"args": [1, 2], "kwargs": {}}).value == 3


def test_no_parameter_name_is_special():
    def f(
        query: str, model_config: int, model_extra: str, json: str, schema: dict, copy: bool, class_: str = "x",
        _hidden: int = 0, cls: int = 0, validate: int = 0, items: int = 0,
    ) -> list:  # fmt: skip
        return [query, model_config, model_extra, json, schema, copy, class_, _hidden, cls, validate, items]

    sent = {
        "query": "q", "model_config": 1, "model_extra": "e", "json": "j", "schema": {"$ref": "#/x"}, "copy": True,
        "class_": "c", "_hidden": 2, "cls": 3, "validate": 4, "items": 5,
    }  # fmt: skip
    made = tool(f)
    assert list(made.parameters["properties"]) == list(sent)
    assert made.run(sent).value == list(sent.values())
    assert made.parameters["required"] == ["query", "model_config", "model_extra", "json", "schema", "copy"]


def test_positional_only_parameters_are_passed_by_position():
    def f(a, /, b: int, *, c: str = "x") -> list:
        return [a, b, c]

    def g(a=1, b=2, /) -> list:
        return [a, b]

    assert tool(f).parameters["properties"]["a"] == {}
    assert tool(f).run({"a": 1, "b": 2}).value == [1, 2, "x"]
    assert tool(f).run({"a": [1], "b": 2, "c": "y"}).value == [[1], 2, "y"]
    assert tool(g).run({"b": 5}).value == [1, 5]
    assert tool(g).run({}).value == [1, 2]


def test_schema_and_call_agree_about_an_alias():
    def f(x: Annotated[int, Field(alias="from", description="Start.")] = 1) -> int:
        return x

    made = tool(f)
    assert made.parameters["properties"] == {"from": {"type": "integer", "description": "Start.", "default": 1}}
    assert made.run({"from": 7}).value == 7
    assert "unknown parameter 'x'" in made.run({"x": 7}).value["error"]


def test_defaults_that_json_can_say_stand_in_the_schema_and_all_of_them_apply():
    def f(
        c: Color = Color.RED, at: datetime = datetime(2026, 1, 1), xs: tuple = (), n: float = float("inf"),
        limit: int = 3, names: list[str] = ["a"], note: str | None = None, options: dict = {"x": {1, 2}},  # noqa: B006
    ) -> list:  # fmt: skip
        return [c, at, xs, n, limit, names, note, sorted(options["x"])]

    made = tool(f)
    json.dumps(made.schema(), allow_nan=False)
    shown = {name: spec["default"] for name, spec in made.parameters["properties"].items() if "default" in spec}
    assert shown == {"c": "red", "limit": 3, "names": ["a"], "note": None}
    assert "required" not in made.parameters
    assert made.run({}).value == ["red", "2026-01-01T00:00:00", [], "Infinity", 3, ["a"], None, [1, 2]]


@pytest.mark.parametrize("hint", [Callable, object.__class__, type("Odd", (), {}), Callable[[int], int]], ids=str)
def test_a_parameter_that_cannot_be_described_is_refused_by_name(hint):
    with pytest.raises(ToolDefinitionError, match=r"'show'.*'x'"):
        one(hint)
    with pytest.raises(ToolDefinitionError, match="'x'"):
        one(hint, default=print)


def test_a_field_as_default_is_refused_because_the_function_would_receive_it():
    def f(n: int = Field(3, ge=1)) -> int:
        return n

    with pytest.raises(ToolDefinitionError, match="Annotated"):
        tool(f)


def test_a_function_that_python_cannot_look_into_is_refused():
    with pytest.raises(ToolDefinitionError, match="cannot be read"):
        tool(min)


def test_a_function_without_a_usable_name_needs_one():
    with pytest.raises(ToolDefinitionError, match="lambda"):
        tool(lambda: 1)
    assert tool(name="one")(lambda: 1).run({}).value == 1


def test_text_in_annotated_describes_a_parameter():
    def f(a: Annotated[str, "The city."], b: Annotated[int, Field(description="How many.")] = 1) -> str:
        """Do it.

        Args:
            a: not this
            b: nor this
        """
        return a

    properties = tool(f).parameters["properties"]
    assert (properties["a"]["description"], properties["b"]["description"]) == ("The city.", "How many.")


def test_a_class_can_be_a_tool():
    made = tool(Node)
    assert list(made.parameters["properties"]) == ["name", "children"]
    assert made.run({"name": "a"}).value == {"name": "a", "children": []}


def test_hosts_that_know_few_keywords_get_only_those():
    from agent.models.profiles import PROFILES
    from agent.models.wire import wire_schemas

    def f(n: Node, xs: tuple[int, str], kind: Literal["a"] | None = None) -> str:
        return n.name

    registry = ToolRegistry([f])
    text = json.dumps(wire_schemas(registry.schemas(), PROFILES["gemini"]))
    assert all(f'"{key}"' not in text for key in ("$ref", "$defs", "additionalProperties", "prefixItems", "const"))
    assert '"additionalProperties"' in json.dumps(registry.schemas())
