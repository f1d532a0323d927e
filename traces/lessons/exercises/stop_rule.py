"""The exercise in which a stop rule is written that ends Atlantis and lets honest work go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent.scripts import scenarios, source
from traces.lessons.exercises.exercise import Exercise
from traces.lessons.exercises.remark import UNREADABLE, Remark, remarks_in
from traces.lessons.exercises.sandbox.process import run_apart
from traces.lessons.lesson import Text
from traces.lessons.scripts import in_language

EXERCISE = Exercise(
    "stop_rule",
    Text("Write a stop rule", "写一条停止规则"),
    Text(
        "Write the rule that ends Atlantis and lets honest polling and normal runs go on.",
        "写一条规则：让亚特兰蒂斯停下，但不打断正常的轮询和普通运行。",
    ),
    Text(
        "Atlantis does not exist, and the model tries one spelling after the other. Write should_stop(steps): our loop "
        "asks it after every step. It gets the steps so far, each as {step, tokens, calls}, and each call as {name, "
        "arguments, result, ok}. It gives None to go on, or the name of a stop reason, such as consecutive_errors, to "
        "stop. Atlantis must end after 5 steps at the latest, and no other run may be stopped.",
        "亚特兰蒂斯并不存在，模型却一个写法接一个写法地试。请写 should_stop(steps)：循环在每一步之后都会问它。"
        "它得到到目前为止的各步，每一步是 {step, tokens, calls}，每个调用是 {name, arguments, result, ok}。"
        "要继续就返回 None，要停止就返回停止原因的名字，例如 consecutive_errors。"
        "亚特兰蒂斯最迟要在第 5 步后停下，其他运行都不能被打断。",
    ),
    (
        Text(
            "What do the steps of Atlantis have in common that the steps of an honest run have not? Look at ok.",
            "亚特兰蒂斯的各步有什么共同点，是正常运行没有的？看看 ok。",
        ),
        Text(
            "One error, or two, is no reason to stop: the model may find its way. How many in a row are too many?",
            "出错一两次不是停止的理由：模型也许会自己纠正。连续多少次才算太多？",
        ),
        Text(
            "steps[-3:] are the last three steps. Stop where there are three and no call in them is ok.",
            "steps[-3:] 是最后三步。如果有三步，而且其中没有一个调用的 ok 为真，就停止。",
        ),
    ),
)
STARTER = """def should_stop(steps):
    # steps[-1] is the step that has just ended:
    # {"step": 3, "tokens": 284, "calls": [
    #     {"name": "get_weather", "arguments": {"city": "Atlantis"},
    #      "result": "...", "ok": False}]}
    return None
"""
SOLUTION = """def should_stop(steps):
    last = steps[-3:]
    if len(last) == 3 and not any(call["ok"] for step in last for call in step["calls"]):
        return "consecutive_errors"
    return None
"""
LATEST = 5
"""Steps after which Atlantis must have ended."""


@dataclass(frozen=True, slots=True)
class Case:
    """A run that the rule is tried on."""

    name: str
    title: Text
    ends: bool
    """Whether the rule is to end it."""
    script: Mapping[str, Any]
    """The keys of its script."""


@dataclass(frozen=True, slots=True)
class Tried:
    """How a run went under the rule."""

    case: Case
    reason: str
    """Why it ended."""
    steps: int
    tokens: int
    by_rule: bool
    steps_without: int
    tokens_without: int

    @property
    def right(self) -> bool:
        """Whether the rule did with it what it should."""
        return self.by_rule == self.case.ends and (not self.case.ends or self.steps <= LATEST)

    @property
    def saved(self) -> int:
        """Tokens that were not burnt; what a false stop leaves out is nothing saved."""
        return self.tokens_without - self.tokens if self.case.ends else 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of trying a rule."""

    tried: tuple[Tried, ...]
    remarks: tuple[Remark, ...]
    """Empty: the exercise is solved."""
    printed: str = ""


def _turn(name: str, arguments: dict[str, Any], result: str, tokens: int) -> dict[str, Any]:
    call = {"name": name, "arguments": arguments, "result": result}
    return {"calls": [call], "usage": {"prompt_tokens": tokens, "completion_tokens": 20}}


def _last(text: dict[str, str], tokens: int) -> dict[str, Any]:
    return {"text": text, "usage": {"prompt_tokens": tokens, "completion_tokens": 20}}


def _polling() -> dict[str, Any]:
    said = ["queued", "queued", "12 %", "31 %", "57 %", "84 %", "done"]
    return {
        "task": {"en": "Tell me when job 7 is done.", "zh": "任务 7 完成后告诉我。"},
        "tools": [{"name": "job_status", "description": "How far a job is.", "parameters": {}}],
        "turns": [
            *(_turn("job_status", {"job": 7}, result, 90 + 40 * at) for at, result in enumerate(said)),
            _last({"en": "Job 7 is done.", "zh": "任务 7 已完成。"}, 370),
        ],
    }


def _misspelt() -> dict[str, Any]:
    cities = ("Pariss", "Paaris", "Paris")
    return {
        "task": {"en": "How is the weather in Pariss?", "zh": "Pariss 的天气怎么样？"},
        "tools": ["get_weather"],
        "turns": [
            *(
                {
                    "calls": [{"name": "get_weather", "arguments": {"city": city}}],
                    "usage": {"prompt_tokens": 110 + 60 * at, "completion_tokens": 20},
                }
                for at, city in enumerate(cities)
            ),
            _last({"en": "Overcast, 12 °C.", "zh": "阴，12 °C。"}, 290),
        ],
    }


def _scenario(name: str) -> Mapping[str, Any]:
    path = next(info.path for info in scenarios() if info.name == name)
    keys: Mapping[str, Any] = source.read(source.text_of(path), path.name)
    return {key: value for key, value in keys.items() if key not in ("limits", "max_steps", "evidence")}


def cases() -> tuple[Case, ...]:
    """The runs that a rule is tried on; none has a guard of its own."""
    return (
        Case("atlantis", Text("Atlantis", "亚特兰蒂斯"), True, _scenario("atlantis")),
        Case(
            "polling", Text("Honest polling: the same call, seven times", "正常轮询：同一个调用七次"), False, _polling()
        ),
        Case("sum", Text("A normal run", "普通运行"), False, _scenario("calc")),
        Case("misspelt", Text("Two errors, then it works", "两次出错，然后成功"), False, _misspelt()),
        Case("parallel", Text("Two calls in one reply", "一次回复里的两个调用"), False, _scenario("parallel")),
    )


def try_rule(code: str, language: str) -> Verdict:
    """Run all cases under a learner's rule, in a process of its own; it takes a second or several.

    Args:
        code: the program that defines the rule.
        language: of the texts in the runs.
    """
    scripts = {case.name: in_language(case.script, language) for case in cases()}
    answer = run_apart("rule", {"scripts": scripts}, code)
    printed = str(answer.get("printed") or "")
    if remarks := remarks_in(answer):
        return Verdict((), remarks, printed)
    try:
        tried = tuple(_tried(case, answer["runs"][case.name]) for case in cases())
    except (LookupError, TypeError, ValueError):
        return Verdict((), (UNREADABLE,), printed)
    return Verdict(tried, tuple(_remarks(tried)), printed)


def _tried(case: Case, run: Mapping[str, Any]) -> Tried:
    return Tried(
        case,
        str(run["reason"]),
        int(run["steps"]),
        int(run["tokens"]),
        bool(run["by_rule"]),
        int(run["steps_without"]),
        int(run["tokens_without"]),
    )


def _remarks(tried: tuple[Tried, ...]) -> Iterator[Remark]:
    for each in tried:
        if each.right:
            continue
        if not each.case.ends:
            text = Text(
                f"A false stop: your rule ended it after step {each.steps}, and it would have come to its answer after "
                f"step {each.steps_without}.",
                f"误停：你的规则在第 {each.steps} 步后停下了它，而它本来会在第 {each.steps_without} 步后得出回答。",
            )
        elif each.by_rule:
            text = Text(
                f"Your rule ends it only after step {each.steps}; step {LATEST} is the latest.",
                f"你的规则到第 {each.steps} 步后才停；最迟应在第 {LATEST} 步后停下。",
            )
        else:
            text = Text(
                f"Your rule let it go on for {each.steps} steps and {each.tokens:,} tokens.",
                f"你的规则让它跑了 {each.steps} 步，用了 {each.tokens:,} 个词元。",
            )
        yield Remark(text, each.case.title)
