"""Each kind of intervention, which results it concerns, and what several of them make of one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agent import Intervention, Message, ToolCall, tokens
from agent.errors import InputError
from agent.interventions import KINDS, changed_request
from agent.protocol import violations
from agent.request import apply_edits
from agent.trace import Edit

ERROR = '{"error": "no such thing", "retryable": false}'


def asks(*calls: tuple[str, str], content: Any = None, **extra: Any) -> Message:
    """A reply with these calls, each an id and the name of a tool."""
    return Message("assistant", content, tuple(ToolCall(i, name, {"n": 1}) for i, name in calls), extra=extra)


def gives(call_id: str, content: Any) -> Message:
    return Message("tool", content, tool_call_id=call_id)


TALK = [
    Message("system", "You look.\n\nBe brief."),
    Message("user", "go"),
    asks(("a", "look"), ("b", "fail"), reasoning_content="hm"),
    gives("a", "one apple"),
    gives("b", ERROR),
    asks(("a", "look"), content="And now?"),
    gives("a", "two apples"),
]


def sent(changes: Sequence[tuple[str, dict[str, Any]]], messages: Sequence[Message] = TALK) -> list[Message]:
    """The request that these interventions, kinds with their parameters, make of a message list."""
    return apply_edits(messages, changed_request([Intervention(*each) for each in changes], messages))


def texts(messages: Sequence[Message], role: str = "tool") -> list[str]:
    return [message.text for message in messages if message.role == role]


def only(kind: str, **params: Any) -> list[Message]:
    return sent([(kind, params)])


# ---- what each kind does ----


def test_calls_go_together_with_their_results() -> None:
    assert only("drop_pairs") == TALK[:2]


def test_a_reply_keeps_the_calls_whose_results_stay() -> None:
    request = only("drop_pairs", tools=["fail"])
    assert [call.name for message in request for call in message.tool_calls] == ["look", "look"]
    assert (texts(request), request[2].extra) == (["one apple", "two apples"], {"reasoning_content": "hm"})


def test_blanked_results_keep_their_ids() -> None:
    request = only("blank_results", text="[gone]")
    assert texts(request) == ["[gone]"] * 3
    assert [m.tool_call_id for m in request if m.role == "tool"] == ["a", "b", "a"]


def test_words_of_results_are_replaced_and_nothing_else_is_an_edit() -> None:
    change = Intervention("replace_results", {"find": "two", "text": "no"})
    (edit,) = change.edits(TALK)
    assert (edit.op, edit.message, edit.by, (edit.with_ or {})["content"]) == (
        "replace",
        6,
        "replace_results",
        "no apples",
    )


def test_results_are_cut_to_characters() -> None:
    assert texts(only("truncate_results", size=4)) == ["one", "{", "two"]
    assert texts(only("truncate_results", size=0)) == ["", "", ""]
    assert only("truncate_results") == TALK


@pytest.mark.parametrize("size", [0, 1, 3, 10, 40])
@pytest.mark.parametrize("text", ["word " * 90, "天气晴朗，" * 60, "{[(,;!?)]}" * 40, "a" * 900 + " 天气" * 90])
def test_results_are_cut_to_at_most_so_many_tokens(size: int, text: str) -> None:
    messages = [*TALK[:2], asks(("a", "look")), gives("a", text)]
    (cut,) = texts(sent([("truncate_results", {"size": size, "unit": "tokens"})], messages))
    assert text.startswith(cut)
    assert tokens.count_text(cut) <= size
    assert (cut == "") == (size == 0)


def test_only_the_newest_results_are_kept() -> None:
    assert texts(only("keep_last_results")) == ["[result removed]", "[result removed]", "two apples"]
    assert texts(only("keep_last_results", count=2, text="-")) == ["-", ERROR, "two apples"]
    assert texts(only("keep_last_results", count=0, text="-")) == ["-", "-", "-"]
    assert only("keep_last_results", count=3) == TALK


def test_older_results_are_dropped_with_their_calls() -> None:
    request = only("keep_last_results", count=2, how="drop")
    assert [call.name for message in request for call in message.tool_calls] == ["fail", "look"]
    assert only("keep_last_results", count=0, how="drop") == TALK[:2]


def test_results_say_what_others_said() -> None:
    assert texts(only("swap_results")) == ["two apples", "one apple", ERROR]


@pytest.mark.parametrize("kind", ["swap_results", "reorder_results"])
def test_one_result_alone_has_nothing_to_be_mixed_up_with(kind: str) -> None:
    assert Intervention(kind).edits([*TALK[:2], *TALK[5:]]) == []


def test_errors_are_hidden_or_say_nothing() -> None:
    assert texts(only("drop_errors")) == ["one apple", "two apples"]
    assert texts(only("blank_errors", text="none")) == ["one apple", "none", "two apples"]


@pytest.mark.parametrize("text", ['{"error": null, "found": 3}', '{"errors": 1}', "error", "[1]", ""])
def test_what_only_looks_like_an_error_stays(text: str) -> None:
    assert Intervention("drop_errors").edits([*TALK[:5], asks(("c", "look")), gives("c", text)])[-1].message == 4


def test_results_are_missing_while_their_calls_stay() -> None:
    request = only("omit_results", tools=["look"])
    assert texts(request) == [ERROR]
    assert [found.kind for found in violations(request)] == ["unanswered", "unanswered"]
    assert Intervention("omit_results").breaks_protocol


def test_parallel_results_stand_in_reverse_order() -> None:
    request = only("reorder_results")
    assert texts(request) == [ERROR, "one apple", "two apples"]
    assert [m.tool_call_id for m in request if m.role == "tool"] == ["b", "a", "a"]


def test_each_result_carries_the_id_of_another_call() -> None:
    ids = [m.tool_call_id for m in only("shuffle_ids") if m.role == "tool"]
    assert ids == ["wrong_a", "a", "b"]
    alone = [*TALK[:2], *TALK[5:]]
    assert sent([("shuffle_ids", {})], alone)[-1].tool_call_id == "wrong_a"
    assert violations(sent([("shuffle_ids", {})], alone)) != []


def test_results_are_told_by_the_user() -> None:
    request = only("results_as_user")
    assert [message.role for message in request] == ["system", "user", "assistant", "user", "user", "assistant", "user"]
    assert not any(message.tool_calls for message in request)
    assert request[2].content == 'look({"n": 1})\nfail({"n": 1})'
    assert request[2].extra == {"reasoning_content": "hm"}
    assert request[5].content == 'And now?\nlook({"n": 1})'
    assert texts(request, "user")[1:] == ["Result of look: one apple", f"Result of fail: {ERROR}", request[6].text]


def test_results_that_are_not_told_stand_right_after_their_calls() -> None:
    request = only("results_as_user", tools=["look"])
    assert [message.role for message in request[2:5]] == ["assistant", "tool", "user"]
    assert ([call.name for call in request[2].tool_calls], request[3].text) == (["fail"], ERROR)
    assert violations(request) == []


def test_parts_that_are_no_text_are_told_as_well() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    said: list[Any] = [{"type": "text", "text": "Look:"}]
    messages = [*TALK[:2], asks(("a", "look"), content=said), gives("a", [{"type": "text", "text": "seen"}, picture])]
    request = sent([("results_as_user", {})], messages)
    assert request[2].content == [*said, {"type": "text", "text": 'look({"n": 1})'}]
    head = {"type": "text", "text": "Result of look:"}
    assert request[3].content == [head, {"type": "text", "text": "seen"}, picture]
    assert sent([("replace_results", {"find": "seen", "text": "not seen"})], messages)[3].content == [
        {"type": "text", "text": "not seen"},
        picture,
    ]
    assert sent([("truncate_results", {"size": 9})], messages) == messages
    assert sent([("truncate_results", {"size": 2})], messages)[3].content == "se"
    assert sent([("blank_results", {})], messages)[3].content == ""


def test_the_system_text_is_left_out_or_a_paragraph_of_it() -> None:
    assert only("drop_system") == TALK[1:]
    assert only("drop_system", paragraph=1)[0].content == "Be brief."
    assert only("drop_system", paragraph=2)[0].content == "You look."
    assert only("drop_system", paragraph=3) == TALK
    assert sent([("drop_system", {"paragraph": 1})] * 2) == TALK[1:]


def test_paragraphs_are_counted_through_all_system_messages() -> None:
    messages = [TALK[0], Message("developer", "Use tools.\n  \nNever guess."), *TALK[1:3], Message("system", "Hurry.")]
    assert texts(sent([("drop_system", {"paragraph": 4})], messages), "developer") == ["Use tools."]
    assert texts(sent([("drop_system", {"paragraph": 5})], messages), "system") == [TALK[0].text]
    assert sent([("drop_system", {})], messages) == TALK[1:3]


REASONED = [
    *TALK[:2],
    asks(("a", "look"), reasoning="hm", reasoning_details=[{}], thinking_blocks=[{}], signature="s"),
    gives("a", "1"),
    asks(("b", "look"), content=[{"type": "thinking", "thinking": "hm"}]),
    gives("b", "2"),
    Message("assistant", "<think>hm</think>\nIt is <think>."),
    Message("user", "and?"),
    Message("assistant", "<think>cut off"),
]


def test_reasoning_is_not_sent_back() -> None:
    request = sent([("drop_reasoning", {})], REASONED)
    assert request[2].extra == {"signature": "s"}
    assert [message.content for message in request if message.role == "assistant"] == [None, None, "It is <think>.", ""]


def test_reasoning_of_chosen_replies_alone() -> None:
    changed = [edit.message for edit in Intervention("drop_reasoning", {"min_age": 1}).edits(REASONED)]
    assert changed == [2, 4, 6]
    assert [e.message for e in Intervention("drop_reasoning", {"from_step": 2, "to_step": 2}).edits(REASONED)] == [4]


# ---- which results are meant ----


@pytest.mark.parametrize(
    ("chosen", "meant"),
    [
        ({}, [3, 4, 6]),
        ({"tools": ["look"]}, [3, 6]),
        ({"tools": ["fail", "other"]}, [4]),
        ({"tools": ["other"]}, []),
        ({"from_step": 2}, [6]),
        ({"to_step": 1}, [3, 4]),
        ({"from_step": 3}, []),
        ({"min_age": 1}, [3, 4]),
        ({"max_age": 0}, [6]),
        ({"min_age": 1, "max_age": 1, "tools": ["look"]}, [3]),
        ({"max_age": 1, "from_step": 2}, [6]),
    ],
)
def test_results_are_chosen_by_tool_step_and_age(chosen: dict[str, Any], meant: list[int]) -> None:
    edits = Intervention("blank_results", chosen).edits(TALK)
    assert [(edit.message, edit.by) for edit in edits] == [(at, "blank_results") for at in meant]


def test_a_reply_without_calls_makes_older_results_older() -> None:
    messages = [*TALK, Message("assistant", "Two."), Message("user", "again")]
    edits = Intervention("blank_results", {"max_age": 1}).edits(messages)
    assert [edit.message for edit in edits] == [6]


@pytest.mark.parametrize(
    ("kind", "params", "says"),
    [
        ("replace_results", {}, "needs find"),
        ("replace_results", {"find": ""}, "find of the intervention replace_results must not be empty"),
        ("hide_tool", {}, "needs tool"),
        ("truncate_results", {"size": -1}, "size of .* must be a whole number from 0, not -1"),
        ("truncate_results", {"size": 10**30}, "size of .* must be at most 1,000,000,000"),
        ("truncate_results", {"size": True}, "size of .* must be a whole number, not True"),
        ("truncate_results", {"unit": "words"}, "unit of .* must be one of characters, tokens, not 'words'"),
        ("blank_results", {"tools": "look"}, "tools of .* must be a list of names, not 'look'"),
        ("blank_results", {"tools": [1]}, "tools of .* must be a list of names"),
        ("blank_results", {"from_step": 3, "to_step": 2}, "to_step of .* must not be below from_step"),
        ("drop_reasoning", {"min_age": 2, "max_age": 1}, "max_age of .* must not be below min_age"),
        ("blank_results", {"to_step": 0}, "to_step of .* must be a whole number from 1, not 0"),
        ("drop_reasoning", {"tools": ["look"]}, "unknown parameter 'tools'"),
        ("no_policy", {"x": 1}, "it takes none"),
    ],
)
def test_a_senseless_parameter_is_refused(kind: str, params: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Intervention(kind, params)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("replace_results", "hide_tool")])
def test_the_usual_values_are_what_holds_where_nothing_is_said(kind: str) -> None:
    usual = {name: param.usual for name, param in KINDS[kind].params.items()}
    assert Intervention(kind, usual).edits(TALK) == Intervention(kind).edits(TALK)


# ---- several of them ----


def test_each_sees_the_request_as_the_ones_before_it_left_it() -> None:
    replace_then_cut = [
        ("replace_results", {"find": "one", "text": "a hundred"}),
        ("truncate_results", {"size": 9}),
    ]
    assert texts(sent(replace_then_cut))[0] == "a hundred"
    assert texts(sent(replace_then_cut[::-1]))[0] == "a hundred apple"


def test_what_was_left_out_is_not_counted_among_the_newest() -> None:
    request = sent([("drop_errors", {}), ("keep_last_results", {"count": 2})])
    assert texts(request) == ["one apple", "two apples"]


def test_what_is_told_by_the_user_is_no_result_any_more() -> None:
    told = sent([("results_as_user", {})])
    assert sent([("results_as_user", {}), ("blank_results", {}), ("drop_pairs", {})]) == told
    blank_first = sent([("blank_results", {}), ("results_as_user", {})])
    assert texts(blank_first, "user")[1:] == ["Result of look:", "Result of fail:", "Result of look:"]


def test_a_result_that_was_moved_is_found_under_its_own_tool() -> None:
    request = sent([("reorder_results", {}), ("drop_pairs", {"tools": ["fail"]}), ("results_as_user", {})])
    assert texts(request, "user")[1:] == ["Result of look: one apple", "Result of look: two apples"]


def test_the_last_one_that_changed_a_message_is_named() -> None:
    cut, dropped = Intervention("truncate_results", {"size": 3}), Intervention("drop_pairs", {"tools": ["fail"]})
    edits = changed_request([Intervention("blank_results", {"text": "nothing"}), cut, dropped], TALK)
    assert [(edit.op, edit.message, edit.by) for edit in edits] == [
        ("replace", 2, "drop_pairs"),
        ("replace", 3, "truncate_results"),
        ("drop", 4, "drop_pairs"),
        ("replace", 6, "truncate_results"),
    ]


def test_what_is_again_as_it_was_is_no_edit() -> None:
    assert changed_request([Intervention("reorder_results")] * 2, TALK) == []
    assert changed_request([Intervention("swap_results")] * 3, TALK) == []


# ---- together with a context budget ----

NOTICE = "[2 earlier messages were left out]"
REPLACED = Edit(op="replace", message=0, by="context", with_=Message("system", f"{TALK[0].text}\n\n{NOTICE}").to_dict())
INSERTED = Edit(op="insert", message=0, by="context", with_=Message("system", NOTICE).to_dict())
DROPPED = Edit(op="drop", message=2, count=3, by="context")


def after_budget(
    edits: list[Edit], *changes: tuple[str, dict[str, Any]], messages: list[Message] = TALK
) -> list[Message]:
    interventions = [Intervention(*each) for each in changes]
    return apply_edits(messages, changed_request(interventions, messages, edits))


def test_what_the_budget_left_out_stays_out() -> None:
    made = changed_request([Intervention("blank_results"), Intervention("drop_pairs")], TALK, [REPLACED, DROPPED])
    assert made[:2] == [REPLACED, DROPPED]
    assert {edit.message for edit in made[2:]} == {5, 6}
    assert after_budget([REPLACED, DROPPED], ("swap_results", {})) == after_budget([REPLACED, DROPPED])
    ids = [m.tool_call_id for m in after_budget([REPLACED, DROPPED], ("shuffle_ids", {})) if m.role == "tool"]
    assert ids == ["wrong_a"]


def test_the_notice_of_the_budget_is_no_part_of_the_system_text() -> None:
    whole = after_budget([REPLACED, DROPPED], ("drop_system", {}))
    assert (whole[0].role, whole[0].content, len(whole)) == ("system", NOTICE, 4)
    part = after_budget([REPLACED, DROPPED], ("drop_system", {"paragraph": 2}))
    assert part[0].content == f"You look.\n\n{NOTICE}"
    assert after_budget([REPLACED, DROPPED], ("drop_system", {"paragraph": 3})) == after_budget([REPLACED, DROPPED])


def test_a_message_that_the_budget_inserted_stays() -> None:
    messages = TALK[1:]
    edits = [INSERTED, Edit(op="drop", message=1, count=3, by="context")]
    request = after_budget(edits, ("drop_system", {}), ("blank_results", {}), messages=messages)
    assert [(m.role, m.text) for m in request] == [
        ("system", NOTICE),
        ("user", "go"),
        ("assistant", "And now?"),
        ("tool", ""),
    ]
