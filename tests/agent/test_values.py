"""Messages, usage and traces are values: they read back as they were written, and odd input does no harm."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import FakeModel, InputError, Message, ModelReply, Tool, ToolCall, Trace, Usage, clock, run
from agent.ids import new_call_id, new_trace_id
from agent.journal import write_trace
from agent.jsontext import canonical, copy_json, dump_bytes, dumps
from agent.trace import Edit

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_json_text_is_strict_and_both_ways_of_writing_agree(value: Any) -> None:
    text = dumps(value)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    read = json.loads(text, parse_constant=refuse)
    assert json.loads(dump_bytes(value), parse_constant=refuse) == read
    assert json.loads(dumps(value, compact=True)) == json.loads(dumps(value, indent=True)) == read


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")], {"a": float("nan")}])
def test_what_is_no_number_becomes_null(value: Any) -> None:
    assert "null" in dumps(value)
    assert b"null" in dump_bytes(value)


def test_real_characters_stay_and_half_surrogates_go() -> None:
    assert dumps({"城市": "東京 😀"}) == '{"城市": "東京 😀"}'
    assert dumps("a\ud83d") == '"a\ufffd"'
    assert dump_bytes("a\ud83d") == '"a\ufffd"'.encode()
    assert json.loads(dump_bytes({"n": 2**70, "m": 10**400})) == {"n": 2**70, "m": 10**400}


@given(json_values)
def test_the_canonical_text_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    def turned(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: turned(item[key]) for key in reversed(item)}
        return list(map(turned, item)) if isinstance(item, list) else item

    assert canonical(turned(value)) == canonical(value)
    assert json.loads(canonical(value)) == json.loads(dumps(value))


def containers(value: Any) -> list[Any]:
    """The value and all that is in it, as far as it can be changed."""
    if not isinstance(value, list | dict):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [value, *(found for item in inner for found in containers(item))]


@given(json_values)
def test_a_copy_shares_nothing_that_can_change(value: Any) -> None:
    copied = copy_json(value)
    assert dumps(copied) == dumps(value)
    assert not {id(part) for part in containers(copied)} & {id(part) for part in containers(value)}


def test_unknown_keys_survive() -> None:
    data = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}, "signature": "s"}
        ],
        "reasoning_content": "hmm",
    }
    message = Message.from_dict(data)
    assert message.to_dict() == data
    assert message.reasoning == "hmm"
    assert message.text == ""


@pytest.mark.parametrize("arguments", ["", " ", "\n", None, "null"])
def test_blank_arguments_mean_none(arguments: str | None) -> None:
    call = ToolCall.from_dict({"id": "a", "function": {"name": "now", "arguments": arguments}})
    assert (call.arguments, call.problem, call.arguments_text()) == ({}, None, "{}")


def test_arguments_may_come_as_an_object() -> None:
    call = ToolCall.from_dict({"id": "a", "function": {"name": "w", "arguments": {"city": "Oslo"}}})
    assert call.arguments == {"city": "Oslo"}
    assert call.arguments_text() == '{"city": "Oslo"}'


@pytest.mark.parametrize("text", ["[1,2]", '{"a": ', "7", '{"a":1}{"a":2}', "[" * 100_000])
def test_unreadable_arguments_stay_valid_json_in_the_history(text: str) -> None:
    call = ToolCall.from_dict({"id": "a", "function": {"name": "w", "arguments": text}})
    assert call.problem
    assert text in json.loads(call.arguments_text()).values()
    again = ToolCall.from_dict(call.to_dict())
    assert (again.text, again.problem, again.arguments) == (text, call.problem, {})


def test_a_problem_that_the_text_alone_does_not_show_is_kept() -> None:
    call = ToolCall("a", "w", text='{"b": 1}', problem="the reply was cut off by the length limit")
    assert ToolCall.from_dict(call.to_dict()).problem == call.problem


def test_the_problem_of_an_older_file_is_found_in_the_text_again() -> None:
    kept = {"name": "w", "arguments": json.dumps({"_unreadable_arguments": '{"a": 1, "b"'})}
    assert "not valid JSON (Expecting ':'" in str(ToolCall.from_dict({"id": "a", "function": kept}).problem)


def test_a_reply_reads_back_with_its_zeros() -> None:
    reply = ModelReply(Message("assistant", "x"), cost=0.0, first_token_ms=0.0, warnings=("odd",), raw={"a": 0})
    assert ModelReply.from_dict(json.loads(dumps(reply.to_dict()))) == reply
    assert ModelReply(Message("assistant", "x")).to_dict() == {"message": {"role": "assistant", "content": "x"}}


def test_the_argument_text_of_a_provider_is_kept_to_the_letter() -> None:
    data = {"id": "a", "type": "function", "function": {"name": "w", "arguments": '{"b":1,  "a":2}'}}
    assert ToolCall.from_dict(data).to_dict() == data


def test_null_keys_do_no_harm() -> None:
    message = Message.from_dict({"role": "assistant", "content": "x", "tool_calls": None, "function_call": None})
    assert message == Message("assistant", "x")


def test_usage_counts_cached_and_reasoning_as_parts() -> None:
    usage = Usage.from_openai(
        {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 30},
            "completion_tokens_details": {"reasoning_tokens": 40},
        }
    )
    assert usage is not None
    assert (usage.total, usage.cached_tokens, usage.reasoning_tokens) == (150, 30, 40)


@pytest.mark.parametrize(
    "data", [None, {}, {"prompt_tokens": None}, [], "x", {"prompt_tokens": -1}, {"prompt_tokens": True}]
)
def test_usage_that_says_nothing_is_none(data: Any) -> None:
    assert Usage.from_openai(data) is None


def test_sums_keep_unknown_unknown() -> None:
    total = Usage.sum([Usage(10, None), None, Usage(5, 2, estimated=True)])
    assert (total.prompt_tokens, total.completion_tokens, total.cached_tokens) == (15, 2, None)
    assert total.estimated
    assert Usage.sum([None]) == Usage()
    assert Usage.from_dict(total.to_dict()) == total


def example() -> Trace:
    tool = Tool(name="f", description="", parameters={"type": "object"}, func=lambda: {"城": float("inf")})
    reply = ModelReply(Message("assistant", None, (ToolCall("a", "f", {}),)), usage=Usage(3, 4, 7), cost=0.01)
    return run(FakeModel([reply, "好"]), [tool], "问", system="s").trace


def test_a_trace_reads_back_as_it_was_written(tmp_path: Any) -> None:
    trace = example()
    path = write_trace(trace, tmp_path)
    assert path.name == f"{trace.trace_id}.json"
    assert "问" in path.read_text(encoding="utf-8")
    assert Trace.from_dict(json.loads(path.read_bytes())) == trace


@pytest.mark.parametrize("trace_id", ["../outside", "a/b", "", ".", "x" * 65])
def test_a_trace_id_cannot_lead_out_of_the_folder(trace_id: str, tmp_path: Any) -> None:
    trace = example()
    trace.trace_id = trace_id
    with pytest.raises(InputError, match="file name"):
        write_trace(trace, tmp_path / "in")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_unknown_keys_of_a_trace_survive_at_every_level() -> None:
    data = example().to_dict()
    data["mine"] = 1
    data["steps"][0]["mine"] = 2
    data["steps"][0]["tools"][0]["mine"] = 3
    data["entries"][0]["mine"] = 4
    data["outcome"]["mine"] = 5
    assert Trace.from_dict(data).to_dict() == data


@pytest.mark.parametrize(
    "change", [{"schema": "agent-trace/9"}, {"steps": [{}]}, {"steps": "x"}, {"outcome": [1]}, {"messages": [1]}]
)
def test_a_trace_of_the_wrong_shape_is_refused_with_the_place(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Trace.from_dict({**example().to_dict(), **change})


def test_a_drop_of_one_message_has_the_plain_form_of_the_format() -> None:
    assert Edit(op="drop", message=3, by="context").to_dict() == {"op": "drop", "message": 3, "by": "context"}
    many = Edit(op="drop", message=3, by="context", count=4)
    assert Edit.from_dict(many.to_dict()) == many
    replaced = Edit(op="replace", message=0, by="x", with_={"role": "system"})
    assert Edit.from_dict(replaced.to_dict()) == replaced
    assert replaced.to_dict()["with"] == {"role": "system"}


def test_ids_have_their_forms() -> None:
    assert re.fullmatch("[0-9a-f]{12}", new_trace_id())
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", new_call_id()) for _ in range(200))
    assert len({new_trace_id() for _ in range(1000)}) == 1000


def test_times_are_in_utc_with_milliseconds() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", clock.now())


def test_the_callers_objects_are_never_changed() -> None:
    arguments = {"list": [1, 2]}
    call = ToolCall("a", "f", arguments)

    def greedy(list: list[int], **more: Any) -> str:
        list.append(3)
        more["_auth"] = "secret"
        return "ok"

    tool = Tool(name="f", description="", parameters={"type": "object"}, func=greedy)
    model = FakeModel([[call], "done"])
    first, second = run(model, [tool], "go"), run(model, [tool], "go")
    assert arguments == {"list": [1, 2]}
    assert first.steps == second.steps
    assert "secret" not in dumps(first.trace.to_dict())


def test_the_server_context_that_cuts_prompts_is_warned_about() -> None:
    long = "lorem ipsum " * 200
    tool = Tool(name="f", description="", parameters={"type": "object"}, func=lambda n: long)
    flat = [
        ModelReply(Message("assistant", None, (ToolCall("a", "f", {"n": n}),)), usage=Usage(4096, 5)) for n in range(4)
    ]
    warned = [step.warnings for step in run(FakeModel([*flat, "done"]), [tool], "go").trace.steps]
    assert warned[0] == []
    assert any("num_ctx" in warning for warning in warned[1])

    growing = [
        ModelReply(Message("assistant", None, (ToolCall("a", "f", {"n": n}),)), usage=Usage(500 * (n + 1), 5))
        for n in range(4)
    ]
    assert not any(step.warnings for step in run(FakeModel([*growing, "done"]), [tool], "go").trace.steps)


def test_a_fake_model_tells_what_was_not_said() -> None:
    model = FakeModel(["a", "b", "c"])
    run(model, [], "go")
    assert model.unused == 2
    assert FakeModel([]).unused == 0
