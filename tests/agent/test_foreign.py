"""Models that somebody else wrote: whatever they answer becomes a reply or one sentence, and the run ends well."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import FakeModel, Loop, Message, ModelError, ModelReply, ToolCall, Usage, run
from agent.foreign import as_reply
from agent.jsontext import dumps


def add(a: int, b: int) -> int:
    """a + b"""
    return a + b


class Foreign:
    """Answers with what it was given, one after the other."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)

    def complete(self, messages: Any, tool_schemas: Any) -> Any:
        return self.replies.pop(0)


def reply(message: Any, **fields: Any) -> Any:
    return SimpleNamespace(message=message, **fields)


def call(call_id: Any = "c1", name: Any = "add", arguments: Any = None) -> Any:
    return ToolCall(call_id, name, {"a": 2, "b": 3} if arguments is None else arguments)


def test_a_plain_reply_is_taken_as_it_is() -> None:
    own = ModelReply(Message("assistant", None, (call(),)), finish_reason="tool_calls")
    assert as_reply(own) is own


def test_a_sound_reply_with_everything_in_it_stays_equal() -> None:
    own = ModelReply(
        Message("assistant", None, (call(arguments={"a": [1, {"b": None}]}),), extra={"reasoning": "hm"}),
        Usage(1, 2, 3, estimated=True),
        "tool_calls",
        "m-1",
        1.5,
        0.0,
        {"role": "assistant"},
        ("odd",),
        (),
        "unknown_action",
    )
    assert as_reply(own) == own


def test_the_dicts_and_objects_of_a_provider_are_read() -> None:
    from openai.types.chat import ChatCompletionMessage
    from openai.types.completion_usage import CompletionUsage

    said = {"tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}], "content": None}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    package = ChatCompletionMessage(role="assistant", content="It is 5.")
    model = Foreign(reply(said, usage=usage), reply(package, usage=CompletionUsage(**usage), finish_reason="stop"))
    result = run(model, [add], "2+3?")
    assert [str(step) for step in result.steps] == [
        "[0] tool_call add({'a': 2, 'b': 3}) -> 5",
        "[1] final     It is 5.",
    ]
    assert [step.usage.total for step in result.trace.steps if step.usage] == [9, 9]


def test_calls_may_be_dicts_inside_a_message() -> None:
    calls: Any = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}]
    result = run(Foreign(reply(Message("assistant", None, calls)), reply(Message("assistant", "5"))), [add], "2+3?")
    assert str(result.steps[0]) == "[0] tool_call add({'a': 2, 'b': 3}) -> 5"


@pytest.mark.parametrize(
    ("odd", "says"),
    [
        (ToolCall("c1", "add", None), "missing"),  # type: ignore[arg-type]
        (ToolCall("c1", "add", [2, 3]), "must be a JSON object"),  # type: ignore[arg-type]
        (ToolCall("c1", "add", "two"), "not valid JSON"),  # type: ignore[arg-type]
        (ToolCall("c1", None, {}), "unknown tool"),  # type: ignore[arg-type]
        (ToolCall("c1", "add", {"a": {1}, "b": object()}), "wrong arguments"),
        ({"id": "c1", "function": "add"}, "unknown tool"),
    ],
)
def test_an_odd_call_is_answered_with_an_error(odd: Any, says: str) -> None:
    result = run(Foreign(ModelReply(Message("assistant", None, (odd,))), reply(Message("assistant", "x"))), [add], "?")
    assert says in json.loads(result.messages[2].text)["error"]
    assert result.final == "x"


def test_a_call_without_an_id_gets_one() -> None:
    message = Message("assistant", None, (call(None), call(None)))
    result = run(Foreign(ModelReply(message), reply(Message("assistant", "x"))), [add], "?")
    ids = [answer.tool_call_id for answer in result.messages[2:4]]
    assert all(ids) and len(set(ids)) == 2
    assert any("ids" in warning for warning in result.trace.steps[0].warnings)


def test_an_integer_that_no_parser_takes_is_named_by_its_length() -> None:
    huge = 10**5000
    result = run(FakeModel([[call(arguments={"a": huge, "b": 1})], "done"]), [add], "?")
    assert result.reason == "final"
    assert f"<integer of {huge.bit_length()} bits>" in dumps(result.trace.to_dict())


def test_what_cannot_be_kept_is_left_out_and_told() -> None:
    odd = reply(Message("assistant", 5), usage=7, raw=object(), cost="much", model=3, finish_reason=[], warnings="x")  # type: ignore[arg-type]
    result = run(Foreign(odd), [add], "?")
    step = result.trace.steps[0]
    assert (result.final, step.usage, step.cost, step.model, step.finish_reason) == ("5", None, None, None, None)
    told = " ".join(step.warnings)
    assert all(word in told for word in ("content", "usage", "JSON form", "cost", "model", "finish_reason"))
    dumps(result.trace.to_dict())


@pytest.mark.parametrize(
    "odd",
    [None, "text", reply(None), reply("text"), reply(Message("user", "x")), reply({"role": "tool", "content": "x"}),
     ModelReply(Message("assistant", "x"), stop="because")],
)  # fmt: skip
def test_what_is_no_answer_ends_the_run_with_one_sentence(odd: Any) -> None:
    result = run(Foreign(odd), [add], "?")
    assert result.reason == "model_error"
    assert "\n" not in result.trace.outcome.detail and result.trace.outcome.detail.startswith("the model ")


_ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.builds(object) | st.binary(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=2),
    max_leaves=4,
)
_FUNCTION = _ODD | st.fixed_dictionaries({}, optional={"name": _ODD, "arguments": _ODD})
_CALLS = st.builds(ToolCall, _ODD, _ODD | st.just("add"), _ODD, _ODD, _ODD, _ODD) | _ODD
_CALLS |= st.fixed_dictionaries({}, optional={"id": _ODD, "function": _FUNCTION})
_LISTS = st.lists(_CALLS, max_size=2)
_MESSAGES = st.builds(Message, st.just("assistant"), _ODD, _LISTS, _ODD, _ODD, _ODD)
_MESSAGES |= st.fixed_dictionaries({}, optional={"content": _ODD, "tool_calls": _LISTS | _ODD, "function_call": _ODD})
_FIELDS = dict.fromkeys(("usage", "finish_reason", "model", "cost", "first_token_ms", "raw", "warnings"), _ODD)
_FIELDS |= {"retries": _ODD, "stop": st.none() | _ODD}
_REPLIES = st.fixed_dictionaries({"message": _MESSAGES}, optional=_FIELDS)


@settings(deadline=None)
@given(_REPLIES, st.booleans())
def test_no_reply_escapes_the_loop_and_every_run_can_be_written_down(fields: dict[str, Any], ours: bool) -> None:
    loop = Loop(Foreign(ModelReply(**fields) if ours else reply(**fields), reply(Message("assistant", "x"))), [add])
    loop.start("?")
    loop.finish()
    assert loop.stop_reason
    assert Loop.resume(json.loads(dumps(loop.snapshot())), model=FakeModel([])).messages == loop.messages


def test_an_error_does_not_repeat_the_key_of_the_model() -> None:
    class Echo:
        secrets = ("hunter-seven",)

        def __init__(self, error: Exception) -> None:
            self.error = error

        def complete(self, messages: Any, tool_schemas: Any) -> Any:
            raise self.error

    for error in (ValueError("refused: hunter-seven"), ModelError("refused: hunter-seven")):
        detail = run(Echo(error), [add], "?").trace.outcome.detail
        assert "hunter-seven" not in detail and "refused: [redacted: secret]" in detail


def test_an_error_that_has_no_words_is_still_told() -> None:
    class Speechless(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert run(FakeModel([Speechless()]), [add], "?").trace.outcome.detail == "Speechless"
