"""The context budget: whole blocks leave, oldest first; then one summary; nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import ContextBudget, FakeModel, Loop, Message, ModelReply, RunResult, Tool, ToolCall, Usage, run
from agent.context import ContextWindow, cap_result
from agent.errors import ContextOverflow
from agent.protocol import violations
from agent.request import apply_edits
from agent.state import ContextState
from agent.tokens import count_messages, count_schemas, count_text


class Watching(FakeModel):
    """Keeps what it was given."""

    def __init__(self, turns: Sequence[Any]) -> None:
        super().__init__(turns)
        self.seen: list[list[Message]] = []

    def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
        self.seen.append(list(messages))
        return super().complete(messages, tool_schemas, control=control)


def big(words: int) -> Tool:
    def read(part: int) -> str:
        return f"fact {part}: " + "lorem ipsum " * words

    return Tool(name="read", description="", parameters={"type": "object"}, func=read)


def read(part: int) -> list[ToolCall]:
    return [ToolCall("c1", "read", {"part": part})]


def go(model: FakeModel, budget: ContextBudget, tool: Tool, **options: Any) -> RunResult:
    return run(model, [tool], "read it all", system="You read.", context=budget, **options)


def no_summary(messages: list[Message]) -> str:
    raise AssertionError("no summary was to be asked for")


def test_under_budget_the_request_is_the_message_list() -> None:
    model = Watching([read(1), read(2), "done"])
    result = go(model, ContextBudget(100_000), big(50))
    assert model.seen[-1] == result.messages[:-1]
    assert all(step.request is not None and step.request.edits == [] for step in result.trace.steps)


def test_the_oldest_call_leaves_with_its_result_and_the_newest_stays() -> None:
    model = Watching([read(1), read(2), read(3), "done"])
    result = go(model, ContextBudget(500, max_result_tokens=10_000), big(80))

    last = model.seen[-1]
    assert violations(last) == []
    assert [message.role for message in last][:2] == ["system", "user"]
    assert "fact 3" in last[-1].text
    assert not any("fact 1" in message.text for message in last)
    assert "left out" in last[0].text, "the model is told that something is missing"
    assert result.reason == "final"
    assert len(result.messages) == 9, "the message list itself keeps everything"
    edits = result.trace.steps[-1].request.edits  # type: ignore[union-attr]
    assert {edit.by for edit in edits} == {"context"}
    assert [note["kind"] for note in result.trace.notes].count("context") >= 1


def test_parallel_calls_leave_together() -> None:
    both = [ToolCall("a", "read", {"part": 1}), ToolCall("b", "read", {"part": 2})]
    model = Watching([both, read(3), read(4), "done"])
    go(model, ContextBudget(700, max_result_tokens=10_000), big(80))
    for seen in model.seen:
        assert violations(seen) == []
    assert not any("fact 1" in message.text or "fact 2" in message.text for message in model.seen[-1])


def test_when_pairs_are_not_enough_older_turns_become_one_summary_twice_in_a_row() -> None:
    long = "word " * 300
    model = Watching([long, "S1: the code word is BANANA", long, "S2: BANANA and more", "done"])
    loop = Loop(model, system="Be brief.", context=ContextBudget(400))
    for text in ("first " + "x " * 60, "second " + "x " * 60, "third"):
        loop.start(text)
        loop.finish()
        assert loop.stop_reason == "final"

    assert [step.index for step in loop.trace.steps] == [1, 2, 3], "a summary is not a step"
    second, third = model.seen[2], model.seen[4]
    assert "S1: the code word is BANANA" in second[0].text
    assert second[0].text.startswith("Be brief.")
    assert second[-1].text.startswith("second")
    assert "S2: BANANA and more" in third[0].text
    assert "S1" not in third[0].text
    assert "S1: the code word is BANANA" in model.seen[3][-1].text, "the second summary builds on the first"
    assert violations(third) == []


def test_summaries_count_in_the_budgets() -> None:
    def say(text: str) -> ModelReply:
        return ModelReply(Message("assistant", text), usage=Usage(100, 10, 110))

    long = "word " * 300
    loop = Loop(FakeModel([say(long), say("summary"), say("done")]), context=ContextBudget(200))
    for text in ("first", "second"):
        loop.start(text)
        loop.finish()
    assert loop.run.counters.tokens == 330
    assert loop.trace.usage.total == 220


def test_a_summary_that_fails_ends_the_run_with_its_reason() -> None:
    loop = Loop(FakeModel(["word " * 300, RuntimeError("no summary today")]), context=ContextBudget(300))
    for text in ("first", "second"):
        loop.start(text)
        loop.finish()
    assert loop.stop_reason == "model_error"


def test_what_cannot_fit_stops_once_with_the_numbers() -> None:
    schema = {"type": "object", "properties": {f"parameter_{n}": {"type": "string"} for n in range(200)}}
    heavy = Tool(name="heavy", description="", parameters=schema, func=lambda **_: "")
    model = Watching(["never said"])
    result = run(model, [heavy], "go", context=ContextBudget(300))
    assert result.reason == "context_overflow"
    assert model.seen == []
    assert "300" in result.trace.outcome.detail
    assert "system text and tools take" in result.trace.outcome.detail


def test_the_users_own_text_stays_even_when_the_model_was_nudged() -> None:
    from agent import Limits

    model = Watching([read(1), read(2), ModelReply(Message("assistant", "")), "done"])
    result = go(model, ContextBudget(450, max_result_tokens=10_000), big(80), limits=Limits(nudges=1))
    assert result.reason == "final"
    assert model.seen[-1][1].text == "read it all"


def test_the_providers_count_corrects_the_estimate() -> None:
    replies = [
        ModelReply(Message("assistant", None, tuple(read(n))), usage=Usage(min(100 + 160 * n, 420), 5))
        for n in (1, 2, 3)
    ]
    model = Watching([*replies, "done"])
    result = go(model, ContextBudget(500), big(30))
    assert result.reason == "final"
    assert any(edit.op == "drop" for edit in result.trace.steps[-1].request.edits)  # type: ignore[union-attr]
    assert "provider's count" in result.trace.notes[-1]["text"]


@pytest.mark.parametrize(
    "text", ["x" * 2_000_000, "中文" * 400_000, '{"rows": ["' + "a b " * 300_000 + '"]}', "QUJD" * 300_000]
)
def test_one_result_larger_than_the_window_is_cut_in_the_middle_and_kept_in_full(text: str) -> None:
    tool = Tool(name="read", description="", parameters={"type": "object"}, func=lambda part: text)
    result = go(FakeModel([read(1), "done"]), ContextBudget(2000), tool)
    assert result.reason == "final"
    shown = result.messages[3].text
    assert count_text(shown) < 700
    assert f"of {len(text)} characters omitted" in shown
    assert shown.startswith(text[:10])
    assert shown.endswith(text[-10:])
    assert result.trace.entries[3].raw == text


def test_a_short_result_is_the_same_object() -> None:
    text = "short"
    assert cap_result(text, 100) is text


messages = st.lists(
    st.sampled_from(["user", "call", "two calls", "text"]).flatmap(
        lambda kind: st.tuples(st.just(kind), st.integers(0, 120))
    ),
    max_size=14,
)


def conversation(parts: list[tuple[str, int]]) -> list[Message]:
    made = [Message("system", "sys"), Message("user", "first")]
    for kind, size in parts:
        text = "w " * size
        if kind == "user":
            made.append(Message("user", text))
        elif kind == "text":
            made.append(Message("assistant", text))
        else:
            ids = ["a"] if kind == "call" else ["a", "b"]
            made.append(Message("assistant", None, tuple(ToolCall(i, "f", {}) for i in ids)))
            made += [Message("tool", text, tool_call_id=i) for i in ids]
    return made


@given(messages, st.integers(20, 2000))
@settings(max_examples=200, deadline=None)
def test_whatever_leaves_the_request_keeps_the_protocol_and_the_task(parts: list[tuple[str, int]], limit: int) -> None:
    listed = conversation(parts)
    task_at = max(at for at, message in enumerate(listed) if message.role == "user")
    window = ContextWindow(ContextBudget(limit), ContextState(), 10)
    for upto in range(task_at + 1, len(listed) + 1):
        part = listed[:upto]
        if violations(part):
            continue
        try:
            fitted = window.fit(part, task_at, lambda asked: "a summary")
        except ContextOverflow:
            assert count_messages(part) + 10 > limit
            return
        sent = apply_edits(part, fitted.edits)
        assert violations(sent) == []
        assert sent[0].role == "system"
        assert listed[task_at] in sent
        assert part[-1] in sent
        assert fitted.tokens <= limit
        if count_messages(part) + 10 <= limit:
            assert fitted.edits == []


@given(messages)
@settings(max_examples=50, deadline=None)
def test_far_above_its_size_nothing_changes(parts: list[tuple[str, int]]) -> None:
    listed = conversation(parts)
    window = ContextWindow(ContextBudget(10**6), ContextState())
    assert window.fit(listed, 1, no_summary).edits == []


def test_estimates_are_close_on_known_texts() -> None:
    assert 7 <= count_text("The quick brown fox jumps over the lazy dog.") <= 13
    assert 4 <= count_text("今天天气怎么样？") <= 12
    assert count_text("") == 0
    image = Message("user", [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_000_000}}])
    assert count_messages([image]) < 2000
    assert count_schemas([{"type": "function"}]) > 0
