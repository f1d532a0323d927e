"""The stand-in of a trace does what a small real model did when something was taken away from it."""

import pytest

from agent import FakeModel, Loop, ToolCall, tool
from agent.errors import InputError
from agent.messages import Message
from agent.models.quotes import Quote, quoting
from agent.scripts import parse_script, play
from agent.scripts.checking import check_all
from tests.traces.experiments.rerun import (
    SCRIPT,
    STAND_IN,
    condition,
    played,
    recorded,
    row,
    task_of,
)
from traces.experiments.design.experiment import NOTHING_CHANGED, Subject
from traces.experiments.subjects.models import make_model
from traces.experiments.subjects.stand_in import INVENTED, stand_in, stand_in_data
from traces.experiments.subjects.task import load_subject
from traces.scripting import script_text

MADE_UP = f"The launch code word is {INVENTED}."


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize(
    ("under", "answer", "reason"),
    [
        (NOTHING_CHANGED, "The launch code word is BANANA.", "final"),
        (condition("drop_pairs"), "", "repeated_call"),
        (condition("omit_results"), "I called read_file and got nothing back, so I cannot go on.", "final"),
        (condition("blank_results"), MADE_UP, "final"),
        (condition("blank_results", text="[result removed]"), MADE_UP, "final"),
        (condition("replace_results", find="BANANA", text="WALNUT"), "The launch code word is WALNUT.", "final"),
        (condition("results_as_user"), "The launch code word is BANANA.", "final"),
        (condition("truncate_results", size=10), MADE_UP, "final"),
        (condition("drop_system"), "The launch code word is BANANA.", "final"),
    ],
)
def test_it_reacts_as_the_small_real_model_did(step, under, answer, reason, tmp_path):
    result = row(task_of(recorded("code_word"), tmp_path, step=step), under, STAND_IN)
    assert (result.answer, result.reason) == (answer, reason)
    assert result.invented == (answer == MADE_UP)
    assert result.estimated, "its tokens are counted by us, for they depend on what was taken away"


def test_neither_call_nor_result_gives_the_identical_call_again(tmp_path):
    task = task_of(recorded("code_word"), tmp_path, step=2, mode="decision")
    result = row(task, condition("drop_pairs"), STAND_IN)
    assert (result.decision, result.repeated_calls) == ('read_file({"path":"code_word.txt"})', 1)


def test_a_tool_that_is_hidden_is_not_called(tmp_path):
    task = task_of(recorded("code_word"), tmp_path)
    result = row(task, condition("hide_tool", tool="read_file"), STAND_IN)
    assert (result.calls, result.answer) == (0, "I have no tool read_file, so I cannot go on.")


@pytest.mark.parametrize("scenario", ["calc", "parallel", "two_questions", "missing_file", "weather", "order", "noop"])
def test_where_nothing_is_taken_away_it_says_what_was_recorded(scenario, tmp_path):
    trace = recorded(scenario)
    for step in range(1, len(trace.steps) + 1):
        task = task_of(trace, tmp_path, step=step, max_steps=len(trace.steps) + 1 - step)
        loop = played(task, NOTHING_CHANGED, STAND_IN).loop
        said = [(m.role, m.text, [call.name for call in m.tool_calls]) for m in loop.messages]
        assert said == [(m.role, m.text, [call.name for call in m.tool_calls]) for m in trace.messages]
        decision = task_of(trace, tmp_path, step=step, mode="decision")
        assert row(decision, NOTHING_CHANGED, STAND_IN).same_decision


def test_a_recording_that_never_answers_goes_on_calling(tmp_path):
    result = row(task_of(recorded("noop"), tmp_path, max_steps=7), NOTHING_CHANGED, STAND_IN)
    assert (result.reason, result.steps, result.calls) == ("max_iterations", 7, 7)


def test_only_what_stands_in_a_result_alone_is_invented_or_followed(tmp_path):
    """A number that the user named is no secret of the result; numbers inside of others stay whole."""

    @tool
    def stock(symbol: str) -> str:
        """The price."""
        return f"{symbol}: price 12.5\nvolume 300"

    calls = [ToolCall("c1", "stock", {"symbol": "TEA"})]
    loop = Loop(FakeModel([calls, "TEA costs 12.5 today; you asked at 9, and 300 were sold in 2300 seconds."]), [stock])
    loop.start("What is TEA at, at 9?")
    loop.finish()
    task = task_of(loop.trace, tmp_path, step=2)
    changed = condition("replace_results", find="12.5", text="99")
    said = "TEA costs 99 today; you asked at 9, and 300 were sold in 2300 seconds."
    assert row(task, changed, STAND_IN).answer == said
    blank = row(task, condition("blank_results"), STAND_IN)
    assert blank.answer == f"TEA costs {INVENTED} today; you asked at 9, and 300 were sold in 2300 seconds."


def test_an_answer_that_quotes_nothing_is_made_up_where_results_are_blank(tmp_path):
    loop = Loop(FakeModel([[ToolCall("c1", "look", {})], "It is so."]), [tool(lambda: "it is so", name="look")])
    loop.start("Is it so?")
    loop.finish()
    task = task_of(loop.trace, tmp_path)
    assert row(task, NOTHING_CHANGED, STAND_IN).agrees
    assert row(task, condition("blank_results"), STAND_IN).answer == f"The answer is {INVENTED}."


def test_it_is_a_script_that_says_that_its_rules_are_ours_and_plays():
    trace = recorded("two_questions")
    text, ending = script_text(stand_in_data(trace))
    assert (check_all(text), ending) == ([], ".yaml")
    script = parse_script(text)
    assert script.rules
    assert script.title.startswith("Stand-in: ")
    assert "by rules of this program" in script.summary
    loop = script.loop(pace=0)
    play(loop, script)
    assert [m.text for m in loop.messages] == [m.text for m in trace.messages]


def test_a_trace_without_a_reply_has_a_stand_in_that_says_so():
    loop = Loop(FakeModel([]))
    loop.start("Hello.")
    script = stand_in(loop.trace)
    played = script.loop()
    play(played, script)
    assert played.trace.outcome.final == "The recording holds no answer."


def test_only_of_a_trace_there_is_one():
    task = load_subject(Subject(name="calc", scenario="calc"), None)
    with pytest.raises(InputError, match="'calc' is no trace"):
        make_model(STAND_IN, task, seed=1)
    assert make_model(SCRIPT, task, seed=1)


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([("tool", "The word is PLUM.")], "It is PLUM, PLUM!"),
        ([("tool", "The word is PLUM."), ("tool", "The word is FIG. Really.")], "It is FIG, FIG!"),
        ([("tool", "The word is \n.")], "It is lost, lost!"),
        ([("tool", "The word is PLUM")], "It is lost, lost!"),
        ([("assistant", "The word is PLUM."), ("system", "The word is PLUM.")], "It is lost, lost!"),
        ([("user", "Result of look: The word is PLUM.")], "It is PLUM, PLUM!"),
        ([("tool", "")], "It is lost, lost!"),
    ],
)
def test_a_quote_says_what_stands_between_two_texts_in_the_newest_message(messages, said):
    quote = Quote("KIWI", after="The word is ", before=".", otherwise="lost")
    assert quoting("It is KIWI, KIWI!", [quote], [Message(role, text) for role, text in messages]) == said


def test_a_script_that_quotes_what_its_text_does_not_hold_is_told_so():
    with pytest.raises(InputError, match=r"line 3, turns\[0\].quotes\[0\].word: the text does not hold 'PLUM'"):
        parse_script("turns:\n  - text: It is KIWI.\n    quotes: [{word: PLUM, after: is}]\n")
