"""The one outgoing check, and that every path leaves a message list which passes it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import FakeModel, Loop, Message, ModelReply, Tool, ToolCall
from agent.protocol import INTERRUPTED, repairs, violations, with_own_ids
from agent.request import MessageView, apply_edits
from agent.trace import Edit


def asks(*ids: str) -> Message:
    return Message("assistant", None, tuple(ToolCall(i, "f", {}) for i in ids))


def answers(*ids: str) -> list[Message]:
    return [Message("tool", "ok", tool_call_id=i) for i in ids]


USER = Message("user", "go")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [USER],
        [USER, asks("a"), *answers("a")],
        [USER, asks("a", "b"), *answers("b", "a"), Message("assistant", "x")],
        [USER, asks("a"), *answers("a"), asks("a"), *answers("a")],
    ],
)
def test_lists_that_may_be_sent(messages: list[Message]) -> None:
    assert violations(messages) == []


@pytest.mark.parametrize(
    ("messages", "kind"),
    [
        ([USER, asks("a")], "unanswered"),
        ([USER, asks("a", "b"), *answers("a")], "unanswered"),
        ([USER, asks("a", "b"), *answers("a"), USER, *answers("b")], "unanswered"),
        ([USER, *answers("a")], "orphan"),
        ([USER, asks("a"), *answers("a", "a")], "orphan"),
        ([USER, asks("a"), USER, *answers("a")], "orphan"),
        ([USER, asks("a", "a"), *answers("a", "a")], "bad_ids"),
        ([USER, asks(""), *answers("")], "bad_ids"),
    ],
)
def test_lists_that_would_be_refused(messages: list[Message], kind: str) -> None:
    assert kind in [violation.kind for violation in violations(messages)]
    assert all(violation.text.startswith("message ") for violation in violations(messages))


roles = st.lists(st.sampled_from(["user", "text", "ask a", "ask ab", "answer a", "answer b"]), max_size=12)


def build(kinds: list[str]) -> list[Message]:
    made = {"user": [USER], "text": [Message("assistant", "x")], "ask a": [asks("a")], "ask ab": [asks("a", "b")]}
    return [m for kind in kinds for m in made.get(kind, answers(kind[-1]))]


@given(roles)
def test_repairs_make_any_list_sendable(kinds: list[str]) -> None:
    messages = build(kinds)
    mended = apply_edits(messages, repairs(messages, violations(messages)))
    assert violations(mended) == []
    assert [m for m in mended if m.role in ("user", "assistant")] == [m for m in messages if m.role != "tool"]


@given(roles, st.integers(0, 12))
def test_checking_in_two_parts_finds_the_same(kinds: list[str], cut: int) -> None:
    messages = build(kinds)
    if (
        cut <= len(messages)
        and not violations(messages[:cut])
        and (cut == len(messages) or messages[cut].role != "tool")
    ):
        assert violations(messages, cut) == violations(messages)


def test_calls_without_ids_of_their_own_get_new_ones() -> None:
    message = with_own_ids(asks("x", "x", "", "y"))
    ids = [call.id for call in message.tool_calls]
    assert ids[0] == "x"
    assert ids[3] == "y"
    assert len(set(ids)) == 4
    assert all(len(i) == 9 and i.isalnum() for i in ids[1:3])
    assert with_own_ids(asks("a", "b")) == asks("a", "b")


@pytest.mark.parametrize("ids", [("", ""), ("x", "x")])
def test_both_calls_run_whatever_their_ids_were(ids: tuple[str, str]) -> None:
    seen: list[int] = []
    tool = Tool(name="f", description="", parameters={"type": "object"}, func=lambda n: seen.append(n) or n)
    calls = [ToolCall(i, "f", {"n": n}) for n, i in enumerate(ids, start=1)]
    loop = Loop(FakeModel([ModelReply(Message("assistant", None, tuple(calls))), "done"]), [tool])
    loop.start("go")
    loop.finish()
    assert sorted(seen) == [1, 2]
    assert [m.text for m in loop.messages if m.role == "tool"] == ["1", "2"]
    assert violations(loop.messages) == []
    assert loop.trace.entries[1].raw is not None, "what came is kept beside what was repaired"


def test_an_interrupt_between_two_calls_leaves_a_list_that_can_be_sent() -> None:
    def work(n: int) -> int:
        if n == 2:
            raise KeyboardInterrupt
        return n

    tool = Tool(name="f", description="", parameters={"type": "object"}, func=work)
    calls = [ToolCall("c1", "f", {"n": 1}), ToolCall("c2", "f", {"n": 2})]
    loop = Loop(FakeModel([calls, "hello again"]), [tool], parallel=False)
    loop.start("go")
    with pytest.raises(KeyboardInterrupt):
        loop.finish()
    loop.start("still there?")
    loop.finish()
    assert violations(loop.messages) == []
    results = [message for message in loop.messages if message.role == "tool"]
    assert [message.tool_call_id for message in results] == ["c1", "c2"]
    assert results[0].text == "1"
    assert INTERRUPTED in results[1].text
    assert loop.trace.outcome.final == "hello again"


def test_a_resumed_list_with_a_hole_is_mended_in_the_request_only() -> None:
    loop = Loop(FakeModel(["unused", "fine"]))
    loop.start("go")
    loop.finish()
    snapshot = loop.snapshot()
    snapshot["trace"]["messages"].insert(1, asks("lost").to_dict())
    snapshot["trace"]["entries"].insert(1, {"maker": "model"})
    snapshot["trace"]["steps"] = []
    seen: list[Any] = []

    class Watching(FakeModel):
        def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
            seen.extend(messages)
            return super().complete(messages, tool_schemas, control=control)

    again = Loop.resume(snapshot, model=Watching(["unused", "fine"]))
    again.start("and now?")
    again.finish()
    assert violations(seen) == []
    assert again.trace.steps[0].request.edits[0].by == "protocol"  # type: ignore[union-attr]


def test_edits_speak_of_the_unchanged_list() -> None:
    listed = [Message("user", str(n)) for n in range(5)]
    new = Message("user", "new").to_dict()
    edits = [
        Edit(op="drop", message=1, count=2, by="t"),
        Edit(op="replace", message=3, with_=new, by="t"),
        Edit(op="insert", message=5, with_=new, by="t"),
        Edit(op="insert", message=0, with_=new, by="t"),
    ]
    assert [m.text for m in apply_edits(listed, edits)] == ["new", "0", "new", "4", "new"]


def test_a_view_does_not_grow_with_its_list() -> None:
    listed = [Message("user", str(n)) for n in range(3)]
    view = MessageView(listed, 3)
    listed.append(USER)
    assert len(view) == 3
    assert list(view) == view[:] == listed[:3]
    assert view[-1] is listed[2]
    with pytest.raises(IndexError):
        view[3]


def test_what_was_sent_at_a_step_stays_what_was_sent() -> None:
    from agent.request import request_of

    tool = Tool(name="f", description="", parameters={"type": "object"}, func=lambda: "ok")
    loop = Loop(FakeModel([[ToolCall("a", "f", {})], [ToolCall("a", "f", {})], "done"]), [tool])
    loop.start("go")
    loop.finish()
    assert [len(request_of(loop.trace, step)) for step in loop.trace.steps] == [1, 3, 5]
