"""The exercise in which the shuffled messages of a run are put in order and their makers named."""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from agent import jsontext
from agent.messages import Message
from agent.scripts import parse_script
from agent.scripts.script import play
from traces.lessons.exercises.exercise import Exercise
from traces.lessons.exercises.remark import Remark
from traces.lessons.lesson import Text
from traces.lessons.scripts import in_language

EXERCISE = Exercise(
    "order_messages",
    Text("Put the messages in order", "把消息排好顺序"),
    Text(
        "Order the shuffled messages of a two-round run, and name who made each of them.",
        "把一次两轮运行的消息重新排好，并说出每条消息是谁产生的。",
    ),
    Text(
        "Below lie all messages of one run, shuffled and without their roles. Give each its number, and say who made "
        "it: the user, the model, the program (code), or the environment in which a tool ran.",
        "下面是一次运行的全部消息，顺序被打乱，角色也去掉了。给每条消息编号，并说出它是谁产生的："
        "用户、模型、程序（代码），还是工具所在的环境。",
    ),
    (
        Text(
            "The program says once, at the very beginning, who the model is to be. Then the user speaks.",
            "程序在最开头说一次模型要扮演什么角色，然后用户才说话。",
        ),
        Text(
            "A result follows at once on the message that asked for it, under the same id. Look for the ids.",
            "结果紧跟在请求它的那条消息之后，编号相同。请对照编号。",
        ),
        Text(
            "A call is only a proposal of the model. What comes back was made by the tool, outside of model and loop: "
            "by the environment. The last message asks for nothing more.",
            "调用只是模型的提议。返回的内容由工具产生，在模型和循环之外，也就是环境。最后一条消息不再请求任何东西。",
        ),
    ),
)
MAKERS = ("user", "model", "code", "environment")


@dataclass(frozen=True, slots=True)
class Run:
    """A run to put in order."""

    name: str
    title: Text
    script: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Card:
    """One of the shuffled messages."""

    letter: str
    text: str
    """What it says, without its role."""
    number: int
    """Its place in the run, from 1."""
    maker: str
    message: Message


def _en_zh(en: str, zh: str) -> dict[str, str]:
    return {"en": en, "zh": zh}


RUNS = (
    Run(
        "sum",
        Text("Two sums", "先加后乘"),
        {
            "system": _en_zh("You are an assistant who calculates.", "你是一个计算助手。"),
            "task": _en_zh("Please work out (2+3)*4", "请计算 (2+3)*4"),
            "tools": ["add", "multiply"],
            "turns": [
                {"calls": [{"id": "c1", "name": "add", "arguments": {"a": 2, "b": 3}}]},
                {"calls": [{"id": "c2", "name": "multiply", "arguments": {"a": 5, "b": 4}}]},
                {"text": _en_zh("The result is 20.", "计算结果是 20。")},
            ],
        },
    ),
    Run(
        "order",
        Text("An order is cancelled", "取消订单"),
        {
            "system": _en_zh("You help the customers of a tea shop.", "你为一家茶店的顾客服务。"),
            "task": _en_zh(
                "Please cancel order A1002, unless it is on its way.", "如果订单 A1002 还没发货，请取消它。"
            ),
            "tools": ["get_order", "cancel_order"],
            "turns": [
                {"calls": [{"id": "c1", "name": "get_order", "arguments": {"order_id": "A1002"}}]},
                {
                    "text": _en_zh("It is not on its way yet, so I cancel it.", "还没有发货，我来取消。"),
                    "calls": [{"id": "c2", "name": "cancel_order", "arguments": {"order_id": "A1002"}}],
                },
                {"text": _en_zh("Order A1002 is cancelled.", "订单 A1002 已取消。")},
            ],
        },
    ),
    Run(
        "parallel",
        Text("Two calls at once", "一次两个调用"),
        {
            "system": _en_zh("You answer in one sentence.", "你用一句话回答。"),
            "task": _en_zh(
                "What are a share of TEA and a share of CUP worth together?", "TEA 和 CUP 各一股，一共值多少？"
            ),
            "tools": ["get_stock", "add"],
            "turns": [
                {
                    "calls": [
                        {"id": "c1", "name": "get_stock", "arguments": {"symbol": "TEA"}, "result": "42"},
                        {"id": "c2", "name": "get_stock", "arguments": {"symbol": "CUP"}, "result": "7"},
                    ]
                },
                {"calls": [{"id": "c3", "name": "add", "arguments": {"a": 42, "b": 7}}]},
                {"text": _en_zh("Together they are worth 49 euros.", "一共值 49 欧元。")},
            ],
        },
    ),
)
"""In each, every round needs what the one before gave, so that there is one right order."""


def run_named(name: str) -> Run:
    """The run of this name; the first where there is none."""
    return next((run for run in RUNS if run.name == name), RUNS[0])


@cache
def cards(name: str, language: str) -> tuple[Card, ...]:
    """The messages of a run, shuffled the same way each time."""
    run = run_named(name)
    script = parse_script(jsontext.dumps(in_language(run.script, language)), f"{name}.json")
    loop = script.loop(pace=0)
    play(loop, script)
    numbers = list(range(len(loop.messages)))
    random.Random(name).shuffle(numbers)
    makers = [entry.maker for entry in loop.trace.entries]
    return tuple(
        Card(letter, _text(loop.messages[at], language), at + 1, str(makers[at]), loop.messages[at])
        for letter, at in zip(string.ascii_uppercase, numbers, strict=False)
    )


def _text(message: Message, language: str) -> str:
    asks = "请求" if language == "zh" else "asks for"
    lines = [message.text] if message.text else []
    lines += [f"{asks} {call.name}({jsontext.dumps(call.arguments)})  id {call.id}" for call in message.tool_calls]
    lines += [f"id {message.tool_call_id}"] if message.tool_call_id else []
    return "\n".join(lines)


def check(cards: Sequence[Card], numbers: Mapping[str, int], makers: Mapping[str, str]) -> list[Remark]:
    """What is not right yet.

    Args:
        cards: the messages.
        numbers: the number given to each, by its letter.
        makers: who is said to have made it, by its letter.
    """
    return [*_number_remarks(cards, numbers), *_maker_remarks(cards, makers)]


def _number_remarks(cards: Sequence[Card], numbers: Mapping[str, int]) -> Iterator[Remark]:
    if missing := [card.letter for card in cards if card.letter not in numbers]:
        listed = ", ".join(missing)
        yield Remark(Text(f"Without a number yet: {listed}.", f"还没有编号：{listed}。"))
        return
    given = Counter(numbers[card.letter] for card in cards)
    twice = [number for number, count in sorted(given.items()) if count > 1]
    for number in twice:
        same = ", ".join(card.letter for card in cards if numbers[card.letter] == number)
        yield Remark(Text(f"{same} have the same number, {number}.", f"{same} 的编号相同，都是 {number}。"))
    if twice:
        return
    said = sorted(cards, key=lambda card: numbers[card.letter])
    right = sorted(cards, key=lambda card: card.number)
    for number, (given_card, card) in enumerate(zip(said, right, strict=True), 1):
        if given_card != card:
            place = Text(f"Number {number}, {given_card.letter}", f"第 {number} 条，{given_card.letter}")
            yield Remark(_why_not(given_card, card), place)
            return


def _why_not(given: Card, right: Card) -> Text:
    """Why the one cannot stand where the other belongs; all before it are right."""
    if right.message.role == "system":
        return Text(
            "What the program tells the model about its task stands before everything else.",
            "程序对模型的说明排在所有消息之前。",
        )
    if right.message.role == "user":
        return Text("Nobody has asked anything yet: the user speaks first.", "还没有人提问：用户要先说话。")
    if right.message.role == "tool" and given.message.role == "tool":
        return Text(
            "Results stand in the order of the calls, whichever was ready first. Compare the ids.",
            "结果按调用的顺序排列，与谁先完成无关。请对照编号。",
        )
    if right.message.role == "tool":
        call_id = right.message.tool_call_id
        return Text(
            f"A call has just been asked for and its result comes first: look for the id {call_id}.",
            f"刚刚请求了一个调用，它的结果要先到：请找编号 {call_id}。",
        )
    if given.message.role == "tool":
        call_id = given.message.tool_call_id
        return Text(
            f"This is the result of the call {call_id}, and nobody has asked for that yet.",
            f"这是调用 {call_id} 的结果，可还没有谁请求过它。",
        )
    if given.message.tool_calls:
        return Text(
            "The model asks here with something that it cannot know yet. Which result must it have seen?",
            "模型在这里用到了它还不可能知道的内容。它要先看到哪个结果？",
        )
    return Text(
        "Here the model asks for nothing more, which ends the run; but other messages still follow.",
        "模型在这里不再请求任何东西，运行就结束了；可后面还有别的消息。",
    )


_WHY = {
    "user": Text("This message is the question with which everything begins.", "这条消息是引出一切的问题。"),
    "model": Text(
        "This message says what to do next or gives the answer; a call is only the model's proposal.",
        "这条消息说出下一步做什么，或者给出回答；调用只是模型的提议。",
    ),
    "code": Text(
        "Neither the user nor the model has written this message: it is part of the program, the same in every run.",
        "这条消息不是用户写的，也不是模型写的：它是程序的一部分，每次运行都一样。",
    ),
    "environment": Text(
        "This message is what a tool gave back. The program wrote it into the list, but did not make it up.",
        "这条消息是工具返回的内容。程序把它写进列表，但内容不是程序编的。",
    ),
}


def _maker_remarks(cards: Sequence[Card], makers: Mapping[str, str]) -> Iterator[Remark]:
    if missing := [card.letter for card in cards if card.letter not in makers]:
        listed = ", ".join(missing)
        yield Remark(Text(f"Without a maker yet: {listed}.", f"还没说是谁产生的：{listed}。"))
    for card in cards:
        said = makers.get(card.letter)
        if said is not None and said != card.maker:
            yield Remark(_WHY[card.maker], Text(f"The maker of {card.letter}", f"{card.letter} 的产生者"))
