"""Interventions over message lists of every kind: whatever they are, the request keeps the protocol, and the list."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent import ContextBudget, Intervention, Message, ToolCall
from agent.context import ContextWindow
from agent.errors import ContextOverflow
from agent.interventions import KINDS, changed_request
from agent.interventions.kinds import Param
from agent.outgoing import Outgoing
from agent.protocol import violations
from agent.request import apply_edits
from agent.state import ContextState

TOOLS = ("look", "fail", "functions.look")
WORDS = st.sampled_from(["", "five", "one\n\ntwo", '{"error": "no", "retryable": true}', "天气 " * 9, "word " * 60])
PARTS = st.lists(
    st.sampled_from([{"type": "text", "text": "five"}, {"type": "image_url", "image_url": {"url": "data:"}}, "plain"]),
    max_size=2,
)
CONTENTS = WORDS | PARTS | st.none()
THOUGHTS = st.sampled_from([{}, {"reasoning_content": "hm"}, {"reasoning_details": [{"data": "x"}], "signature": "s"}])
SAID = WORDS | st.none() | st.sampled_from(["<think>hm</think>\nyes", [{"type": "thinking", "thinking": "hm"}]])


@st.composite
def rounds(draw: st.DrawFn) -> list[Message]:
    """A reply with calls under ids that other rounds have as well, and their results in any order."""
    ids = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3))
    calls = [ToolCall(each, draw(st.sampled_from(TOOLS)), {"n": 1}) for each in ids]
    reply = Message("assistant", draw(SAID), tuple(calls), extra=draw(THOUGHTS))
    results = [Message("tool", draw(CONTENTS), tool_call_id=each) for each in draw(st.permutations(ids))]
    return [reply, *results, *([] if ids else [Message("user", "and?")])]


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    """A message list that keeps the protocol, with system texts before it and in it."""
    system = st.builds(Message, st.sampled_from(["system", "developer"]), WORDS | PARTS)
    said = [*draw(st.lists(system, max_size=2)), Message("user", "go")]
    for messages in draw(st.lists(rounds(), max_size=5)):
        said += messages
        said += draw(st.lists(system, max_size=1)) if draw(st.booleans()) else []
    return said


@st.composite
def broken_talks(draw: st.DrawFn) -> list[Message]:
    """One in which results are missing, stand where they do not belong, or stand twice."""
    said = draw(talks())
    kept = [message for message in said if message.role != "tool" or draw(st.integers(0, 3))]
    for _ in range(draw(st.integers(0, 2))):
        stray = Message("tool", "stray", tool_call_id=draw(st.sampled_from("abd")))
        kept.insert(draw(st.integers(0, len(kept))), stray)
    return kept


def values(param: Param) -> st.SearchStrategy[Any]:
    """Values that a parameter takes."""
    if param.choices:
        return st.sampled_from(param.choices)
    if param.type is int:
        return st.integers(param.least or 0, 4)
    if param.type is list:
        return st.lists(st.sampled_from(TOOLS), max_size=2, unique=True)
    return st.sampled_from(["five", "o", "[gone]"] + ([] if param.needed else [""]))


@st.composite
def interventions(draw: st.DrawFn, kinds: list[str]) -> Intervention:
    """An intervention of one of these kinds with any parameters."""
    kind = draw(st.sampled_from(kinds))
    params = {
        name: draw(values(param))
        for name, param in KINDS[kind].params.items()
        if param.needed or draw(st.integers(0, 2)) == 0
    }
    for least, most in (("from_step", "to_step"), ("min_age", "max_age")):
        if least in params and params.get(most, 9) < params[least]:
            params[most] = params[least]
    return Intervention(kind, params)


SOUND = [kind for kind, about in KINDS.items() if not about.breaks_protocol]
SEVERAL = st.lists(interventions(SOUND), min_size=1, max_size=3)


@given(talks(), SEVERAL)
def test_the_request_keeps_the_protocol(messages: list[Message], changes: list[Intervention]) -> None:
    edits = changed_request(changes, messages)
    assert violations(apply_edits(messages, edits)) == []


@given(talks(), st.lists(interventions(list(KINDS)), min_size=1, max_size=3))
def test_the_list_stays_and_only_what_differs_is_an_edit(messages: list[Message], changes: list[Intervention]) -> None:
    before = deepcopy(messages)
    edits = changed_request(changes, messages)
    assert messages == before
    assert [message.to_dict() for message in messages] == [message.to_dict() for message in before]
    assert edits == changed_request(changes, messages), "nothing is remembered from one request to the next"
    positions = [edit.message for edit in edits]
    assert positions == sorted(set(positions))
    for edit in edits:
        assert edit.by in {change.kind for change in changes}
        assert edit.op == "drop" or edit.with_ != before[edit.message].to_dict()


@given(talks(), interventions([kind for kind in KINDS if "from_step" in KINDS[kind].params]))
def test_results_that_are_not_meant_say_what_they_said(messages: list[Message], change: Intervention) -> None:
    tools, first = change.params.get("tools"), change.params.get("from_step", 1)
    last = change.params.get("to_step", len(messages))
    step, names = 0, dict[str, str]()
    spared = []
    for message in messages:
        if message.role == "assistant":
            step, names = step + 1, {call.id: call.name for call in message.tool_calls}
        elif message.role == "tool":
            name = names[message.tool_call_id or ""]
            if not first <= step <= last or (tools and name not in tools):
                spared.append(message)
    sent = apply_edits(messages, change.edits(messages))
    assert [message for message in spared if message not in sent] == []


@given(broken_talks(), SEVERAL)
@example(
    [
        Message("user", "go"),
        Message("assistant", None, (ToolCall("a", "look"), ToolCall("b", "fail"))),
        Message("tool", "1", tool_call_id="a"),
    ],
    [Intervention("results_as_user")],
)
def test_a_broken_list_is_mended_as_far_as_it_is_sent(messages: list[Message], changes: list[Intervention]) -> None:
    request, _ = Outgoing(None, changes).build(messages, 0, str)
    assert violations(apply_edits(messages, request.edits)) == []


@given(talks() | broken_talks(), SEVERAL, st.integers(20, 200))
def test_a_request_that_the_budget_shortened_keeps_the_protocol(
    messages: list[Message], changes: list[Intervention], size: int
) -> None:
    task_at = max(at for at, message in enumerate(messages) if message.role == "user")
    window = ContextWindow(ContextBudget(size), ContextState())
    try:
        request, fitted = Outgoing(window, changes).build(messages, task_at, lambda _: "so far nothing")
    except ContextOverflow:
        assume(False)
    assert violations(apply_edits(messages, request.edits)) == []
    by_budget = [edit for edit in request.edits if edit.by == "context"]
    assert fitted is not None
    assert by_budget == fitted.edits
    gone = {at for edit in by_budget if edit.op == "drop" for at in range(edit.message, edit.message + edit.count)}
    assert not gone & {edit.message for edit in request.edits if edit.by in KINDS}
