"""The exercise in which the rounds of a run are written as Thought, Action and Observation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from agent import jsontext
from agent.messages import Message, ToolCall
from agent.scripts import parse_script
from agent.scripts.script import play
from traces.lessons.exercises.exercise import Exercise
from traces.lessons.exercises.remark import Remark
from traces.lessons.lesson import Text
from traces.lessons.scripts import in_language

EXERCISE = Exercise(
    "react",
    Text("Thought, Action, Observation", "思考、行动、观察"),
    Text(
        "Write the rounds of a run as Thought, Action and Observation, without the model's private reasoning.",
        "把一次运行的每一轮写成思考、行动、观察，不泄露模型的私下推理。",
    ),
    Text(
        "Write each of the two rounds in the form of ReAct. The Thought says in a sentence of your own why the model "
        "takes this step; the private reasoning beside the message is not for readers. The Action names the tool and "
        "its arguments. The Observation quotes what came back, and nothing more.",
        "把两轮分别写成 ReAct 的形式。“思考”用你自己的一句话说明模型为什么走这一步；消息旁边的私下推理不是给读者看的。"
        "“行动”写出工具和参数。“观察”引用返回的内容，不多写。",
    ),
    (
        Text(
            "The Thought comes before the result: it may speak of the aim, not of what was found.",
            "“思考”在结果之前：可以写目的，不能写查到了什么。",
        ),
        Text(
            'An Action is best written like a call: get_order(order_id="A1002").',
            '“行动”最好写得像一次调用：get_order(order_id="A1002")。',
        ),
        Text(
            "The Observation stands in the tool message. Copy the part that counts, word for word.",
            "“观察”就在工具消息里。把重要的部分原样抄下来。",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Round:
    """A round of the run."""

    message: Message
    """The model's."""
    call: ToolCall
    result: str
    quote: str
    """What an observation must quote of it."""
    answer: tuple[str, str, str]
    """A thought, an action and an observation that will do."""


_SCRIPT: Mapping[str, Any] = {
    "task": {"en": "Are my orders A1002 and A1005 paid?", "zh": "我的订单 A1002 和 A1005 付款了吗？"},
    "tools": ["get_order"],
    "turns": [
        {
            "reasoning": {
                "en": "The customer sounds impatient and I could simply guess that both are paid, but I had better "
                "look them up one by one.",
                "zh": "这位顾客听起来很不耐烦，我本可以直接猜两个都付了，不过还是一个一个查比较稳妥。",
            },
            "calls": [{"id": "c1", "name": "get_order", "arguments": {"order_id": "A1002"}}],
        },
        {
            "reasoning": {
                "en": "Good, that one is settled. If A1005 turns out to be missing I will not mention that our records "
                "are often late.",
                "zh": "很好，这个有着落了。如果查不到 A1005，我就不提我们的记录经常更新得很晚。",
            },
            "calls": [{"id": "c2", "name": "get_order", "arguments": {"order_id": "A1005"}}],
        },
        {
            "text": {
                "en": "Order A1002 is paid. There is no order A1005.",
                "zh": "订单 A1002 已付款。没有订单 A1005。",
            }
        },
    ],
}
_QUOTES = ('"status": "paid"', "there is no order 'A1005'")
_THOUGHTS = (
    Text("To say whether A1002 is paid, its state has to be looked up.", "要知道 A1002 是否付款，需要先查它的状态。"),
    Text("The second order has not been looked up yet.", "第二个订单还没有查。"),
)


@cache
def rounds(language: str) -> tuple[Round, ...]:
    """The rounds to write."""
    script = parse_script(jsontext.dumps(in_language(_SCRIPT, language)), "react.json")
    loop = script.loop(pace=0)
    play(loop, script)
    found = []
    asking = [at for at, message in enumerate(loop.messages) if message.tool_calls]
    for at, quote, thought in zip(asking, _QUOTES, _THOUGHTS, strict=True):
        call, result = loop.messages[at].tool_calls[0], loop.messages[at + 1].text
        action = (
            f"{call.name}({', '.join(f'{name}={jsontext.dumps(value)}' for name, value in call.arguments.items())})"
        )
        found.append(Round(loop.messages[at], call, result, quote, (thought.of(language), action, result)))
    return tuple(found)


@cache
def task(language: str) -> str:
    """What the user asked."""
    return str(in_language(_SCRIPT["task"], language))


def check(round: Round, thought: str, action: str, observation: str) -> list[Remark]:
    """What is not right yet with how a round was written."""
    return [*_about_thought(round, thought), *_about_action(round, action), *_about_observation(round, observation)]


_SHARED = 6
"""So many words in a row (or Chinese letters) are a quotation."""


def _about_thought(round: Round, thought: str) -> Iterator[Remark]:
    place = Text("Thought", "思考")
    if not thought.strip():
        yield Remark(
            Text("Say in a sentence why the model takes this step.", "用一句话说明模型为什么走这一步。"), place
        )
        return
    if shared := _shared(thought, round.message.reasoning):
        text = Text(
            f"“{shared}” stands word for word in the private reasoning. Say it in words of your own, or leave it out.",
            f"“{shared}”与私下推理一字不差。请用自己的话说，或者不说。",
        )
        yield Remark(text, place)
    if _plain(round.quote) in _plain(thought) or _shared(thought, round.result, 4):
        text = Text("The thought comes before the result, so it cannot quote it.", "“思考”在结果之前，不可能引用结果。")
        yield Remark(text, place)
    if len(_words(thought)) < 3:
        yield Remark(Text("This is too short to say why.", "太短了，看不出为什么。"), place)


def _about_action(round: Round, action: str) -> Iterator[Remark]:
    place, call = Text("Action", "行动"), round.call
    if not re.search(rf"\b{re.escape(call.name)}\b", action, re.ASCII):
        yield Remark(Text("It does not name the tool that the model asked for.", "没有写出模型请求的工具。"), place)
    for name, value in call.arguments.items():
        if str(value) not in action:
            text = Text(f"The value of the argument {name} is missing.", f"缺少参数 {name} 的值。")
            yield Remark(text, place)
        elif not re.search(rf"\b{re.escape(name)}\b", action, re.ASCII):
            text = Text(f"It does not say that {value} is the argument {name}.", f"没有说明 {value} 是参数 {name}。")
            yield Remark(text, place)


def _about_observation(round: Round, observation: str) -> Iterator[Remark]:
    place = Text("Observation", "观察")
    if not observation.strip():
        yield Remark(Text("Write down what came back.", "写下返回了什么。"), place)
    elif _plain(round.quote) not in _plain(observation):
        text = Text(
            "It does not quote the part of the result that counts for the question. Copy it word for word.",
            "没有引用结果中与问题有关的部分。请原样抄下来。",
        )
        yield Remark(text, place)
    elif _shared(observation, round.message.reasoning):
        yield Remark(Text("This is private reasoning and no result.", "这是私下推理，不是结果。"), place)


def _plain(text: str) -> str:
    """A text without blanks and kinds of quotation marks, which do not make a quotation another one."""
    return re.sub(r"[\s\"'“”‘’\\]", "", text).lower()


def _words(text: str) -> list[tuple[str, int, int]]:
    """The words of a text, each Chinese letter one, with their places."""
    found = re.finditer(r"[A-Za-z0-9_]+|[\u4e00-\u9fff]", text)
    return [(match.group().lower(), match.start(), match.end()) for match in found]


def _shared(text: str, other: str, least: int = _SHARED) -> str:
    """The first passage of ``text`` of at least so many words that stands in the other as well; empty for none."""
    words, there = _words(text), [word for word, _, _ in _words(other)]
    windows = {tuple(there[at : at + least]) for at in range(len(there) - least + 1)}
    for at in range(len(words) - least + 1):
        if tuple(word for word, _, _ in words[at : at + least]) in windows:
            return text[words[at][1] : words[at + least - 1][2]]
    return ""
