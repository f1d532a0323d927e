"""The arguments of a call as providers really send them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.messages import ToolCall
from agent.models.arguments import repair_arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("sent", ["", " ", "\n", None, "null", " null\n", "{}", {}])
def test_nothing_means_no_arguments(sent):
    arguments = repair_arguments(sent)
    assert (arguments.value, arguments.problem) == ({}, None)


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ('{}""', {}),
        ('{"a":1}<|im_end|>', {"a": 1}),
        ('\n  {"path":"R"}trailing', {"path": "R"}),
        ('{"a":1}{"a":1}', {"a": 1}),
        ('{"a": 1}\n{"a":1} {"a":1}', {"a": 1}),
        ('{"code":"a\nb"}', {"code": "a\nb"}),
        ({"city": "Oslo"}, {"city": "Oslo"}),
    ],
)
def test_a_whole_object_with_something_odd_about_it_is_used_and_the_repair_is_told(sent, value):
    arguments = repair_arguments(sent)
    assert (arguments.value, arguments.problem) == (value, None)
    assert arguments.repair
    assert json.loads(ToolCall("c", "f", arguments.value, arguments.text).arguments_text()) == value


@pytest.mark.parametrize(
    "sent",
    [
        '{"s":1}{"s":2}',
        '{"s":1} and {"s":2}',
        '{"a":',
        "{'a': 1}",
        '{"a": NaN}',
        "[1,2]",
        [1, 2],
        "3",
        True,
        "[" * 100_000,
    ],
)
def test_what_is_not_one_object_is_a_problem_that_keeps_what_came(sent):
    arguments = repair_arguments(sent)
    assert arguments.value == {}
    assert arguments.problem
    assert arguments.text == (sent if isinstance(sent, str) else json.dumps(sent))


def test_two_calls_glued_together_are_shown_to_the_model_as_they_came():
    assert '{"s":1}{"s":2}' in (repair_arguments('{"s":1}{"s":2}').problem or "")


def test_braces_inside_of_a_string_do_not_split_anything():
    arguments = repair_arguments('{"text":"}{"}')
    assert (arguments.value, arguments.repair) == ({"text": "}{"}, None)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_an_object_comes_through_unchanged_however_it_is_spelt(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    arguments = repair_arguments(text)
    assert (arguments.value, arguments.text, arguments.problem, arguments.repair) == (value, text, None, None)


@given(st.text() | JSON | st.text(alphabet='{}[]":,a1 \n<|>', max_size=30))
def test_whatever_comes_the_history_holds_one_json_object(sent):
    arguments = repair_arguments(sent)
    call = ToolCall("c", "f", arguments.value, arguments.text, arguments.problem)
    assert isinstance(json.loads(call.arguments_text()), dict)
    assert not (arguments.problem and arguments.value)
