"""What is kept of a run for its replays: every model call in its order, and the recording as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent import ContextBudget, FakeModel, Loop, Message, ModelError, ToolCall, Trace
from agent.errors import InputError
from agent.events import Maker
from agent.faults import Fault
from agent.models.made_calls import model_calls
from agent.models.recording import RecordedAsk, Recording
from agent.models.replay import ReplayModel, same_messages
from agent.toolbox import pick
from agent.trace import Edit, Request, Source, TraceStep

LONG = "word " * 300


def asked(number):
    return [ToolCall(f"c{number}", "act", {"n": number})]


def play(model, tools=(), *, texts=("go",), **options):
    loop = Loop(model, tools, **options)
    for text in texts:
        loop.start(text)
        loop.finish()
    return loop


def kinds(trace):
    return [(call.step, call.kind) for call in model_calls(trace)]


# ---- the model calls of a run ----


def summarised(model):
    """Three turns, the first two so long that each must be summarised before the next one."""
    return play(model, system="s", texts=["one", "two", "three"], context=ContextBudget(300))


SUMMARISED = [LONG, "A summary.", LONG, "Another summary.", "done"]


def test_a_summary_is_a_model_call_before_that_of_its_step():
    trace = summarised(FakeModel(SUMMARISED)).trace
    assert kinds(trace) == [(1, "reply"), (2, "summary"), (2, "reply"), (3, "summary"), (3, "reply")]
    assert [call.note["text"] for call in model_calls(trace) if call.note] == ["A summary.", "Another summary."]


def test_a_run_with_summaries_can_be_replayed_strictly():
    known = Recording.of(summarised(FakeModel(SUMMARISED)).trace)
    assert [request and request.step for request in known.requests] == [1, None, 2, None, 3]
    again = summarised(ReplayModel(FakeModel(SUMMARISED), known))
    assert again.trace.outcome.final == "done" and same_messages(known, again.messages) == []
    other = summarised(ReplayModel(FakeModel([LONG, "A false summary.", *SUMMARISED[2:]]), known))
    assert "the request of step 2 is not the recorded one" in other.trace.outcome.detail


def refused(model, make_tool):
    return play(model, [make_tool("lorem ipsum " * 150)], context=ContextBudget(5000))


REFUSED = [asked(1), asked(2), ModelError("too long", kind="context_overflow"), "done"]


def test_a_refused_request_is_a_model_call_of_its_own(make_tool):
    trace = refused(FakeModel(REFUSED), make_tool).trace
    assert kinds(trace) == [(1, "reply"), (2, "reply"), (3, "refused"), (3, "reply")]
    known = Recording.of(trace)
    assert [request.size for request in known.requests] == [1, 3, 5, 4]
    again = refused(ReplayModel(FakeModel(REFUSED), known), make_tool)
    assert again.trace.outcome.final == "done"


def test_a_call_that_failed_is_one_and_a_call_that_had_no_turn_is_none(make_tool):
    failed = play(FakeModel([asked(1), ModelError("503")]), [make_tool()]).trace
    assert kinds(failed) == [(1, "reply"), (2, "failed")]
    dry = play(FakeModel([asked(1)]), [make_tool()]).trace
    assert dry.outcome.reason == "script_exhausted" and kinds(dry) == [(1, "reply")]


def test_a_call_that_failed_before_the_run_went_on_is_one(make_tool):
    loop = play(FakeModel([ModelError("503"), asked(1), "done"]), [make_tool()])
    loop.extend(max_steps=9)
    loop.finish()
    assert kinds(loop.trace) == [(1, "failed"), (2, "reply"), (3, "reply")]
    loop = play(FakeModel([ModelError("503"), "done"]), texts=["one", "two"])
    assert kinds(loop.trace) == [(1, "failed"), (2, "reply")]


def test_a_call_that_failed_right_before_the_user_went_on_is_one():
    loop = Loop(FakeModel([ModelError("503"), "done"]))
    loop.start("one")
    while loop.phase != "decide":
        loop.advance()
    loop.start("two")
    loop.finish()
    assert kinds(loop.trace) == [(1, "failed"), (2, "reply")]


def test_a_failure_that_a_fault_put_in_is_a_call_since_a_script_says_it_as_a_turn():
    loop = Loop(FakeModel(["done"]))
    loop.start("go")
    loop.arm(Fault("provider_500"))
    loop.finish()
    assert kinds(loop.trace) == [(1, "failed")]


def test_where_no_shorter_request_can_be_made_the_refused_one_was_the_last_call():
    loop = play(FakeModel([ModelError("too long", kind="context_overflow")]), context=ContextBudget(5000))
    assert loop.trace.outcome.reason == "context_overflow"
    assert kinds(loop.trace) == [(1, "refused")]


# ---- the recording ----


@pytest.fixture
def trace():
    call = ToolCall("c1", "add", {"b": 3, "a": 2})
    return play(FakeModel([[call], "It is 5."]), pick(["add"]), system="Be brief.", title="A sum").trace


def test_as_data_it_is_short_and_can_be_read(trace):
    data = Recording.of(trace).to_dict()
    (tool,) = data["asked"][0]["tools"].values()
    digests = [message.pop("digest") for message in data["messages"]]
    assert all(len(digest) == 12 for digest in [tool, *digests])
    assert data == {
        "trace": trace.trace_id,
        "title": "A sum",
        "length": 5,
        "messages": [
            {"role": "system", "chars": 9, "head": "Be brief."},
            {"role": "user", "chars": 2, "head": "go"},
            {"role": "assistant", "chars": 24, "head": 'calls add({"a":2,"b":3})'},
            {"role": "tool", "chars": 1, "head": "5"},
            {"role": "assistant", "chars": 8, "head": "It is 5."},
        ],
        "requests": ["1-2", "1-4"],
        "asked": [{"tools": {"add": tool}, "options": {"model": "script"}}],
        "outcome": {"reason": "final", "final": "It is 5."},
    }


def test_it_comes_back_from_a_file_as_it_was(trace, make_tool):
    for run in (trace, summarised(FakeModel(SUMMARISED)).trace, refused(FakeModel(REFUSED), make_tool).trace, Trace()):
        known = Recording.of(run)
        assert Recording.from_dict(json.loads(json.dumps(known.to_dict()))) == known


def test_a_request_with_gaps_is_told_by_its_ranges(make_tool):
    data = Recording.of(refused(FakeModel(REFUSED), make_tool).trace).to_dict()
    assert data["requests"] == ["1", "1-3", "1-5", {"holds": "7,1,4-5", "step": 3}]
    assert data["messages"][6]["role"] == "system", "the notice of the context budget"


BROKEN = {
    "messages[2]: chars: expected a number, found None": {"messages": [{"role": "user", "chars": 1}, {"role": "user"}]},
    "messages: expected a list, found 'none'": {"messages": "none"},
    "messages[1]: a message: expected a mapping, found 7": {"messages": [7]},
    "requests[1]: holds: there are no messages 1-2; the recording has 0": {"requests": ["1-2"]},
    "requests[2]: holds: 'all' should be numbers of messages, such as 1-4": {"requests": [None, "all"]},
    "requests[1]: asked: there is no entry 2": {"requests": [{"holds": "", "asked": 2}]},
    "asked[1]: tools: expected a mapping, found ['add']": {"asked": [{"tools": ["add"]}]},
    "length: there are 0 messages, not 3": {"length": 3},
    "outcome: expected a mapping, found 'final'": {"outcome": "final"},
}


@pytest.mark.parametrize("words", BROKEN)
def test_what_is_wrong_with_it_is_told_with_its_place(words):
    with pytest.raises(InputError) as caught:
        Recording.from_dict(BROKEN[words])
    assert str(caught.value) == f"recorded.{words}"


def test_tools_that_changed_in_the_middle_are_compared_as_they_were():
    def halfway(model):
        loop = Loop(model, pick(["add"]))
        loop.start("go")
        while loop.run.iteration < 1 or loop.phase != "prepare":
            loop.advance()
        more = Loop.resume(loop.snapshot(), model=model, tools=pick(["add", "multiply"]))
        more.finish()
        return more

    turns = [[ToolCall("c1", "add", {"a": 2, "b": 3})], "It is 5."]
    known = Recording.of(halfway(FakeModel(turns)).trace)
    assert [[*ask.tools] for ask in known.asked] == [["add"], ["add", "multiply"]]
    assert [request.asked for request in known.requests] == [0, 1]
    assert halfway(ReplayModel(FakeModel(turns), known)).trace.outcome.reason == "final"
    detail = play(ReplayModel(FakeModel(turns), known), pick(["add"])).trace.outcome.detail
    assert detail.endswith("the tool multiply is no longer on offer")


def imported(*messages, request=None):
    trace = Trace(source=Source(kind="import", format="some-format"))
    for message in messages:
        trace.add(message, Maker.USER)
    trace.steps.append(TraceStep(index=1, reply=len(messages) - 1, request=request))
    return trace


CALL = Message("assistant", None, (ToolCall("c1", "act"),))


def test_a_file_from_elsewhere_that_says_less_is_compared_less():
    known = Recording.of(imported(Message("user", "go"), CALL))
    assert known.requests == (None,) and known.asked == (RecordedAsk(None, None),)
    assert known.format == "some-format"
    told = Recording.of(imported(Message("user", "go"), Message("assistant", "done"), request=Request(upto=1)))
    assert [request.size for request in told.requests] == [1] and told.asked[0].tools == {}


def test_a_result_whose_call_was_left_out_is_kept_as_another_message():
    asked, result = Message("assistant", None, (ToolCall("c1", "act"),)), Message("tool", "5", tool_call_id="c1")
    request = Request(upto=3, edits=[Edit(op="drop", message=1, by="a test")])
    trace = replace(imported(Message("user", "go"), asked, result, request=request), source=Source(kind="run"))
    known = Recording.of(trace)
    assert known.to_dict()["requests"] == ["1,4"]
    assert ReplayModel(FakeModel(["done"]), known).complete([Message("user", "go"), result], [])


def test_a_request_from_elsewhere_that_breaks_the_protocol_is_not_compared():
    orphan = Message("tool", "5", tool_call_id="c9")
    trace = imported(Message("user", "go"), orphan, Message("assistant", "done"), request=Request(upto=2))
    assert Recording.of(trace).requests == (None,)
    assert Recording.of(replace(trace, source=Source(kind="run"))).requests != (None,)
