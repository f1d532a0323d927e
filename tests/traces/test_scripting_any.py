"""Whatever comes: any run of the loop is said again, and no order of messages brings the recording down."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent import (
    InputError,
    Message,
    ToolCall,
    Trace,
    Usage,
)
from agent.scripts import parse_script
from agent.trace import Entry, Request, Source, ToolRun, TraceStep
from tests.agent.walks import PRESSES, options, turns, walk
from traces.scripting import replay, script_data, script_text


@given(turns(), options(), st.lists(st.sampled_from(PRESSES), max_size=20))
@settings(max_examples=60, deadline=None)
def test_every_run_of_the_loop_is_said_again(said: list[Any], chosen: dict[str, Any], presses: list[str]) -> None:
    trace = walk(said, chosen, presses).loop.trace
    # Words of a person between two model calls of one step, or as the new task of a budget, are not said by a script.
    assume(chosen["context"] is None or "start" not in presses)
    replayed = replay(trace)
    assert [str(difference) for difference in replayed.differences] == []
    if script_data(trace)["replay"]["mode"] == "strict":
        assert not any("replay:" in remark for remark in replayed.remarks)


ROLES = st.sampled_from(["system", "user", "assistant", "assistant", "tool", "tool", "ai", "odd"])
CALLS = st.lists(st.builds(ToolCall, st.sampled_from(["", "a", "b"]), st.sampled_from(["add", "", "b c"])), max_size=3)
CONTENT = st.sampled_from([None, "", "x", "\ud800", [{"type": "text", "text": "hi"}, {"type": "image_url"}]])
MESSAGES = st.lists(st.builds(Message, ROLES, CONTENT, CALLS, st.sampled_from([None, "", "a", "b"])), max_size=8)


@given(MESSAGES, st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from(["a", "", "z"])), max_size=5))
@settings(max_examples=150, deadline=None)
def test_no_order_of_messages_brings_it_down(messages: list[Message], pairs: list[tuple[int, int, str]]) -> None:
    trace = Trace(trace_id="t1", source=Source(kind="import"), messages=messages)
    trace.entries = [Entry(maker="user") for _ in messages]
    last = len(messages)
    for index, (reply, result, call_id) in enumerate(pairs, 1):
        run = ToolRun(tool_call_id=call_id, name="add", message=result if result < last else None, ok=result % 2 == 0)
        step = TraceStep(index=index, reply=reply if reply < last else None, tools=[run], usage=Usage(1, 2))
        step.request = Request(upto=result) if result % 3 else None
        trace.steps.append(step)
    try:
        replayed = replay(parse_script(script_text(script_data(trace))[0], "x.yaml"))
    except InputError as error:
        raise AssertionError(error) from error
    said = [message.text for message in replayed.loop.messages]
    if said != [message.text.replace("\ud800", "\ufffd") for message in messages]:
        assert replayed.messages or replayed.remarks
