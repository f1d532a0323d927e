"""A small lesson of a teacher's, for the tests of the Learn page: one tool call, questions of several kinds."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

LESSON = """
title: {en: Adding up, zh: 加法}
system: plain
idea: {en: The *idea* of it., zh: 要点说明。}
question: {en: Who adds?, zh: 谁来算？}
script:
  task: {en: What is 2+3?, zh: 2+3 等于多少？}
  tools: [add]
  turns:
    - calls: [{id: c1, name: add, arguments: {a: 2, b: 3}}]
    - text: {en: It is 5., zh: 等于 5。}
variants:
  - name: usual
    title: {en: As usual, zh: 照常}
  - name: alone
    title: {en: Without a tool, zh: 没有工具}
    changes: {tools: [], turns: [{text: {en: Perhaps 5., zh: 也许是 5。}}]}
    asks: false
asks:
  - at: {step: 1, phase: call}
    kind: reply
    why: {en: It has a tool for that., zh: 它有这个工具。}
  - at: {step: 1, phase: execute}
    kind: choice
    text: {en: Who has added so far?, zh: 到现在谁算过？}
    options:
      - text: {en: The model, zh: 模型}
        why: {en: It only asked., zh: 它只是请求。}
      - text: {en: Nobody, zh: 没有人}
        right: true
  - at: {step: 2, phase: decide}
    kind: stop
notices:
  - at: {step: 1, phase: approve}
    text: {en: Nothing has run., zh: 什么也没有运行。}
shows:
  - text: {en: The sum was said., zh: 说出了和。}
    that: {final_contains: "5", steps: 2}
  - text: {en: It took longer than alone., zh: 步数比没有工具时多。}
    that: {more_steps_than: alone}
  - text: {en: It ended with an error., zh: 以错误结束。}
    that: {reason: model_error}
  - text: {en: It guessed., zh: 它猜了。}
    that: {final_contains: Perhaps}
    variant: alone
task: {en: Add 4 and 5., zh: 算 4 加 5。}
answer: {en: Ask for the tool., zh: 请求工具。}
takeaway: {en: Models ask., zh: 模型只会请求。}
"""
"""The lesson ``adding``. One of its claims is wrong on purpose."""


def put_lesson(data: Path, text: str = LESSON, name: str = "90_adding.yaml") -> None:
    """Add a lesson to a data folder, as a teacher does."""
    folder = data / "lessons"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def in_address(app: AppTest, name: str) -> str | None:
    """What the address holds under a name: the driver keeps one text, or a list of them."""
    held = app.query_params.get(name)
    return held[0] if isinstance(held, list) else held
