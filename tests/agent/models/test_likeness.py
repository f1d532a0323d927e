"""When two requests say the same, and how two lists of messages are laid side by side."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import InputError
from agent.messages import Message, ToolCall
from agent.models.aligning import align
from agent.models.likeness import Fingerprints, Ignored, tools_of

WORDS = st.sampled_from(["add", "the", "numbers", "请", "计算", "twice", "42"])
TEXT = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
ARGUMENTS = st.dictionaries(
    st.sampled_from("abcde"), st.integers(0, 9) | TEXT | st.lists(st.integers(0, 3)), max_size=4
)


@st.composite
def conversations(draw):
    """A user's message, rounds of calls with their results in any order, and an answer."""
    messages = [Message("system", draw(TEXT)), Message("user", draw(TEXT))]
    for turn in range(draw(st.integers(0, 3))):
        calls = [ToolCall(f"c{turn}{n}", "act", draw(ARGUMENTS)) for n in range(draw(st.integers(1, 3)))]
        reasoning = {"reasoning_content": draw(TEXT)} if draw(st.booleans()) else {}
        messages.append(Message("assistant", draw(st.none() | TEXT), tuple(calls), extra=reasoning))
        messages += [Message("tool", draw(TEXT), tool_call_id=call.id) for call in draw(st.permutations(calls))]
    return [*messages, Message("assistant", draw(TEXT))]


def keys(messages, ignore=()):
    return Fingerprints(Ignored.of(ignore)).of(messages)[1]


def spelt_otherwise(messages, draw):
    """The same conversation: other ids, other order of keys, other blanks, another name for the reasoning."""
    ids = {}
    for message in messages:
        calls = []
        for call in message.tool_calls:
            ids[call.id] = f"call_{draw(st.integers(0, 10**6))}_{len(ids)}"
            arguments = dict(draw(st.permutations(list(call.arguments.items()))))
            text = json.dumps(arguments, indent=draw(st.integers(0, 4)), ensure_ascii=draw(st.booleans()))
            calls.append(ToolCall(ids[call.id], call.name, arguments, text))
        content = "" if message.content is None else message.content
        extra = {"reasoning": message.reasoning} if message.reasoning else {}
        answers = ids[message.tool_call_id] if message.tool_call_id else None
        yield replace(message, content=content, tool_calls=tuple(calls), tool_call_id=answers, extra=extra)


@given(conversations(), st.data())
def test_the_same_is_the_same_however_it_is_spelt(messages, data):
    assert keys(messages) == keys(list(spelt_otherwise(messages, data.draw)))


@given(conversations(), st.data())
def test_one_other_word_anywhere_is_seen_in_that_message_alone(messages, data):
    at = data.draw(st.integers(0, len(messages) - 1))
    message = messages[at]
    if message.tool_calls and data.draw(st.booleans()):
        first, *rest = message.tool_calls
        changed = replace(message, tool_calls=(replace(first, arguments={**first.arguments, "a": "other"}), *rest))
    else:
        changed = replace(message, content=f"{message.text} other".strip())
    before, after = keys(messages), keys([*messages[:at], changed, *messages[at + 1 :]])
    assert [number for number, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1] == [at]


@given(conversations())
def test_a_request_that_grows_reads_as_one_that_is_read_at_once(messages):
    growing = Fingerprints(Ignored())
    for count in range(len(messages) + 1):
        assert growing.of(messages[:count])[1] == keys(messages[:count])
    for other in (messages[:1], messages[1:]):
        assert growing.of(other)[1] == keys(other), "one that does not begin with the last is read anew"


CALLS = (ToolCall("c1", "act", {"n": 1}), ToolCall("c2", "act", {"n": 2}))


def test_results_that_change_places_are_other_results():
    one, two = Message("tool", "one", tool_call_id="c1"), Message("tool", "two", tool_call_id="c2")
    swapped = [replace(one, tool_call_id="c2"), replace(two, tool_call_id="c1")]
    asked = Message("assistant", None, CALLS)
    assert keys([asked, one, two])[1:] != keys([asked, *swapped])[1:]
    assert keys([asked, one])[1] != keys([Message("assistant", None), one])[1], "it answers nothing"


def test_calls_without_ids_of_their_own_are_answered_in_order():
    named = [Message("assistant", None, CALLS), *(Message("tool", "ok", tool_call_id=call.id) for call in CALLS)]
    calls = tuple(replace(call, id="") for call in CALLS)
    bare = [Message("assistant", None, calls), *(Message("tool", "ok", tool_call_id="") for _ in CALLS)]
    assert keys(named) == keys(bare)


def test_a_result_reads_the_same_when_older_calls_are_left_out():
    old = [Message("assistant", None, CALLS[:1]), Message("tool", "one", tool_call_id="c1")]
    new = [Message("assistant", None, CALLS[1:]), Message("tool", "two", tool_call_id="c2")]
    assert keys([*old, *new])[2:] == keys(new)


def test_of_a_tool_message_only_its_text_counts():
    parts = [{"type": "text", "text": "5"}]
    assert keys([Message("tool", "5", name="add")]) == keys([Message("tool", parts)])
    assert keys([Message("user", "5")]) != keys([Message("user", parts)])


def test_unreadable_arguments_count_as_they_came():
    def asked(text):
        return keys([Message("assistant", None, (ToolCall("c1", "act", {}, text, "not JSON"),))])

    assert asked('{"n": 1') == asked('{"n": 1') != asked('{"n":1')


def test_what_is_ignored_need_only_be_there():
    one, other = Message("developer", "It is noon."), Message("developer", "It is night.")
    thought = Message("assistant", "Yes.", extra={"reasoning": "Hm."})
    assert keys([one]) != keys([other])
    assert keys([one], ["system"]) == keys([other], ["system"])
    assert keys([thought]) != keys([replace(thought, extra={})])
    assert keys([thought], ["reasoning"]) == keys([replace(thought, extra={})], ["reasoning"])


def test_only_known_names_can_be_ignored():
    with pytest.raises(InputError, match="there is no 'sytem' to ignore; did you mean 'system'"):
        Ignored.of(["tools", "sytem"])
    assert Ignored.of(["options.seed"]).option("seed")
    assert not Ignored.of(["options.seed"]).option("temperature")


def test_a_tool_is_the_same_whatever_the_order_of_its_schema():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    turned = {"properties": {"b": {"type": "integer"}, "a": {"type": "integer"}}, "type": "object"}
    one = {"function": {"name": "add", "description": "", "parameters": schema}}
    assert tools_of([one]) == tools_of([{"function": {"parameters": turned, "name": "add"}}])
    assert tools_of([one]) != tools_of([{"function": {"name": "add", "description": "Adds."}}])
    bare = [
        {"function": {"name": "now", **more}} for more in ({}, {"parameters": {"type": "object", "properties": {}}})
    ]
    assert tools_of(bare[:1]) == tools_of(bare[1:]) and tools_of([None, {}]) == {}


@given(st.lists(st.sampled_from("abcdef"), max_size=14), st.lists(st.sampled_from("abcdef"), max_size=14), st.data())
def test_every_message_of_both_lists_is_accounted_for_once(a, b, data):
    roles = {key: data.draw(st.sampled_from(["user", "tool"])) for key in {*a, *b}}
    found = align(a, b, [roles[key] for key in a], [roles[key] for key in b])
    left = [i for i, _ in [*found.changed, *found.moved]] + found.missing
    right = [j for _, j in [*found.changed, *found.moved]] + found.added
    assert len({*left}) == len(left) == len(a) - found.same
    assert len({*right}) == len(right) == len(b) - found.same
    assert all(a[i] == b[j] for i, j in found.moved)
    assert all(a[i] != b[j] and roles[a[i]] == roles[b[j]] for i, j in found.changed)
    lost, new = Counter(a[i] for i in left), Counter(b[j] for j in right)
    moved = Counter(a[i] for i, _ in found.moved)
    assert lost & new == moved, "what is on both sides is never told as lost or new"


def test_long_lists_are_laid_side_by_side_by_what_stands_once_in_each():
    long = [str(number % 3 if number % 2 else number) for number in range(3000)]
    roles = ["user"] * 3000
    found = align(long, [*long[:10], *long[11:], "new"], roles, roles)
    assert (found.same, found.missing, found.added, found.changed, found.moved) == (2999, [10], [2999], [], [])
