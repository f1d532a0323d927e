"""The exercise in which a tool is written, seen as a model sees it, and used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traces.lessons.exercises.exercise import Exercise
from traces.lessons.exercises.remark import UNREADABLE, Remark, remarks_in
from traces.lessons.exercises.sandbox.process import run_apart
from traces.lessons.lesson import Text

EXERCISE = Exercise(
    "write_tool",
    Text("Write a tool", "写一个工具"),
    Text(
        "Write a function with @tool, see the schema that the model sees, call it, and let a model use it.",
        "用 @tool 写一个函数，看看模型看到的 schema，调用它，再让模型使用它。",
    ),
    Text(
        'Write the tool shipping_cost. It takes weight_kg, a float, and speed, which is "normal" or "express" and '
        'is "normal" when it is left out. It gives the price as a float: 4 and 2 more for each kilogram, and twice as '
        "much for express. A weight that is not above 0 is an error. Its docstring tells the model what it does and "
        "what weight_kg means.",
        '写一个工具 shipping_cost。它有参数 weight_kg（float）和 speed；speed 是 "normal" 或 "express"，'
        '不写时为 "normal"。它返回价格（float）：基本费 4，每公斤再加 2，express 加倍。重量不大于 0 是错误。'
        "文档字符串要告诉模型它做什么，以及 weight_kg 是什么意思。",
    ),
    (
        Text(
            "The hints of the parameters become the types in the schema: weight_kg: float.",
            "参数的类型标注会变成 schema 里的类型：weight_kg: float。",
        ),
        Text(
            'A choice of fixed texts is Literal["normal", "express"]; what stands behind = is the default.',
            '固定文字的选择写成 Literal["normal", "express"]；等号后面是默认值。',
        ),
        Text(
            'Raise ValueError("...") for a bad weight: the loop makes a result of it, so that the model learns why. '
            "Write a section Args: in the docstring with a line for weight_kg.",
            '重量不对时 raise ValueError("...")：循环会把它变成结果，模型就知道了原因。'
            "在文档字符串里写 Args: 一节，为 weight_kg 写一行。",
        ),
    ),
)
STARTER = """from typing import Literal

from agent import tool


@tool
def shipping_cost(weight_kg):
    return 0
"""
SOLUTION = '''from typing import Literal

from agent import tool


@tool
def shipping_cost(weight_kg: float, speed: Literal["normal", "express"] = "normal") -> float:
    """Get the price of sending a parcel, in euros.

    Args:
        weight_kg: the weight of the parcel in kilograms, above 0
        speed: express arrives the next day
    """
    if weight_kg <= 0:
        raise ValueError("the weight must be above 0 kg")
    price = 4 + 2 * weight_kg
    return price * 2 if speed == "express" else price
'''
NAME = "shipping_cost"
_CALLS: tuple[dict[str, Any], ...] = (
    {"weight_kg": 3},
    {"weight_kg": 1.5, "speed": "express"},
    {"weight_kg": 0},
    {"weight_kg": 2, "speed": "by pigeon"},
)
_PRICES = (10.0, 14.0)
"""What the first two are to give; the others are errors."""
_RUN = {
    "en": {
        "task": "What does a parcel of 3 kg cost?",
        "answer": "A parcel of 3 kg costs 10 euros.",
        "arguments": _CALLS[0],
    },
    "zh": {"task": "寄一个 3 公斤的包裹多少钱？", "answer": "寄 3 公斤的包裹要 10 欧元。", "arguments": _CALLS[0]},
}


@dataclass(frozen=True, slots=True)
class Called:
    """A call of the tool and what came back."""

    arguments: Any
    text: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a tool."""

    schema: Mapping[str, Any] | None = None
    """As the model sees it; None: it could not be made."""
    calls: tuple[Called, ...] = ()
    """Those of the check."""
    own: Called | None = None
    """The learner's own."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """Of the run in which a scripted model uses it."""
    remarks: tuple[Remark, ...] = ()
    """Empty: the exercise is solved."""
    printed: str = ""


def try_tool(code: str, language: str, own: Mapping[str, Any] | None = None) -> Verdict:
    """Make the tool and try it, in a process of its own; it takes a second or several.

    Args:
        code: the program that defines it.
        language: of the texts in the run.
        own: the arguments of a call that the learner wants to see.
    """
    calls = [*_CALLS, *([own] if own is not None else [])]
    answer = run_apart("tool", {"calls": calls, "run": _RUN["zh" if language == "zh" else "en"]}, code)
    printed = str(answer.get("printed") or "")
    if remarks := remarks_in(answer):
        return Verdict(remarks=remarks, printed=printed)
    try:
        done = [
            Called(arguments, str(result["text"]), bool(result["ok"]))
            for arguments, result in zip(calls, answer["results"], strict=True)
        ]
        called = tuple(done[: len(_CALLS)])
        remarks = (*_about_schema(answer["schema"]["function"]), *_about_calls(called))
        messages = tuple(answer["messages"])
    except (LookupError, TypeError, ValueError, AttributeError):
        return Verdict(remarks=(UNREADABLE,), printed=printed)
    return Verdict(answer["schema"], called, done[-1] if own is not None else None, messages, remarks, printed)


def _about_schema(about: Mapping[str, Any]) -> Iterator[Remark]:
    """What is wrong with the schema, part by part."""
    name = about["name"]
    if name != NAME:
        text = Text(
            f"The model knows it as {name}; it is to be called {NAME}.", f"模型看到的名字是 {name}；应当叫 {NAME}。"
        )
        yield Remark(text, Text("Name", "名称"))
    if not about["description"].strip():
        text = Text(
            "The model is told nothing about it: write a docstring below the def line.",
            "模型对它一无所知：请在 def 行下面写文档字符串。",
        )
        yield Remark(text, Text("Docstring", "文档字符串"))
    parameters = about["parameters"]
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    yield from _about_weight(properties.get("weight_kg"), required)
    yield from _about_speed(properties.get("speed"), required)
    for extra in sorted(set(properties) - {"weight_kg", "speed"}):
        yield Remark(Text("Nobody asked for this parameter.", "题目里没有这个参数。"), Text(extra, extra))


def _about_weight(weight: Mapping[str, Any] | None, required: Sequence[str]) -> Iterator[Remark]:
    place = Text("weight_kg", "weight_kg")
    if weight is None:
        yield Remark(Text("This parameter is missing.", "缺少这个参数。"), place)
        return
    if weight.get("type") != "number":
        said = weight.get("type")
        text = Text(
            f"The schema takes {said or 'anything'}; a float becomes number. Give the parameter its hint.",
            f"schema 接受的是{f' {said}' if said else '任意类型'}；float 会变成 number。请给参数加上类型标注。",
        )
        yield Remark(text, place)
    if "weight_kg" not in required:
        yield Remark(
            Text("It has a default; it must be given in every call.", "它有默认值；每次调用都应当给出它。"), place
        )
    if not weight.get("description"):
        text = Text(
            "The docstring does not say what it means: a line below Args:.",
            "文档字符串没有说明它的意思：写在 Args: 下面。",
        )
        yield Remark(text, place)


def _about_speed(speed: Mapping[str, Any] | None, required: Sequence[str]) -> Iterator[Remark]:
    place = Text("speed", "speed")
    if speed is None:
        yield Remark(Text("This parameter is missing.", "缺少这个参数。"), place)
        return
    if sorted(map(str, speed.get("enum", ()))) != ["express", "normal"]:
        text = Text(
            "The schema does not name the two choices, so the model has to guess: use Literal or an Enum.",
            "schema 没有写出两个选项，模型只能猜：请用 Literal 或 Enum。",
        )
        yield Remark(text, place)
    if "speed" in required or speed.get("default") != "normal":
        yield Remark(Text('Its default is not "normal".', '它的默认值不是 "normal"。'), place)


def _about_calls(calls: Sequence[Called]) -> Iterator[Remark]:
    for call, price in zip(calls, _PRICES, strict=False):
        if not call.ok or _number(call.text) != price:
            text = Text(f"It gives {call.text[:200]}; right is {price}.", f"它返回 {call.text[:200]}；应当是 {price}。")
            yield Remark(text, _place(call))
    zero, pigeon = calls[len(_PRICES) :]
    if zero.ok:
        text = Text(
            "A weight of 0 gives a price. Raise an error, so that the model hears what is wrong.",
            "重量为 0 也得到了价格。请 raise 一个错误，让模型知道哪里不对。",
        )
        yield Remark(text, _place(zero))
    if pigeon.ok:
        text = Text("A speed that does not exist is taken.", "不存在的 speed 也被接受了。")
        yield Remark(text, _place(pigeon))


def _place(call: Called) -> Text:
    told = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return Text(f"{NAME}({told})", f"{NAME}({told})")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
