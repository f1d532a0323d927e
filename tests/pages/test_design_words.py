"""What the preview and the estimate of an experiment say has a Chinese form, and so has every mistake of a design."""

import re
from pathlib import Path

import pytest

from agent.errors import InputError
from agent.faults import FAULTS, Fault
from agent.interventions import KINDS, Intervention
from agent.scripts.checking import check_all
from pages.parts.ablate_condition_words import condition_name, what_differs
from pages.parts.words import translate_loop_words
from tests.agent.test_scripts_errors import KEYS as SCRIPT_KEYS
from tests.agent.test_scripts_errors import MEANINGS, TYPES, YAML
from tests.traces.experiments.test_design_errors import KEYS, SEVERAL, WRONG
from traces.experiments.before.estimate import estimate
from traces.experiments.before.preview import preview
from traces.experiments.design.experiment import NOTHING_CHANGED, ArmedFault, Condition, Subject
from traces.experiments.design.file import design_problems, parse_design, read_design
from traces.experiments.exercise import Exercise, exercises
from traces.experiments.subjects.task import load_subject
from traces.prices import Price, PriceTable
from traces.store import SAMPLES

LIVE = "models: {model: cheap, base_url: 'http://127.0.0.1:9/v1'}\n"
TASK = "subjects: {task: What is 2+3?, tools: [add]}\n" + LIVE
DECISION = f"subjects: {{trace: {SAMPLES / 'calc.json'}, step: 2, mode: decision}}\n" + LIVE
HIDDEN = "conditions: [{name: h, interventions: [{kind: hide_tool, params: {tool: TOOL}}]}]\n"
DESIGNS = [
    TASK,
    TASK + HIDDEN.replace("TOOL", "ad") + "repeats: 1",
    TASK + HIDDEN.replace("TOOL", "something"),
    TASK.replace(", tools: [add]", "") + HIDDEN.replace("TOOL", "add"),
    TASK + "budget: {tokens: 1, cost: 0.000001}",
    TASK + "budget: {tokens: 50000, cost: 0.05}",
    TASK.replace("cheap", "nameless") + "budget: {cost: 1}",
    DECISION,
    DECISION + "outcome: agreement",
    "subjects: code_word\noutcome: cost",
]
PRICES = PriceTable(own=(Price(model="cheap", prompt=1, completion=10),))


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in translate_loop_words(text, "zh"))


@pytest.mark.parametrize("text", DESIGNS, ids=range(len(DESIGNS)))
def test_what_an_estimate_says_has_a_chinese_form(text: str, tmp_path: Path) -> None:
    found = estimate(parse_design(text), tmp_path, PRICES)
    said = (*found.remarks, *found.doubts)
    assert said
    assert [sentence for sentence in said if not is_chinese(sentence)] == []


def test_results_that_are_not_there_are_told_in_chinese() -> None:
    assert is_chinese("'blank_results' changes nothing in 'talk': the recording has no tool result")


def test_what_a_preview_says_has_a_chinese_form(tmp_path: Path) -> None:
    task = load_subject(Subject(name="code_word", scenario="code_word"), tmp_path)
    switches = [Intervention(kind) for kind, about in KINDS.items() if about.group == "switch"]
    condition = Condition(
        name="everything",
        interventions=(*switches, Intervention("omit_results"), Intervention("hide_tool", {"tool": "add"})),
        faults=tuple(ArmedFault(Fault(kind, dict.fromkeys(about.takes, 5)), 2) for kind, about in FAULTS.items()),
    )
    found = preview(task, condition, 2)
    said = (*found.notes, *found.problems)
    assert len(said) == len(switches) + 2 + len(FAULTS) + 1
    assert [sentence for sentence in said if not is_chinese(sentence)] == []


def test_a_request_that_is_not_known_is_told_in_chinese(tmp_path: Path) -> None:
    known = load_subject(Subject(name="code_word", scenario="code_word"), tmp_path)
    own = load_subject(Subject(name="task", task="Hi.", tools=()), tmp_path)
    for task in (known, own):
        with pytest.raises(InputError) as caught:
            preview(task, NOTHING_CHANGED, 7)
        assert is_chinese(str(caught.value))


def english_in(sentence: str) -> str:
    """What is left in English of a sentence in Chinese, beside names and what is quoted: two words in a row."""
    chinese = translate_loop_words(sentence, "zh")
    own = re.sub(r"'[^']*'|\{[^}]*\}", "", chinese)
    return chinese if not is_chinese(sentence) or re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", own) else ""


@pytest.mark.parametrize("text", [*(text for text, _ in WRONG), SEVERAL, *KEYS, "subjects: [" + "x, " * 300 + "x]"])
def test_every_mistake_of_a_design_has_a_chinese_form(text: str, tmp_path: Path) -> None:
    found = design_problems(text, base=tmp_path)
    assert found
    assert [english for each in found if (english := english_in(each.sentence))] == []


@pytest.mark.parametrize("text", [text for text, _ in (*SCRIPT_KEYS, *TYPES, *MEANINGS, *YAML)])
def test_every_mistake_of_a_script_has_a_chinese_form(text: str) -> None:
    found = check_all(text)
    assert found
    assert [english for each in found if (english := english_in(each.sentence))] == []


def test_numbers_that_are_too_large_are_refused_in_chinese() -> None:
    conditions = ", ".join(f"{{name: c{number}, interventions: [drop_pairs]}}" for number in range(10))
    with pytest.raises(InputError) as caught:
        parse_design(f"subjects: code_word\nrepeats: 100000\nconditions: [{conditions}]")
    assert not english_in(str(caught.value).removeprefix("design.yaml: "))
    (problem,) = design_problems("subjects: code_word\nbudget: {tokens: 99999999999}")
    assert not english_in(problem.sentence)


def test_a_live_model_without_a_name_asks_for_one() -> None:
    (problem,) = design_problems("subjects: code_word\nmodels: {name: live}")
    assert problem.sentence.startswith("name the live model")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("blank_results", "Tool results: blanked"),
        ("blank_results 2", "Tool results: blanked 2"),
        ("drop_pairs + tool_raises", "Tool results: dropped with their calls + Fault · A tool: raises an error"),
        ("my own blank_results", "my own blank_results"),
        ("blank_results + mine", "blank_results + mine"),
        ("baseline", "baseline"),
    ],
)
def test_a_condition_that_is_called_by_what_it_does_is_told_in_words(name: str, words: str) -> None:
    assert condition_name(name) == words


def test_what_a_name_in_words_says_already_is_told_in_a_sentence() -> None:
    plain = Condition(name="blank_results", interventions=(Intervention("blank_results"),))
    assert what_differs(plain) == KINDS["blank_results"].sentence
    assert what_differs(Condition(name="mine", interventions=plain.interventions)) == "Tool results: blanked"


@pytest.mark.parametrize("exercise", exercises(), ids=lambda each: each.name)
def test_the_conditions_of_an_exercise_have_chinese_names(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.address.language", lambda: "zh")
    names = {each.name for each in read_design(exercise.design).conditions}
    assert exercise.conditions_zh.keys() <= names
    assert [name for name in names if not re.search(r"[\u4e00-\u9fff]", condition_name(name))] == []
