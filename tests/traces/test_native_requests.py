"""Requests of a native trace that other hands have damaged: the rest opens, and no number in them can hang a page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.request import request_of
from agent.trace import Trace
from tests.traces.lint.talk import asks, call, result, says, talk, user
from traces.opening import open_trace, read_file


def opened(request: dict[str, Any]) -> Trace:
    data = json.loads(json.dumps(talk(user("go"), asks(call("f")), result("x"), says("x")).to_dict()))
    data["steps"][1]["request"] = request
    (trace,) = open_trace(json.dumps(data).encode())
    return trace


def sent(request: dict[str, Any]) -> list[str]:
    trace = opened(request)
    return [message.role for message in request_of(trace, trace.steps[1])]


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "drop", "message": 1, "by": "context", "count": 10**18},
        {"op": "drop", "message": 1, "by": ["context"], "count": 2},
    ],
)
def test_what_can_still_be_carried_out_is(edit: dict[str, Any]) -> None:
    assert sent({"upto": 3, "edits": [edit]}) == ["user"]


@pytest.mark.parametrize(
    "edit",
    [
        {"op": ["drop"], "message": 1, "by": "x"},
        {"op": "drop", "message": "1", "by": "x"},
        {"op": "drop", "message": -1, "by": "x"},
        {"op": "drop", "message": 1, "by": "x", "count": 1.5},
        {"op": "replace", "message": 1, "by": "x", "with": 7},
        {"op": "insert", "message": 99, "by": "x", "with": {"role": "user", "content": "x"}},
    ],
)
def test_what_cannot_be_told_is_left_out_of_the_request(edit: dict[str, Any]) -> None:
    assert sent({"upto": 3, "edits": [edit]}) == ["user", "assistant", "tool"]


def test_a_request_cannot_hold_more_or_less_than_the_list() -> None:
    assert sent({"upto": 99, "edits": []}) == ["user", "assistant", "tool", "assistant"]
    assert sent({"upto": -5, "edits": []}) == []


def test_an_inserted_message_of_an_odd_shape_is_put_right() -> None:
    trace = opened({"upto": 1, "edits": [{"op": "insert", "message": 1, "by": "x", "with": {"role": 3, "content": 4}}]})
    assert [message.text for message in request_of(trace, trace.steps[1])] == ["go", "4"]


def test_the_damage_is_told_and_sound_edits_are_kept_as_they_are() -> None:
    data = talk(user("go"), says("x")).to_dict()
    data["steps"][0]["request"] = {"upto": 1, "edits": [{"op": "drop", "message": 0, "by": "context"}]}
    assert read_file(json.dumps(data).encode(), "t.json").warnings == []
    data["steps"][0]["request"] = {"upto": 7, "edits": []}
    (warning,) = read_file(json.dumps(data).encode(), "t.json").warnings
    assert "a request holds what the message list does not" in warning
