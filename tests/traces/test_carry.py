"""What a message costs in later calls, what fills the context, and where the numbers come from."""

from __future__ import annotations

import pytest

from agent import FakeModel, Loop, Message, Tool, ToolCall, tokens
from agent.context import ContextBudget
from agent.trace import Edit, Request, Trace
from agent.usage import Usage
from tests.traces.lint.talk import asks, call, result, says, talk, tool, used, user
from traces.carry import carried
from traces.composition import MOST_TOOLS, Part, composition
from traces.held import held_by_steps
from traces.sizes import estimate, estimate_text, message_sizes

SYSTEM = {"role": "system", "content": "You are a helper."}
LOOK = [tool("look", at="integer")]


def measured_talk() -> Trace:
    return talk(
        SYSTEM,
        user("What is here?"),
        {**asks(call("look", at=1)), "_usage": Usage(100, 20, 120)},
        result("word " * 480),
        {**asks(call("look", at=2)), "_usage": Usage(620, 20, 640)},
        result("nothing"),
        {**says("Much is here."), "_usage": Usage(645, 10, 655)},
        tools=LOOK,
    )


def test_a_result_is_paid_for_by_every_later_call() -> None:
    costs = carried(measured_talk())
    assert [cost.sent for cost in costs] == [3, 3, 2, 2, 1, 1, 0]
    assert (costs[3].tokens, costs[3].measured, costs[3].cost) == (500, True, 1000)
    assert (costs[6].tokens > 0, costs[6].cost) == (True, 0)


def test_a_reply_takes_what_the_provider_counted_for_it() -> None:
    sizes = message_sizes(measured_talk())
    assert (sizes[2].tokens, sizes[2].measured) == (20, True)
    assert not sizes[1].measured


def test_reasoning_is_not_sent_again() -> None:
    usage = Usage(100, 320, 420, reasoning_tokens=300)
    trace = talk(
        user("go"), {**asks(call("look", at=1)), "_usage": usage}, result("x"), {**says("x"), "_usage": used(130)}
    )
    assert message_sizes(trace)[1].tokens == 20


def test_several_new_messages_share_what_the_prompt_grew_by() -> None:
    trace = talk(
        user("go"), {**asks(call("look", "a", at=1), call("look", "b", at=2)), "_usage": Usage(50, 40, 90)},
        result("word " * 100, "a"), result("word " * 300, "b"), {**says("ok"), "_usage": used(490)},
    )  # fmt: skip
    sizes = message_sizes(trace)
    assert sizes[2].tokens + sizes[3].tokens == pytest.approx(400, abs=1)
    assert 2 * sizes[2].tokens < sizes[3].tokens
    assert not sizes[2].measured


def test_growth_that_holds_something_else_says_nothing_about_a_message() -> None:
    trace = talk(
        user("go"), {**asks(call("look", at=1)), "_usage": used(50)}, result("x"), {**says("x"), "_usage": used(90_000)}
    )
    assert message_sizes(trace)[2].tokens < 20


def test_counts_of_our_own_measure_nothing() -> None:
    usage = Usage(100, 20, 120, estimated=True)
    trace = talk(user("go"), {**asks(call("look", at=1)), "_usage": usage}, result("x"), {**says("x"), "_usage": usage})
    assert not any(size.measured for size in message_sizes(trace))


def test_a_long_text_is_judged_by_pieces_of_it() -> None:
    text = "The quick brown fox jumps over the lazy dog; 42 times.\n" * 2000
    assert estimate_text(text) == pytest.approx(2000 * estimate_text(text[:55]), rel=0.1)


def test_after_a_compaction_only_what_follows_is_sent() -> None:
    trace = talk(SYSTEM, user("go"), says("on it"), user("summary of all"), says("done"))
    trace.notes.append({"kind": "compaction", "text": "", "message": 3})
    spans = [held.spans for held in held_by_steps(trace)]
    assert spans == [((0, 2),), ((0, 1), (3, 4))]
    assert [cost.sent for cost in carried(trace)] == [2, 1, 0, 1, 0]


def test_what_an_edit_left_out_or_replaced_is_counted_so() -> None:
    trace = measured_talk()
    short = {"role": "tool", "content": "x", "tool_call_id": "c"}
    for step in trace.steps:
        step.request = Request(upto=step.reply or 0)
    trace.steps[1].request = Request(upto=4, edits=[Edit(op="replace", message=3, by="truncate", with_=short)])
    trace.steps[2].request = Request(upto=6, edits=[Edit(op="drop", message=2, count=2, by="context")])
    costs = carried(trace)
    assert [cost.sent for cost in costs] == [3, 3, 1, 1, 1, 1, 0]
    assert costs[3].cost < 10


# ---- composition ----


def test_the_parts_add_up_to_the_measured_prompt() -> None:
    made = composition(measured_talk())
    assert [step.total for step in made.steps] == [100, 620, 645]
    assert all(sum(step.tokens) == step.total and step.measured for step in made.steps)


def test_the_parts_say_who_wrote_what() -> None:
    made = composition(measured_talk())
    last = dict(zip(made.parts, made.steps[-1].tokens, strict=True))
    assert 400 < last[Part("result", "look")] < 600
    assert last[Part("tools")] > 0
    assert last[Part("unseen")] == 0
    assert last[Part("system")] > 0


def test_what_the_file_does_not_hold_is_a_part_of_its_own() -> None:
    trace = talk(user("go"), {**asks(call("look", at=1)), "_usage": used(15_000)}, result("x"), says("x"))
    made = composition(trace)
    first = dict(zip(made.parts, made.steps[0].tokens, strict=True))
    assert first[Part("unseen")] > 14_900
    assert made.steps[0].total == 15_000


def test_without_usage_all_is_estimated() -> None:
    made = composition(talk(user("go"), asks(call("look", at=1)), result("x"), says("x")))
    assert [step.measured for step in made.steps] == [False, False]
    assert [step.assumed for step in made.steps] == [True, True]
    assert made.steps[1].total > made.steps[0].total


def test_tools_beyond_the_largest_are_one_part() -> None:
    messages = [
        message
        for n in range(15)
        for message in (asks(call(f"tool_{n}")), result("word " * (n + 1)))
    ]  # fmt: skip
    made = composition(talk(user("go"), *messages, says("ok")))
    names = [part.name for part in made.parts if part.kind == "result"]
    assert len(names) == MOST_TOOLS
    assert "tool_14" in names
    assert dict(zip(made.parts, made.steps[-1].tokens, strict=True))[Part("other_results")] > 0


def test_the_window_is_the_budget_of_the_run() -> None:
    tools = [Tool(name="look", description="", parameters={"type": "object"}, func=lambda at: "word " * 50)]
    loop = Loop(FakeModel([[ToolCall("c", "look", {"at": 1})], "done"]), tools, context=ContextBudget(3000))
    loop.start("go")
    loop.finish()
    assert composition(loop.trace).window == 3000
    assert composition(measured_talk()).window is None


def test_an_empty_trace_has_no_steps() -> None:
    assert (carried(Trace()), composition(Trace()).steps) == ([], ())


def test_sizes_of_very_much_text_are_taken_at_a_rate_that_is_about_right() -> None:
    trace = Trace()
    for number in range(1200):
        text = ("word and word, " * 300, '{"key": [1, 2, 3], "other": "value"} ' * 110, "今天天气很好。" * 500)[
            number % 3
        ]
        trace.add(Message("tool" if number % 2 else "user", text[: 3900 - number]), "environment")
    trace.add(Message("user", [{"type": "image_url", "image_url": {"url": "x"}}]), "user")
    counted = [estimate(message) for message in trace.messages]
    about = [size.tokens for size in message_sizes(trace)]
    assert sum(about) == pytest.approx(sum(counted), rel=0.05)
    assert about[-1] == counted[-1] == tokens.IMAGE_TOKENS + tokens.PER_MESSAGE
    chinese = [
        (a, b) for a, b, message in zip(about, counted, trace.messages, strict=True) if "今" in str(message.content)
    ]
    assert all(a == pytest.approx(b, rel=0.1) for a, b in chinese)
