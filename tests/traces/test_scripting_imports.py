"""Files of other programs as scripts: what a loop cannot say as they wrote it is told, with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent import (
    Message,
    Tool,
    ToolCall,
    Trace,
)
from agent.scripts import parse_script
from agent.trace import Entry, Request
from tests.traces.scripted import call, imported, run_of
from traces.export.script import losses
from traces.scripting import replay, script_data, script_of, script_text


def test_an_import_says_everything_that_stands_between(save: Callable[..., Any]) -> None:
    chat = [
        {"role": "developer", "content": "You add."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "2+3"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call("a"), call("b", "mul tiply")]},
        {"role": "tool", "tool_call_id": "a", "content": "5"},
        {"role": "tool", "tool_call_id": "b", "content": '{"error": "no such tool", "retryable": false}'},
        {"role": "system", "content": "Hurry."},
        {"role": "user", "content": "Well?"},
        {"role": "assistant", "content": "It is"},
        {"role": "assistant", "content": "5."},
        {"role": "user", "content": "Thanks."},
    ]
    trace = imported(chat, save)
    data = script_data(trace)
    assert [tool["name"] for tool in data["tools"]] == ["add"]
    assert [turn.get("before") for turn in data["turns"]] == [
        [chat[0], chat[1]],
        [chat[5], "Well?"],
        [],
        ["Thanks."],
    ]
    replayed = replay(trace)
    assert replayed.differences == ()
    assert [message.to_dict() for message in replayed.loop.messages] == [
        message.to_dict() for message in trace.messages
    ]
    assert replayed.remarks == ("the recording ends in the middle of a turn, and so does the replay",)


def test_ids_that_repeat_and_arguments_that_cannot_be_read(save: Callable[..., Any]) -> None:
    chat = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [call("x"), call("x", arguments='{"a": 1}'), call("", arguments="{oops")]},
        {"role": "tool", "tool_call_id": "x", "content": "first"},
        {"role": "tool", "tool_call_id": "x", "content": "second"},
        {"role": "tool", "content": "third"},
        {"role": "assistant", "tool_calls": [call("x"), call("y", "")]},
        {"role": "tool", "tool_call_id": "x", "content": "fourth"},
        {"role": "tool", "tool_call_id": "y", "content": "fifth"},
        {"role": "assistant", "content": "done"},
    ]
    trace = imported(chat, save)
    replayed = replay(trace)
    assert replayed.differences == ()
    assert [m.text for m in replayed.loop.messages if m.role == "tool"] == [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
    ]


@pytest.mark.parametrize(
    ("rest", "differences"),
    [
        (
            [
                {"role": "tool", "tool_call_id": "b", "content": "B"},
                {"role": "tool", "tool_call_id": "a", "content": "A"},
            ],
            ["message 4 (tool) was message 3"],
        ),
        (
            [{"role": "tool", "tool_call_id": "a", "content": "A"}],
            ["message 4 (tool) is new"],
        ),
        (
            [
                {"role": "tool", "tool_call_id": "a", "content": "A"},
                {"role": "user", "content": "Well?"},
                {"role": "tool", "tool_call_id": "b", "content": "B"},
            ],
            ["message 5 (user) was message 4"],
        ),
    ],
)
def test_what_no_loop_writes_is_a_difference_with_its_place(
    rest: list[dict[str, Any]], differences: list[str], save: Callable[..., Any]
) -> None:
    asked = {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]}
    chat = [{"role": "user", "content": "go"}, asked, *rest, {"role": "assistant", "content": "done"}]
    trace = imported(chat, save)
    assert script_data(trace)["replay"]["mode"] == "lenient"
    assert [str(difference).partition(":")[0] for difference in replay(trace).differences] == differences
    assert len(losses(trace)) == 1


def test_an_orphan_is_said_again(save: Callable[..., Any]) -> None:
    chat = [
        {"role": "user", "content": "go"},
        {"role": "tool", "tool_call_id": "zz", "content": "nobody asked"},
        {"role": "assistant", "content": "done"},
    ]
    assert replay(imported(chat, save)).differences == ()


def test_a_recording_that_breaks_off_in_the_middle_of_a_step(save: Callable[..., Any]) -> None:
    asked = {"role": "assistant", "content": None, "tool_calls": [call("a")]}
    replayed = replay(imported([{"role": "user", "content": "go"}, asked], save))
    assert (replayed.differences, replayed.trace.outcome.reason) == ((), None)
    assert len(replayed.remarks) == 1


def test_a_role_that_a_script_does_not_know_is_told(save: Callable[..., Any]) -> None:
    chat = [{"role": "user", "content": "go"}, {"role": "exit", "content": "x"}, {"role": "assistant", "content": "y"}]
    told = [str(difference) for difference in replay(imported(chat, save)).differences]
    assert told == ["message 2 (user) is new: 'x'", "message 2 (exit) of the recording is missing: 'x'"]


def test_a_trace_without_a_reply_is_a_script_too() -> None:
    trace = Trace(trace_id="t1", messages=[Message("user", "hello?")], entries=[Entry(maker="user")])
    data = script_data(trace)
    assert (data["task"], list(data["turns"][0])) == ("hello?", ["error"])
    assert [message.text for message in replay(trace).loop.messages] == ["hello?"]
    assert script_of(Trace(trace_id="t1")).opening == ()


def test_half_surrogates_reach_the_file_as_what_can_be_written(add: Tool) -> None:
    trace = run_of([[ToolCall("c1", "add", {"a": 2, "b": 3, "x": "\ud800"})], "\udfff done"], [add], words="\ud800 go")
    text, _ = script_text(script_data(trace))
    assert text.encode()
    assert replay(parse_script(text, "x.yaml")).messages == ()


def test_a_request_that_a_client_shortened_is_followed_leniently() -> None:
    trace = run_of(["a", "b"], [])
    trace.steps[0].request = Request.from_dict({"upto": 1, "edits": [{"op": "drop", "message": 0, "by": "client"}]})
    assert script_data(trace)["replay"]["mode"] == "lenient"
