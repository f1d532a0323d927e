import gc
import json
import uuid
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from pathlib import PurePosixPath

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from agent.tool_result import MAX_DEPTH, ToolResult, plain


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    YES = "yes"


class Bits(Flag):
    ONE = 1


@dataclass
class Order:
    number: int
    items: list


class Model(BaseModel):
    at: datetime
    n: float


class Plain:
    pass


class Spoken:
    def __repr__(self):
        return f"Spoken({object()!r})"


class Broken:
    def __str__(self):
        raise RuntimeError


class LoudText(str):
    def __str__(self):
        return "LOUD"


Pair = namedtuple("Pair", "left right")


def cycle():
    value = {"a": [1]}
    value["a"].append(value)
    return value


@pytest.mark.parametrize(
    ("value", "as_json", "text"),
    [
        ("hello", "hello", "hello"),
        ("", "", ""),
        (5, 5, "5"),
        (True, True, "true"),
        (None, None, "null"),
        (1.5, 1.5, "1.5"),
        (float("nan"), "NaN", "NaN"),
        (float("-inf"), "-Infinity", "-Infinity"),
        ({"城": "上海"}, {"城": "上海"}, '{"城": "上海"}'),
        ([1, (2, 3)], [1, [2, 3]], "[1, [2, 3]]"),
        ({3, 1, 2}, [1, 2, 3], "[1, 2, 3]"),
        (frozenset({"b", 1, None}), ["b", 1, None], '["b", 1, null]'),
        ({"at": datetime(2026, 1, 2, 3, 4)}, {"at": "2026-01-02T03:04:00"}, '{"at": "2026-01-02T03:04:00"}'),
        (datetime(2026, 1, 2, tzinfo=timezone.utc), "2026-01-02T00:00:00+00:00", "2026-01-02T00:00:00+00:00"),  # noqa: UP017
        (date(2026, 1, 2), "2026-01-02", "2026-01-02"),
        (time(3, 4), "03:04:00", "03:04:00"),
        (timedelta(seconds=5), "0:00:05", "0:00:05"),
        (Decimal("1.1"), "1.1", "1.1"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b", "a/b"),
        (Color.RED, "red", "red"),
        (Level.HIGH, 3, "3"),
        (Word.YES, "yes", "yes"),
        (Bits.ONE, 1, "1"),
        (b"ab", "ab", "ab"),
        (b"\xff", "<bytes 1>", "<bytes 1>"),
        (bytearray(b"\xff\xfe"), "<bytes 2>", "<bytes 2>"),
        (Order(1, [Color.RED]), {"number": 1, "items": ["red"]}, '{"number": 1, "items": ["red"]}'),
        (Pair(1, 2), {"left": 1, "right": 2}, '{"left": 1, "right": 2}'),
        (Model(at=datetime(2026, 1, 2), n=1), {"at": "2026-01-02T00:00:00", "n": 1.0}, None),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}, '{"b": 1, "a": 2}'),
        (deque([1, 2]), [1, 2], "[1, 2]"),
        ({"b": 1, "a": 2}.keys(), ["b", "a"], '["b", "a"]'),
        (numpy.float64(1.5), 1.5, "1.5"),
        (numpy.int64(3), 3, "3"),
        (numpy.arange(3), [0, 1, 2], "[0, 1, 2]"),
        (LoudText("quiet"), "quiet", "quiet"),
        (ValueError("bad"), "ValueError: bad", "ValueError: bad"),
        (Order, "<class Order>", "<class Order>"),
        (range(10**12), "range(0, 1000000000000)", "range(0, 1000000000000)"),
        ((n for n in ()), "<generator>", "<generator>"),
        (iter([]), "<list_iterator>", "<list_iterator>"),
        (cycle(), {"a": [1, "<cycle>"]}, '{"a": [1, "<cycle>"]}'),
        (Broken(), "<Broken>", "<Broken>"),
        (10**5000, f"<integer of {(10**5000).bit_length()} bits>", None),
        ("half \ud800", "half \ufffd", "half \ufffd"),
        ({"\ud800": ["\udfff"]}, {"\ufffd": ["\ufffd"]}, '{"\ufffd": ["\ufffd"]}'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_tool_returns_is_a_success_in_a_stable_form(value, as_json, text):
    result = ToolResult.of(value)
    assert result.ok is True
    assert result.retryable is None
    assert result.value == as_json
    assert type(result.value) is type(as_json)
    if text is not None:
        assert result.text == text
    result.text.encode()
    json.dumps(result.value, allow_nan=False)


def test_keys_become_strings():
    assert plain({1: "a", None: "b", False: "c", (1, 2): "d", Color.RED: "e", 1.5: "f"}) == {
        "1": "a", "null": "b", "false": "c", "[1, 2]": "d", "red": "e", "1.5": "f",
    }  # fmt: skip


@pytest.mark.parametrize(
    "make", [Plain, Spoken, object, lambda: Plain().__init__, lambda: lambda: 1, lambda: [Plain()]]
)
def test_no_text_holds_a_memory_address(make):
    first, second = make(), make()
    text = ToolResult.of(first).text
    assert text == ToolResult.of(second).text
    assert "<" in text
    assert "0x" not in text


def test_a_value_that_stands_in_two_places_is_no_cycle():
    shared = [1]
    assert plain([shared, {"again": shared}]) == [[1], {"again": [1]}]


def test_a_very_deep_value_ends_in_words():
    value = []
    for _ in range(10_000):
        value = [value]
    text = ToolResult.of(value).text
    assert text.count("[") == MAX_DEPTH
    assert "<nested too deeply>" in text
    gc.collect()


def test_the_result_shares_nothing_with_the_tools_own_data():
    state = {"orders": [1]}
    result = ToolResult.of(state)
    state["orders"].append(2)
    assert result.value == {"orders": [1]}


def test_a_failure_is_told_as_an_error_with_real_characters():
    result = ToolResult.failed("没有这个城市", retryable=False, latency_ms=1.5)
    assert result.text == '{"error": "没有这个城市", "retryable": false}'
    assert (result.ok, result.retryable, result.latency_ms) == (False, False, 1.5)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.datetimes() | st.decimals(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(values)
def test_any_value_has_one_text_that_every_parser_reads(value):
    result = ToolResult.of(value)
    assert ToolResult.of(value).text == result.text
    if not isinstance(result.value, str):
        assert json.loads(result.text, parse_constant=pytest.fail) == result.value


@settings(deadline=None)
@given(st.sets(st.integers() | st.text() | st.booleans()))
def test_equal_sets_have_equal_texts(items):
    other = set()
    for item in sorted(items, key=repr, reverse=True):
        other.add(item)
    assert ToolResult.of(other).text == ToolResult.of(items).text
