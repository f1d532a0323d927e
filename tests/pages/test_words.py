"""Every text of the pages has its Chinese, and the catalogue holds nothing else."""

from __future__ import annotations

import ast
import json
import string
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent import (
    CapabilityPolicy,
    Decision,
    FakeModel,
    JsonActionModel,
    Limits,
    Loop,
    Message,
    ModelError,
    ModelReply,
    StopReason,
    Tool,
    ToolCall,
    Usage,
)
from agent.context import ContextBudget
from agent.scripts import load_script, scenarios
from pages.parts.words import CATALOGUES, catalogue, templates, translate, translate_loop_words

ROOT = Path(__file__).parents[2]


def _literals() -> Iterator[tuple[str, ast.expr]]:
    for path in [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "t":
                yield f"{path.name}:{node.lineno}", node.args[0]


def _fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_text_is_written_out_where_it_is_used() -> None:
    assert [place for place, text in _literals() if not isinstance(text, ast.Constant)] == []


def test_every_text_has_a_chinese_form_and_none_is_left_over() -> None:
    used = {text.value for _, text in _literals() if isinstance(text, ast.Constant)}
    assert used == catalogue().keys()


def test_no_text_stands_in_two_files_of_the_catalogue() -> None:
    texts = [text for path in CATALOGUES.glob("*.json") for text in json.loads(path.read_text(encoding="utf-8"))]
    assert sorted(texts) == sorted(set(texts))


def test_a_translation_keeps_the_names_that_are_filled_in() -> None:
    assert [english for english, chinese in catalogue().items() if _fields(english) != _fields(chinese)] == []


def test_a_text_is_filled_in_in_both_languages() -> None:
    assert translate("Message {n}", "en", n=3) == "Message 3"
    assert translate("Message {n}", "zh", n=3) == "消息 3"


def test_a_brace_in_a_value_is_only_text() -> None:
    assert translate("line {n}: {why}", "en", n=1, why="{x}") == "line 1: {x}"


# ---- sentences that the loop writes ----

STEPS = [[ToolCall("c", "act", {"n": n})] for n in range(9)]
EQUAL = [[ToolCall("c", "act", {})] for _ in range(9)]
CYCLE = [[ToolCall("c", "act", {"n": n % 2})] for n in range(9)]
SPENT = ModelReply(Message("assistant", None, tool_calls=tuple(STEPS[0])), usage=Usage(90, 10, 100), cost=0.5)
LONG = "word " * 4000


def cut(*calls: ToolCall) -> ModelReply:
    return ModelReply(Message("assistant", None if calls else "half", tool_calls=calls), finish_reason="length")


def act(**arguments: Any) -> str:
    if "fail" in arguments:
        raise ValueError("no")
    time.sleep(arguments.get("wait", 0))
    return "ok"


def ended(turns: list[Any], task: str = "go", **options: Any) -> Loop:
    model = FakeModel(turns)
    tools = [Tool(name="act", description="", parameters={"type": "object"}, func=act)]
    loop = Loop(JsonActionModel(model) if options.pop("json", False) else model, tools, **options)
    loop.start(task)
    while loop.phase is not None:
        loop.advance()
        if loop.waiting:
            loop.decide(0, Decision.reject(stop=True))
    return loop


STOPS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("max_iterations", STEPS, {"max_steps": 1}),
    ("max_iterations", STEPS, {"max_steps": 2}),
    ("repeated_call", EQUAL, {"limits": Limits(repeated_calls=3)}),
    ("repeated_call", CYCLE, {"limits": Limits(repeated_calls=3)}),
    ("consecutive_errors", [[ToolCall("c", "act", {"fail": n})] for n in range(4)], {"limits": Limits.guarded()}),
    ("truncated", [cut()], {}),
    ("truncated", [cut(ToolCall("c", "act", {}, '{"n"', "it was cut off"))], {}),
    ("empty_answer", [""], {}),
    ("refused", [ModelReply(Message("assistant", ""), finish_reason="content_filter")], {}),
    ("deadline", [[ToolCall("c", "act", {"wait": 0.05})], "no"], {"limits": Limits(deadline_s=0.02)}),
    ("token_budget", [SPENT, "no"], {"limits": Limits(total_tokens=50)}),
    ("token_budget", STEPS, {"limits": Limits(total_tokens=1)}),
    ("cost_budget", [SPENT, "no"], {"limits": Limits(cost=0.1)}),
    ("context_overflow", ["no"], {"task": LONG, "context": ContextBudget(300)}),
    ("model_error", [ModelError("The model server answered 500: no explanation")], {}),
    ("script_exhausted", STEPS[:1], {}),
    ("unknown_action", ['{"action": "dance"}'], {"json": True}),
    ("rejected_by_user", STEPS, {"policy": CapabilityPolicy(ask=["act"])}),
]


@pytest.mark.parametrize(("reason", "turns", "options"), STOPS, ids=[f"{n}-{row[0]}" for n, row in enumerate(STOPS)])
def test_what_the_loop_says_about_a_stop_has_a_chinese_form(
    reason: str, turns: list[Any], options: dict[str, Any]
) -> None:
    outcome = ended(turns, **options).trace.outcome
    assert outcome.reason == reason
    assert is_chinese(outcome.detail)


def test_every_reason_is_provoked() -> None:
    assert {reason for reason, _, _ in STOPS} == {*StopReason} - {"final", "stopped_by_user"}


def test_a_stop_by_a_person_has_a_chinese_form() -> None:
    loop = Loop(FakeModel(STEPS))
    loop.start("go")
    loop.stop()
    loop.finish()
    assert loop.stop_reason == "stopped_by_user"
    assert is_chinese(loop.trace.outcome.detail)


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda info: info.name)
def test_the_checks_of_every_scenario_have_a_chinese_form(scenario: Any) -> None:
    loop = load_script(scenario.path).loop()
    loop.start(load_script(scenario.path).task)
    while loop.phase is not None:
        loop.advance()
    for check in loop.trace.outcome.evidence:
        assert is_chinese(check.check)
        assert not check.detail or is_chinese(check.detail)


def test_what_a_context_budget_left_out_is_told_in_chinese() -> None:
    script = load_script("long_results")
    loop = script.loop(pace=0)
    loop.start(script.task)
    loop.finish()
    told = [note["text"] for note in loop.trace.notes if note["kind"] == "context"]
    assert told
    assert all(is_chinese(text) for text in told)


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in translate_loop_words(text, "zh"))


def test_a_number_in_a_sentence_of_the_loop_is_kept() -> None:
    text = translate_loop_words("stopped by the limit of 12 steps while the model still asked for tools", "zh")
    assert text == "模型还在请求工具时，被 12 步的上限停下"


def test_a_sentence_that_is_not_ours_stays_as_it_is() -> None:
    assert translate_loop_words("quota used up {n}", "zh") == "quota used up {n}"
    assert translate_loop_words("it gave only errors", "en") == "it gave only errors"


def test_a_template_keeps_the_names_that_are_filled_in() -> None:
    assert [english for english, chinese in templates().items() if _fields(english) != _fields(chinese)] == []


@pytest.mark.parametrize(
    ("sentence", "chinese"),
    [
        (
            "put right while reading: a call has no id; one was made up (39 times)",
            "读取时已修正：有一个调用没有 id，已为它编了一个（39 次）",
        ),
        (
            "a line of the program, not of the conversation: system run (2 times)",
            "有一行属于程序，不属于对话：system run（2 次）",
        ),
        ("a record that is no run", "有一条记录不是运行"),
    ],
)
def test_what_reading_a_file_gave_is_told_in_chinese(sentence: str, chinese: str) -> None:
    assert translate_loop_words(sentence, "zh") == chinese
