"""The exercises: what is right is accepted, and what is wrong is told with its place and its reason."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from agent.messages import Message
from agent.protocol import violations
from traces.lessons.exercises import map_fields, order_messages, react, repair, stop_rule, write_tool
from traces.lessons.exercises.catalogue import catalogue, find
from traces.lessons.exercises.order_messages import RUNS, Card, cards
from traces.lessons.exercises.remark import Remark
from traces.lessons.lesson import LANGUAGES

NAMES = ["order_messages", "repair", "react", "map_fields", "stop_rule", "write_tool"]


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


def told(remarks: list[Remark]) -> str:
    return "\n".join(f"{each.place.en if each.place else ''}: {each.text.en}" for each in remarks)


def test_all_exercises_are_there_in_both_languages() -> None:
    assert [info.name for info in catalogue()] == NAMES
    for name in NAMES:
        exercise = find(name)
        assert exercise is not None
        for text in (exercise.title, exercise.summary, exercise.task, *exercise.hints):
            assert text.en.isascii() or "“" in text.en
            assert is_chinese(text.zh)
        assert len(exercise.hints) == 3


def test_an_unknown_exercise_is_none() -> None:
    assert find("nothing") is None


# ---- order ----


def right(shown: tuple[Card, ...]) -> tuple[dict[str, int], dict[str, str]]:
    return {card.letter: card.number for card in shown}, {card.letter: card.maker for card in shown}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("run", [run.name for run in RUNS])
def test_the_order_of_the_run_is_right_and_every_other_is_told(run: str, language: str) -> None:
    shown = cards(run, language)
    numbers, makers = right(shown)
    assert order_messages.check(shown, numbers, makers) == []
    assert [card.number for card in shown] != sorted(card.number for card in shown)
    roles = [card.message.role for card in sorted(shown, key=lambda card: card.number)]
    assert roles[:2] == ["system", "user"]
    assert roles.count("assistant") == 3
    for one, other in permutations(numbers, 2):
        swapped = {**numbers, one: numbers[other], other: numbers[one]}
        (said,) = order_messages.check(shown, swapped, makers)
        first = min(numbers[one], numbers[other])
        assert said.place is not None
        assert said.place.en.startswith(f"Number {first},")
        assert is_chinese(said.text.zh)


def test_a_result_before_its_call_is_told_by_its_id() -> None:
    shown = cards("sum", "en")
    numbers, makers = right(shown)
    letter = {card.number: card.letter for card in shown}
    numbers[letter[3]], numbers[letter[4]] = 4, 3
    assert "result of the call c1, and nobody has asked" in told(order_messages.check(shown, numbers, makers))


def test_results_of_one_reply_stand_in_the_order_of_the_calls() -> None:
    shown = cards("parallel", "en")
    numbers, makers = right(shown)
    letter = {card.number: card.letter for card in shown}
    numbers[letter[4]], numbers[letter[5]] = 5, 4
    assert "order of the calls" in told(order_messages.check(shown, numbers, makers))


def test_what_is_missing_or_given_twice_is_named() -> None:
    shown = cards("sum", "en")
    numbers, makers = right(shown)
    assert "Without a number yet: A, B, C" in told(order_messages.check(shown, {}, {}))
    assert "have the same number, 1" in told(order_messages.check(shown, dict.fromkeys(numbers, 1), makers))


def test_a_wrong_maker_is_told_why() -> None:
    shown = cards("order", "en")
    numbers, makers = right(shown)
    tool = next(card.letter for card in shown if card.message.role == "tool")
    said = told(order_messages.check(shown, numbers, {**makers, tool: "code"}))
    assert said.startswith(f"The maker of {tool}: This message is what a tool gave back.")


# ---- repair ----


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", repair.CASES, ids=lambda case: case.name)
def test_a_broken_list_is_refused_by_the_loops_own_rules_and_its_answer_is_not(
    case: repair.Case, language: str
) -> None:
    broken, mended = repair.broken_text(case, language), repair.mended_text(case, language)
    assert repair.check(case, broken, language)
    assert repair.check(case, mended, language) == []
    messages = [Message.from_dict(row) for row in json.loads(broken)]
    told = {each.text.en for each in repair.check(case, broken, language)}
    assert {each.text for each in violations(messages)} <= told
    assert violations([Message.from_dict(row) for row in json.loads(mended)]) == []


def by_hand(name: str) -> str:
    """The list of a case after the changes that a learner would make row by row."""
    case = repair.case_named(name)
    text = repair.broken_text(case, "en")
    match name:
        case "orphan":
            return repair.deleted(text, 1)
        case "unanswered":
            text = repair.added(text, 3)
            return repair.changed(text, 3, tool_call_id="c2", content="no answer came")
        case "wrong_id":
            return repair.changed(text, 2, tool_call_id="c1")
        case "arguments":
            return repair.call_changed(text, 1, 0, call_id="c1", arguments='{"b": 3, "a": 2}')
        case "result_first":
            return repair.moved(text, 1, 1)
        case _:
            text = repair.call_changed(text, 1, 1, call_id="other", arguments='{"city": "Berlin"}')
            return repair.changed(text, 3, tool_call_id="other")


@pytest.mark.parametrize("case", repair.CASES, ids=lambda case: case.name)
def test_every_list_can_be_mended_row_by_row(case: repair.Case) -> None:
    assert repair.check(case, by_hand(case.name), "en") == []


def test_to_throw_away_what_happened_is_no_repair() -> None:
    for case in repair.CASES:
        assert "got lost" in told(repair.check(case, "[]", "en"))
    case = repair.case_named("unanswered")
    text = repair.broken_text(case, "en")
    only_question = repair.deleted(repair.deleted(repair.deleted(text, 3), 2), 1)
    assert told(repair.check(case, only_question, "en")).startswith("The call of get_weather, get_weather:")


def test_messages_in_another_order_are_no_repair() -> None:
    case = repair.case_named("orphan")
    text = repair.moved(repair.deleted(repair.broken_text(case, "en"), 1), 3, -1)
    assert told(repair.check(case, text, "en"))
    first = repair.moved(by_hand("orphan"), 0, 1)
    assert repair.check(case, first, "en")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "no valid JSON"),
        ("{}", "no list"),
        ("[1]", "Message 1"),
        ('[{"role": "user", "content": "x"}, {"role": "boss"}]', "Message 2"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"role": "assistant", "tool_calls": 3, "content": null}]', "Message 1: It is no message"),
        ('[{"role": "assistant", "tool_calls": [{"id": 1, "function": 2}]}]', "Message 1: It is no message"),
        ('[{"role": "assistant", "tool_calls": [{"id": 1, "function": {"name": [], "arguments": 5}}]}]', "no result"),
    ],
)
def test_a_text_that_is_no_message_list_is_told_and_rows_leave_it_alone(text: str, words: str) -> None:
    case = repair.CASES[0]
    assert words in told(repair.check(case, text, "en"))
    if repair.rows_of(text) is None:
        assert repair.deleted(text, 0) == repair.moved(text, 0, 1) == repair.added(text, 0) == text
        assert repair.changed(text, 0, content="") == text
        assert repair.call_changed(text, 0, 0, call_id="", arguments="") == text


# ---- Thought, Action, Observation ----


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answers_to_the_rounds_are_right(language: str) -> None:
    assert len(react.rounds(language)) == 2
    for each in react.rounds(language):
        assert react.check(each, *each.answer) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_private_reasoning_is_not_to_be_told(language: str) -> None:
    for each in react.rounds(language):
        _, action, observation = each.answer
        half = each.message.reasoning[: len(each.message.reasoning) * 2 // 3]
        for thought in (each.message.reasoning, half, f"So: {half}"):
            (said,) = react.check(each, thought, action, observation)
            assert "private reasoning" in said.text.en


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (("", None, None), "Thought: Say in a sentence"),
        (("Because.", None, None), "too short"),
        (('It is known that "status": "paid" holds', None, None), "comes before the result"),
        ((None, "look_up(order_id='A1002')", None), "Action: It does not name the tool"),
        ((None, "get_order()", None), "value of the argument order_id is missing"),
        ((None, "get_order(A1002)", None), "does not say that A1002 is the argument order_id"),
        ((None, None, ""), "Observation: Write down what came back"),
        ((None, None, "It was paid."), "does not quote"),
    ],
)
def test_each_part_is_held_against_the_run(parts: tuple[str | None, str | None, str | None], words: str) -> None:
    first = react.rounds("en")[0]
    given = [answer if part is None else part for part, answer in zip(parts, first.answer, strict=True)]
    assert words in told(react.check(first, *given))


def test_other_blanks_and_quotation_marks_are_the_same_quotation() -> None:
    first = react.rounds("en")[0]
    thought, action, _ = first.answer
    assert react.check(first, thought, action, "“status”:\n 'paid'") == []


# ---- fields ----


@pytest.mark.parametrize("provider", map_fields.providers(), ids=lambda provider: provider.name)
def test_every_field_can_be_found_by_the_reader_that_judges(provider: map_fields.Provider) -> None:
    right = map_fields.answers(provider.name)
    assert all(right[field] for field in map_fields.FIELDS)
    assert map_fields.check(provider, {field: paths[0] for field, paths in right.items()}) == []
    assert len(map_fields.check(provider, {})) == len(map_fields.FIELDS)


@pytest.mark.parametrize(
    ("name", "field", "path"),
    [
        ("openai_chat", "content", "choices[0].message.content"),
        ("openai_chat", "tool_calls", "choices[0].message.tool_calls"),
        ("responses", "content", "output[0].content[0].text"),
        ("responses", "tool_calls", "output[1]"),
        ("responses", "finish_reason", "status"),
        ("anthropic", "finish_reason", "stop_reason"),
        ("anthropic", "usage.prompt_tokens", "usage.input_tokens"),
        ("gemini", "tool_calls", "candidates[0].content.parts[1].functionCall"),
        ("gemini", "usage.completion_tokens", "usageMetadata.candidatesTokenCount"),
        ("ollama", "finish_reason", "done_reason"),
        ("ollama", "usage.prompt_tokens", "prompt_eval_count"),
    ],
)
def test_the_paths_are_those_of_the_providers(name: str, field: str, path: str) -> None:
    assert path in map_fields.answers(name)[field]


@pytest.mark.parametrize(
    ("field", "path", "words"),
    [
        ("content", "choices[0].message", "holds more than this: tool_calls too"),
        ("content", "choices[0].finish_reason", "is where finish_reason comes from"),
        ("content", "id", "something else"),
        ("tool_calls", "choices[0].message.tool_calls[0].function.name", "only a part"),
        ("usage.prompt_tokens", "usage", "holds more than this: usage.completion_tokens too"),
    ],
)
def test_a_wrong_path_is_told_what_it_is(field: str, path: str, words: str) -> None:
    provider = map_fields.provider_named("openai_chat")
    chosen = {name: paths[0] for name, paths in map_fields.answers("openai_chat").items()} | {field: path}
    assert words in told(map_fields.check(provider, chosen))


# ---- programs ----


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answer_to_the_stop_rule_ends_atlantis_alone(language: str) -> None:
    verdict = stop_rule.try_rule(stop_rule.SOLUTION, language)
    assert verdict.remarks == ()
    atlantis, *others = verdict.tried
    assert (atlantis.reason, atlantis.steps) == ("consecutive_errors", 3)
    assert atlantis.saved == atlantis.tokens_without - atlantis.tokens > 5000
    assert [each.reason for each in others] == ["final"] * 4
    assert all(each.steps == each.steps_without and each.saved == 0 for each in others)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (stop_rule.STARTER, "Atlantis: Your rule let it go on for 15 steps"),
        ("def should_stop(steps):\n    return 'max_iterations' if len(steps) > 3 else None", "polling"),
        ("def should_stop(steps):\n    return 'max_iterations' if len(steps) > 8 else None", "only after step 9"),
        (
            "def should_stop(steps):\n"
            "    same = [step['calls'][0]['name'] for step in steps[-3:]]\n"
            "    return 'repeated_call' if len(same) == 3 and len(set(same)) == 1 else None",
            "polling: the same call, seven times: A false stop",
        ),
        (
            "def should_stop(steps):\n    return None if steps[-1]['calls'][0]['ok'] else 'consecutive_errors'",
            "Two errors, then it works: A false stop: your rule ended it after step 1",
        ),
        ("def should_stop(steps):\n    return True", "gave True"),
        ("def should_stop(steps):\n    return 'final'", "gave 'final'"),
        ("def should_stop(steps):\n    return steps[9]", "IndexError"),
        ("def stop(steps):\n    return None", "no function should_stop"),
        ("should_stop = len", "no function should_stop"),
        ("@tool\ndef should_stop(steps):\n    return None", "Nothing with @"),
    ],
)
def test_a_stop_rule_that_is_not_right_is_told_where(code: str, words: str) -> None:
    assert words in told(list(stop_rule.try_rule(code, "en").remarks))


def test_a_rule_cannot_change_what_the_next_step_is_told() -> None:
    code = (
        "def should_stop(steps):\n"
        "    print(len(steps), len(steps[0]['calls']))\n"
        "    steps[0]['calls'].clear()\n"
        "    del steps[0]\n"
    )
    assert stop_rule.try_rule(code, "en").printed.startswith("1 1\n2 1\n3 1\n")


def test_the_answer_to_the_tool_is_right_and_a_model_uses_it() -> None:
    verdict = write_tool.try_tool(write_tool.SOLUTION, "zh", {"weight_kg": 5})
    assert verdict.remarks == ()
    assert verdict.own == write_tool.Called({"weight_kg": 5}, "14.0", True)
    assert [call.ok for call in verdict.calls] == [True, True, False, False]
    assert [message["role"] for message in verdict.messages] == ["user", "assistant", "tool", "assistant"]
    assert is_chinese(verdict.messages[0]["content"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("def shipping_cost", "def cost", "Name: The model knows it as cost"),
        ('"""Get the price of sending a parcel, in euros.\n', '"""\n', "Docstring: The model is told nothing"),
        ("weight_kg: float", "weight_kg: str", "weight_kg: The schema takes string"),
        ("weight_kg: float", "weight_kg", "weight_kg: The schema takes anything"),
        ("weight_kg: float", "weight_kg: float = 1.0", "weight_kg: It has a default"),
        ("        weight_kg: the weight of the parcel in kilograms, above 0\n", "", "does not say what it means"),
        ('Literal["normal", "express"] = "normal"', 'str = "normal"', "speed: The schema does not name"),
        (' = "normal") ->', ") ->", "speed: Its default is not"),
        ("weight_kg: float,", "weight_kg: float, colour: str = 'red',", "colour: Nobody asked"),
        ("2 * weight_kg", "3 * weight_kg", "It gives 13.0; right is 10.0"),
        ("if weight_kg <= 0:", "if weight_kg < 0:", "A weight of 0 gives a price"),
        ("@tool\n", "", "no tool in it"),
        ("@tool\n", "@tool\ndef other():\n    return 1\n\n@tool\n", "several tools"),
    ],
)
def test_a_tool_that_is_not_right_is_told_where(old: str, new: str, words: str) -> None:
    code = write_tool.SOLUTION.replace(old, new, 1)
    assert code != write_tool.SOLUTION
    assert words in told(list(write_tool.try_tool(code, "en").remarks))


def test_an_enum_will_do_as_well() -> None:
    code = (
        write_tool.SOLUTION.replace("from typing import Literal", "from enum import Enum")
        .replace("@tool", 'class Speed(Enum):\n    N = "normal"\n    E = "express"\n\n\n@tool')
        .replace('Literal["normal", "express"] = "normal"', "Speed = Speed.N")
        .replace('speed == "express"', "speed == Speed.E")
    )
    assert write_tool.try_tool(code, "en").remarks == ()
