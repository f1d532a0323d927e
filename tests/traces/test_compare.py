import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.messages import Message, ToolCall
from agent.trace import Outcome, ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces import compare as comparing
from traces.aligning import align
from traces.compare import compare, whole_text
from traces.worddiff import diff_lines, word_diff


def trace_of(*messages, steps=(), outcome=None):
    trace = Trace(steps=list(steps), outcome=outcome or Outcome())
    for message in messages:
        trace.add(message, "user")
    return trace


def says(text, role="assistant", **calls):
    made = tuple(ToolCall(f"id-{random.random()}", name, arguments) for name, arguments in calls.items())
    return Message(role, text, made)


def kinds(comparison):
    return [(row.kind, row.a, row.b) for row in comparison.rows]


@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
def test_aligned_items_are_equal_and_keep_their_order(a, b):
    pairs = align(a, b).pairs
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    assert len(align(a, a).pairs) == len(a)


@given(st.text("ab \n猫", max_size=60), st.text("ab \n猫", max_size=60))
def test_the_pieces_of_a_diff_are_the_two_texts(a, b):
    pieces = word_diff(a, b).pieces
    assert "".join(piece.text for piece in pieces if piece.op != "only_b") == a
    assert "".join(piece.text for piece in pieces if piece.op != "only_a") == b
    assert all(one.op != two.op for one, two in pairwise(pieces))
    diff_lines(word_diff(a, b))


def test_equal_traces_do_not_part_although_their_ids_differ():
    a, b = (trace_of(says("do it", "user"), says("", add={"a": 1, "b": 2}), says("3", "tool")) for _ in range(2))
    comparison = compare(a, b)
    assert (comparison.divergence, comparison.prefix, comparison.approximate) == (None, 3, ())
    assert comparison.same_answer is None


def test_the_first_difference_is_found_and_said_to_be_one_of_arguments():
    a = trace_of(says("do it", "user"), says("", add={"a": 1}), says("1", "tool"), says("done"))
    b = trace_of(says("do it", "user"), says("", add={"a": 2}), says("1", "tool"), says("done"))
    comparison = compare(a, b)
    assert kinds(comparison) == [("same", 0, 0), ("changed", 1, 1), ("same", 2, 2), ("same", 3, 3)]
    assert comparison.divergence == 1 and comparison.rows[1].differs == ("calls",)
    assert comparison.approximate == ()


def test_what_only_one_of_them_has_stands_alone():
    a = trace_of(says("q", "user"), says("first thought"), says("end"))
    b = trace_of(says("q", "user"), says("first thought"), says("", look={}), says("seen", "tool"), says("end"))
    comparison = compare(a, b)
    assert kinds(comparison)[2:] == [("only_b", None, 2), ("only_b", None, 3), ("same", 2, 4)]
    assert (comparison.count("same"), comparison.count("only_b"), comparison.count("only_a")) == (3, 2, 0)
    assert kinds(compare(b, a))[2:4] == [("only_a", 2, None), ("only_a", 3, None)]


def test_pairs_that_are_a_guess_are_said_to_be_one():
    a = trace_of(says("q", "user"), says("", read={"f": 1}), says("one", "tool"), says("A"))
    b = trace_of(says("q", "user"), says("", read={"f": 2}), says("two", "tool"), says("", look={}), says("B"))
    comparison = compare(a, b)
    assert kinds(comparison) == [
        ("same", 0, 0),
        ("changed", 1, 1),
        ("changed", 2, 2),
        ("only_b", None, 3),
        ("changed", 3, 4),
    ]
    assert comparison.approximate == (comparing.GUESSED,)


def test_steps_are_paired_as_their_replies_and_numbers_are_compared():
    def run(ok):
        return ToolRun(tool_call_id="c", name="look", ok=ok)

    a = trace_of(
        says("q", "user"),
        says("end"),
        steps=[TraceStep(index=1, reply=1, usage=Usage(10, 5), latency_ms=1000)],
        outcome=Outcome(reason="final", final="end"),
    )
    b = trace_of(
        says("q", "user"),
        says("", look={}),
        says("seen", "tool"),
        says("end"),
        steps=[
            TraceStep(index=1, reply=1, usage=Usage(10, 1), tools=[run(False), run(True)]),
            TraceStep(index=2),
            TraceStep(index=3, reply=3, usage=Usage(30, 5), latency_ms=500),
        ],
        outcome=Outcome(reason="max_iterations", final="end"),
    )
    comparison = compare(a, b)
    numbers = [(pair.a and pair.a.index, pair.b and pair.b.index, pair.same) for pair in comparison.steps]
    assert numbers == [(None, 1, False), (None, 2, False), (1, 3, True)]
    deltas = {delta.name: (delta.a, delta.b, delta.change) for delta in comparison.deltas}
    assert deltas["prompt_tokens"] == (10, 40, 30)
    assert deltas["tool_calls"] == (0, 2, 2) and deltas["errors"] == (0, 1, 1)
    assert deltas["cost"] == (None, None, None) and deltas["model_s"] == (1.0, 0.5, -0.5)
    (use,) = comparison.tools
    assert (use.name, use.calls_a, use.calls_b, use.errors_b) == ("look", 0, 2, 1)
    assert (comparison.outcome_a, comparison.outcome_b) == ("final", "max_iterations")
    assert comparison.same_answer is True


def test_traces_without_messages_can_be_compared():
    assert kinds(compare(trace_of(), trace_of())) == []
    assert kinds(compare(trace_of(), trace_of(says("x")))) == [("only_b", None, 0)]


@pytest.mark.parametrize("repeats", [1, 3, 10**9])
def test_five_thousand_messages_on_each_side_take_seconds(repeats):
    chance = random.Random(1)
    a = [says(f"m {chance.randrange(repeats)}", chance.choice(("assistant", "tool"))) for _ in range(5000)]
    b = [m if chance.random() < 0.7 else says(f"other {chance.randrange(repeats)}") for m in a]
    start = time.process_time()
    comparison = compare(trace_of(*a), trace_of(*b))
    assert time.process_time() - start < 5
    assert [row.a for row in comparison.rows if row.a is not None] == list(range(5000))
    assert [row.b for row in comparison.rows if row.b is not None] == list(range(5000))
    assert comparison.count("same") > 2000


def test_the_words_of_a_message_are_its_reasoning_text_and_calls_without_images():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 4000}}
    message = Message("assistant", [{"type": "text", "text": "see"}, image], (ToolCall("c", "f", {"é": 1}),))
    message.extra["reasoning_content"] = "hm"
    assert whole_text(message).splitlines()[:2] == ["hm", "see"]
    assert '"é": 1' in whole_text(message) and "AAAA" not in whole_text(message)
    broken = Message("assistant", None, (ToolCall("c", "f", {}, "{oops", "no JSON"),))
    assert whole_text(broken) == "f({oops)"


def test_differences_are_lines_with_marked_words():
    diff = word_diff("the cat\nsat\n" + "x\n" * 9 + "end", "the dog\nsat\n" + "x\n" * 9 + "end")
    assert diff_lines(diff).split("\n") == ["-the [-cat-]", "+the {+dog+}", " sat", " x", "… 9 …"]
    assert diff_lines(word_diff("same", "same")) == " same"
    assert diff_lines(word_diff("", "new\nlines")) == "+new\n+lines"
    assert diff_lines(word_diff("f(x)\n", "first\nf(x)\n")) == "+first\n f(x)"
    assert diff_lines(word_diff("a b c", "a c")) == "-a [-b -]c"
    assert diff_lines(word_diff("one", "two")) == "-one\n+two"


def test_long_texts_are_compared_by_lines_which_is_said():
    long = "".join(f"line {n} of many words\n" for n in range(20_000))
    start = time.process_time()
    diff = word_diff(long, long.replace("line 777 ", "LINE 777 "))
    assert time.process_time() - start < 5
    assert diff.approximate and not word_diff("a", "b").approximate
    assert [piece.text for piece in diff.pieces if piece.op == "only_b"] == ["LINE 777 of many words\n"]
