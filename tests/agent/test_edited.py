"""Arguments that a person wrote, who was shown them without secrets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import InputError, ToolCall
from agent.edited import edited_arguments
from agent.redact import redact_text

KEY = "sk-live-0123456789abcdef"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just(KEY),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "api_key", KEY]), inner),
    max_leaves=8,
)


def shown(arguments: dict[str, Any]) -> str:
    return redact_text(ToolCall("c", "act", arguments).arguments_text(), [KEY])


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "password", KEY, "b"]), VALUES, max_size=4))
def test_what_is_left_as_it_was_shown_stays_what_it_is(arguments: dict[str, Any]) -> None:
    text = shown(arguments)
    assert KEY not in text
    assert edited_arguments(text, text, ToolCall("c", "act", arguments)) == arguments


EDITS = [
    ({"api_key": KEY, "n": 1}, ('"n": 1', '"n": 2'), {"api_key": KEY, "n": 2}),
    ({"n": 1}, ("1", "true"), {"n": True}),
    (
        {"url": {"api_key": KEY, "to": ["x", f"use {KEY}"]}},
        ('"x"', '"y"'),
        {"url": {"api_key": KEY, "to": ["y", f"use {KEY}"]}},
    ),
    ({"api_key": KEY, "n": 1}, ('"[redacted: secret]"', '"mine"'), {"api_key": "mine", "n": 1}),
    ({"api_key": KEY, "n": 1}, ('"api_key": "[redacted: secret]", ', ""), {"n": 1}),
]


@pytest.mark.parametrize(("arguments", "edit", "made"), EDITS)
def test_only_what_was_changed_changes(arguments: dict[str, Any], edit: tuple[str, str], made: dict[str, Any]) -> None:
    text = shown(arguments)
    edited = edited_arguments(text.replace(*edit), text, ToolCall("c", "act", arguments))
    assert edited == made
    assert [type(value) for value in edited.values()] == [type(value) for value in made.values()]


@pytest.mark.parametrize("text", ['{"other": "[redacted: api_key]"}', '{"api_key": "x [redacted: api_key]"}'])
def test_a_mark_in_another_place_is_no_secret(text: str) -> None:
    with pytest.raises(InputError, match="a secret that is not known here"):
        edited_arguments(text, shown({"api_key": KEY}), ToolCall("c", "act", {"api_key": KEY}))


@pytest.mark.parametrize("text", ["{", "[1]", "5", "[" * 9_000])
def test_what_is_no_object_is_told(text: str) -> None:
    with pytest.raises(InputError, match="the arguments"):
        edited_arguments(text, "{}", ToolCall("c", "act", {}))


def test_nothing_means_no_arguments() -> None:
    assert edited_arguments(" ", '{"n": 1}', ToolCall("c", "act", {"n": 1})) == {}
