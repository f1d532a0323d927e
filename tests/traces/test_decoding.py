"""The fast parser gives what ``json`` gives, or leaves the text to it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traces.decoding import loads, plain, plain_lines

PIECES = [
    "{", "}", "[", "]", ",", ":", '"a"', '"b"', "1", "-1", "0", "01", "1.5", "1e5", "-0", "-0.0", ".5", "5.", "NaN",
    "null", "true", "nul", " ", "\t", "\n", "\x00", '"\\ud83d\\ude00"', '"\\ud800"', '"\\x"', '"\t"', '"é"', "1e400",
    "1e-400", "18446744073709551616",
    "-9223372036854775809", "123456789012345678901234567890", "9007199254740993.0", "5e-324",
]  # fmt: skip


def same(a, b):
    if isinstance(a, dict):
        return type(b) is dict and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return type(b) is list and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.floats().map(repr) | st.integers().map(str))
def test_what_is_read_fast_is_what_json_reads(text):
    try:
        value = plain(text.encode())
    except ValueError:
        return
    assert same(value, json.loads(text))


texts = st.text(st.characters(codec="utf-8"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
                    lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20))  # fmt: skip
def test_whatever_json_writes_is_read_back(value):
    assert same(loads(json.dumps(value).encode()), value)


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"{}\n[1]\n", [{}, [1]]),
        (b"{}\r\n[1]", [{}, [1]]),
        (b"{}\n\n[1]\n", None),
        (b"{}{}\n", None),
        (b'{"a":\n1}\n{}', None),
        (b'{}\n{"a', None),
    ],
)
def test_lines_are_plain_only_where_each_holds_one_value(data, values):
    assert plain_lines(data) == values
