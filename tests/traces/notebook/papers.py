"""Runs and lessons of our own for the tests of notebooks."""

from __future__ import annotations

from agent import CapabilityPolicy, FakeModel, Loop, Phase, Tool, ToolCall, Trace
from traces.lessons.file import parse_lesson
from traces.lessons.lesson import Lesson
from traces.lessons.shows import play_lesson
from traces.notebook.cells import Notebook

LESSON = """
title: {en: "A sum, run once", zh: 算一次加法}
system: plain
idea: {en: "The program runs <b>what</b> the model asks for.", zh: 程序运行模型请求的工具。}
question: {en: Who makes the result?, zh: 结果由谁产生？}
script:
  system: {en: You add., zh: 你做加法。}
  task: {en: What is 2+3?, zh: 2+3 是多少？}
  tools: [add]
  turns:
    - calls: [{name: add, arguments: {a: 2, b: 3}, id: c1}]
    - text: {en: It is 5., zh: 是 5。}
asks:
  - at: {step: 1, phase: append}
    kind: maker
    why: {en: The tool ran outside of the model., zh: 工具在模型之外运行。}
notices:
  - at: {step: 2, phase: call}
    text: {en: The list holds four messages now., zh: 现在列表里有四条消息。}
task: {en: Change the sum., zh: 换一个加法。}
answer: {en: Any two numbers do., zh: 哪两个数都行。}
takeaway: {en: The model only asks., zh: 模型只是请求。}
"""


def lesson() -> Lesson:
    return parse_lesson(LESSON, "01_sum.yaml")


def lesson_notebook(language: str = "en") -> Notebook:
    """The lesson after its run was played to its end."""
    made = lesson()
    played = play_lesson(made, "", language)
    return Notebook(played.trace, None, made, made.variants[0], language)


def fails() -> None:
    raise ValueError("the disk is <full>")


def troubled() -> Trace:
    """A run with a tool that fails, a call that is denied, one of a tool that is not there, and hostile words."""
    turns = [
        [ToolCall("c1", "fails", {})],
        [ToolCall("c2", "delete", {"path": "/"}), ToolCall("c3", "nowhere", {})],
        "``` </pre><script>alert(1)</script> ''' \\ \x07 {name} $x$ 完成",
    ]
    tools = [
        Tool(name="fails", description="Fails.", parameters={"type": "object"}, func=fails),
        Tool(name="delete", description="Deletes.", parameters={"type": "object"}, func=lambda path: "gone"),
    ]
    loop = Loop(FakeModel(turns), tools, policy=CapabilityPolicy(deny=["delete"]))
    loop.start("tidy up <b>")
    loop.finish()
    return loop.trace


def halfway(phases: int) -> Notebook:
    """A run that goes on, so many phases from its start."""
    loop = Loop(FakeModel([[ToolCall("c1", "fails", {})], "done"]), [fails_tool()])
    loop.start("go")
    for _ in range(phases):
        loop.advance()
    return Notebook(loop.trace, loop.phase)


def fails_tool() -> Tool:
    return Tool(name="fails", description="Fails.", parameters={"type": "object"}, func=fails)


def phase_cells(cells: list[object]) -> list[tuple[int, Phase | None, list[int]]]:
    """Step, phase and messages of the cells in which a phase acted."""
    return [(c.step, c.phase, list(c.messages)) for c in cells if c.kind == "phase"]  # type: ignore[attr-defined]
