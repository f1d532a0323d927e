"""The five systems that this project unites: their names, printed lines and event sequences, word for word."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from agent import (
    AgentEvent,
    AgentState,
    CapabilityPolicy,
    FakeModel,
    JsonActionModel,
    Loop,
    Message,
    ModelReply,
    ScriptExhausted,
    Step,
    Tool,
    ToolCall,
    ToolRegistry,
    Usage,
    run,
)

PAIR = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}


def calculator() -> ToolRegistry:
    registry = ToolRegistry()
    registry.add(Tool(name="add", description="a + b", parameters=PAIR, func=lambda a, b: a + b))
    registry.add(Tool(name="multiply", description="a * b", parameters=PAIR, func=lambda a, b: a * b))
    return registry


def reference_model() -> FakeModel:
    return FakeModel(
        [
            [ToolCall(id="c1", name="add", arguments={"a": 2, "b": 3})],
            [ToolCall(id="c2", name="multiply", arguments={"a": 5, "b": 4})],
            "计算结果是 20。",
        ]
    )


def noop() -> Tool:
    return Tool(name="noop", description="", parameters={}, func=lambda: "")


def call(name: str = "noop", call_id: str = "c1", **arguments: object) -> list[ToolCall]:
    return [ToolCall(id=call_id, name=name, arguments=arguments)]


# ---- 1. the plain loop ----


def test_the_reference_run_prints_exactly_these_lines() -> None:
    result = run(reference_model(), calculator(), "请计算 (2+3)*4", system="你是一个计算助手。")

    assert [f"[{step.index}] {step.kind:<9} {step.detail}" for step in result.steps] == [
        "[0] tool_call add({'a': 2, 'b': 3}) -> 5",
        "[1] tool_call multiply({'a': 5, 'b': 4}) -> 20",
        "[2] final     计算结果是 20。",
    ]
    assert result.final == "计算结果是 20。"
    roles = ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [message.role for message in result.messages] == roles
    assert result.messages[3] == Message(role="tool", content="5", tool_call_id="c1")


def test_the_same_script_gives_the_same_steps_every_time() -> None:
    model, registry = reference_model(), calculator()
    first = run(model, registry, "请计算 (2+3)*4")
    assert all(run(model, registry, "请计算 (2+3)*4").steps == first.steps for _ in range(5))


def test_the_step_limit_is_a_fuse() -> None:
    result = run(FakeModel([call()] * 9), [noop()], "go", max_steps=3)
    assert result.steps[-1].index == 3
    assert result.steps[-1].kind == "error"
    assert result.final == ""
    assert sum(message.role == "assistant" for message in result.messages) == 3
    assert result.messages[-1].role == "tool"


def test_all_calls_of_one_round_carry_the_same_index() -> None:
    both = [ToolCall("x", "add", {"a": 1, "b": 1}), ToolCall("y", "multiply", {"a": 3, "b": 3})]
    result = run(FakeModel([both, "done"]), calculator(), "go")
    assert [(step.index, step.kind) for step in result.steps] == [(0, "tool_call"), (0, "tool_call"), (1, "final")]


def test_a_script_that_has_run_out_says_which_turn_was_missing() -> None:
    model = FakeModel([call()])
    model.complete([], [])
    with pytest.raises(ScriptExhausted, match="turn 2"):
        model.complete([], [])

    result = run(FakeModel([call()]), [noop()], "go")
    assert result.steps[-1].kind == "error"
    assert "turn 2" in result.steps[-1].detail
    assert (result.final, result.reason) == ("", "script_exhausted")


@pytest.mark.parametrize(
    ("name", "arguments"), [("nothing", {}), ("add", {"a": 1}), ("add", {"a": "x", "b": 1}), ("broken", {})]
)
def test_a_registry_call_never_raises_and_tells_the_error(name: str, arguments: dict[str, object]) -> None:
    def broken() -> None:
        raise RuntimeError("no luck")

    registry = calculator()
    registry.add(Tool(name="broken", description="", parameters={}, func=broken))
    assert json.loads(registry.call(ToolCall(id="1", name=name, arguments=dict(arguments))))["error"]


def test_any_object_with_complete_is_a_model() -> None:
    class Mine:
        def complete(self, messages: object, tool_schemas: object) -> ModelReply:
            return ModelReply(Message("assistant", "hello"))

    assert run(Mine(), [], "hi").final == "hello"


# ---- 2. the observable loop ----


def test_one_add_causes_exactly_these_events() -> None:
    loop = Loop(FakeModel([call("add", a=2, b=3), "5"]), calculator())
    assert list(loop.events("2+3?")) == [
        AgentEvent("turn.started", {"text": "2+3?"}),
        AgentEvent("model.completed", {"iteration": 1, "tool_calls": ["add"]}),
        AgentEvent("tool.started", {"id": "c1", "name": "add"}),
        AgentEvent("tool.completed", {"id": "c1", "name": "add", "result": 5}),
        AgentEvent("model.completed", {"iteration": 2, "tool_calls": []}),
        AgentEvent("turn.completed", {"answer": "5", "iterations": 2}),
    ]


def test_every_event_and_every_message_says_who_made_it() -> None:
    loop = Loop(FakeModel([call("add", a=2, b=3), "5"]), calculator(), system="s")
    makers = [event.maker for event in loop.events("2+3?")]
    assert makers == ["user", "model", "code", "environment", "model", "code"]
    assert [entry.maker for entry in loop.trace.entries] == ["code", "user", "model", "environment", "model"]


def test_three_noops_under_a_limit_of_two_fail_with_max_iterations() -> None:
    loop = Loop(FakeModel([call()] * 3), [noop()], max_steps=2)
    assert list(loop.events("go"))[-1] == AgentEvent("turn.failed", {"reason": "max_iterations"})


def test_async_code_gets_the_same_events() -> None:
    async def collect() -> list[AgentEvent]:
        loop = Loop(FakeModel([call("add", a=2, b=3), "5"]), calculator())
        return [event async for event in loop.aevents("2+3?")]

    loop = Loop(FakeModel([call("add", a=2, b=3), "5"]), calculator())
    assert asyncio.run(collect()) == list(loop.events("2+3?"))


def test_events_never_block_an_event_loop() -> None:
    async def ticks_while_a_tool_sleeps() -> int:
        import time

        slow = Tool(name="slow", description="", parameters={}, func=lambda: time.sleep(0.3))
        loop, ticks, done = Loop(FakeModel([call("slow"), "ok"]), [slow]), 0, asyncio.Event()

        async def drive() -> None:
            async for _ in loop.aevents("go"):
                pass
            done.set()

        task = asyncio.create_task(drive())
        while not done.is_set():
            await asyncio.sleep(0.01)
            ticks += 1
        await task
        return ticks

    assert asyncio.run(ticks_while_a_tool_sleeps()) >= 10


def test_a_denied_call_is_an_error_result_under_its_id() -> None:
    ran = []
    tool = Tool(name="rm", description="", parameters={}, func=lambda: ran.append(1))
    loop = Loop(FakeModel([call("rm"), "sorry"]), [tool], policy=CapabilityPolicy(allow=["read"]))
    events = list(loop.events("go"))

    assert not ran
    denied = next(event for event in events if event.type == "tool.denied")
    assert (denied.payload["id"], denied.payload["name"]) == ("c1", "rm")
    assert "policy" in denied.payload["reason"]
    assert not [event for event in events if event.type == "tool.started"]
    result = loop.messages[2]
    assert result.tool_call_id == "c1"
    assert json.loads(result.text) == {"error": denied.payload["reason"], "retryable": False}


# ---- 3. the state machine ----


def test_the_states_of_a_run() -> None:
    loop = Loop(FakeModel([call("add", a=2, b=3), "5"]), calculator())
    loop.start("2+3?")
    seen = [loop.state]
    while loop.state is not AgentState.DONE:
        loop.advance()
        if loop.state is not seen[-1]:
            seen.append(loop.state)
    assert seen == ["THINK", "TOOL_CALL", "OBSERVE", "THINK", "DONE"]


def test_each_step_is_logged_with_its_numbers(caplog: pytest.LogCaptureFixture) -> None:
    replies = [
        ModelReply(Message("assistant", None, call("add", a=2, b=3)), usage=Usage(10, 5, 15)),
        ModelReply(Message("assistant", "5"), usage=Usage(20, 1, 21)),
    ]
    with caplog.at_level(logging.INFO, logger="agent"):
        result = run(FakeModel(replies), calculator(), "2+3?")
    first, second = [vars(record) for record in caplog.records if record.message == "agent.step"]

    assert first["trace_id"] == result.trace.trace_id
    assert len(first["trace_id"]) == 12
    int(first["trace_id"], 16)
    assert (first["step"], first["state"], first["msg_count"]) == (1, "OBSERVE", 3)
    assert (first["prompt_tokens"], first["completion_tokens"], first["total_tokens"]) == (10, 5, 15)
    assert first["latency_ms"] >= 0
    assert first["tool_latency_ms"]["c1"] >= 0
    assert (second["step"], second["total_tokens"]) == (2, 21)


def test_no_tool_message_is_written_when_the_reply_had_no_calls() -> None:
    assert [message.role for message in run(FakeModel(["hi"]), calculator(), "hello").messages] == ["user", "assistant"]


# ---- 4. the JSON-action loop ----


def test_json_actions_run_through_the_same_loop() -> None:
    said = [
        '```json\n{"thought": "add", "action": "tool", "tool": "add", "params": {"a": 2, "b": 3}}\n```',
        '{"thought": "done", "action": "final", "response": "It is 5."}',
    ]
    asked: list[list[Message]] = []

    class Inner:
        def complete(self, messages: list[Message], tool_schemas: list[dict[str, object]]) -> ModelReply:
            assert tool_schemas == []
            asked.append(list(messages))
            return ModelReply(Message("assistant", said[len(asked) - 1]))

    result = run(JsonActionModel(Inner()), calculator(), "2+3?", system="Be brief.")

    assert [str(step) for step in result.steps] == [
        "[0] tool_call add({'a': 2, 'b': 3}) -> 5",
        "[1] final     It is 5.",
    ]
    assert [message.role for message in asked[1]] == ["system", "user", "assistant", "user"]
    assert asked[1][0].text.startswith("Be brief.")
    assert "- add: a + b" in asked[1][0].text
    assert asked[1][2].text == said[0]
    assert asked[1][3].text == "Result of add: 5"


def test_no_json_is_taken_as_the_final_answer_and_marked() -> None:
    result = run(JsonActionModel(FakeModel(["It is simply 5."])), calculator(), "2+3?")
    assert (result.final, result.reason) == ("It is simply 5.", "final")
    assert any("parse failed" in warning for warning in result.trace.steps[0].warnings)


def test_an_unknown_action_ends_the_run_with_that_reason() -> None:
    result = run(JsonActionModel(FakeModel(['{"thought": "?", "action": "dance"}'])), calculator(), "2+3?")
    assert (result.final, result.reason) == ("", "unknown_action")
    assert "dance" in result.steps[-1].detail


def test_json_action_params_that_are_no_object_are_an_error_result() -> None:
    said = ['{"action": "tool", "tool": "add", "params": [2, 3]}', '{"action": "final", "response": "sorry"}']
    result = run(JsonActionModel(FakeModel(said)), calculator(), "2+3?")
    assert "error" in json.loads(result.messages[2].text)
    assert result.final == "sorry"


# ---- 5. the bounded loop ----


def test_a_time_limit_says_how_many_rounds_were_used() -> None:
    import time

    from agent import Limits

    slow = Tool(name="slow", description="", parameters={}, func=lambda: time.sleep(0.03))
    result = run(FakeModel([call("slow")] * 50), [slow], "go", max_steps=50, limits=Limits(deadline_s=0.1))
    assert result.reason == "deadline"
    assert "steps" in result.steps[-1].detail
    assert 1 < len(result.trace.steps) < 50


def test_steps_are_plain_values() -> None:
    assert Step(0, "final", "x") == Step(index=0, kind="final", detail="x")
