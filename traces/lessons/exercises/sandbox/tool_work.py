"""A learner's ``@tool``: its schema as a model sees it, calls through a registry, and a run that uses it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent.errors import ToolDefinitionError
from agent.loop import Loop
from agent.messages import ToolCall
from agent.models.fake import FakeModel
from agent.tools import Tool, ToolRegistry
from agent.tools import tool as make_tool
from traces.lessons.exercises.remark import remark
from traces.lessons.exercises.sandbox.hints import hint_of
from traces.lessons.exercises.sandbox.restricted import MadeTool, ProgramError, Ran, explained, run_program

_SHOWN = 2_000
"""Characters of a result that are passed on."""


def work(code: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Make the tool, call it, and let a scripted model use it.

    Args:
        code: the program that defines the tool.
        data: ``calls``: a list of the arguments of single calls. ``run``: those of the call in the run, and what the
            user asks and the model answers, as ``{"arguments", "task", "answer"}``.

    Returns:
        ``schema``: of the tool; ``results``: ``{"text", "ok"}`` for each call; ``messages``: of the run.
    """
    ran = run_program(code, tools=True)
    made = _the_tool(ran)
    try:
        tool = _tool_of(made, ran)
        registry = ToolRegistry([tool])
    except ToolDefinitionError as error:
        raise ProgramError(
            [remark(f"It cannot be a tool: {error}", f"它不能成为工具：{error}", made.key[1])]
        ) from error
    with explained():
        results = [_called(registry, tool.name, arguments) for arguments in data["calls"]]
        messages = _run(tool, data["run"])
    return {
        "schema": tool.schema(),
        "results": results,
        "messages": messages,
        "printed": ran.output,
        "remarks": [],
    }


def warm_up() -> None:
    """Make and call a tool once, so that all that is loaded late is loaded before the walls are closed."""

    def plain(a: int) -> int:
        """Give it back."""
        return a

    registry = ToolRegistry([make_tool(plain)])
    for arguments in ({"a": 1}, {"a": "x"}, {}):
        registry.run(ToolCall("c1", "plain", arguments))


def _the_tool(ran: Ran) -> MadeTool:
    if not ran.tools:
        raise ProgramError(
            [remark("There is no tool in it: write @tool above your function.", "里面没有工具：请在函数上面写 @tool。")]
        )
    if len(ran.tools) > 1:
        raise ProgramError(
            [
                remark(
                    "There are several tools in it; one is asked for.",
                    "里面有多个工具；这里只要一个。",
                    ran.tools[1].key[1],
                )
            ]
        )
    return ran.tools[0]


def _tool_of(made: MadeTool, ran: Ran) -> Tool:
    hints = ran.program.hints.get(made.key, {})
    try:
        made.func.__annotations__ = {name: hint_of(hint, ran.enums) for name, hint in hints.items()}
    except (KeyError, TypeError) as error:
        raise ToolDefinitionError(f"a hint cannot be used ({error})") from error
    made.func.__doc__ = ran.program.docs.get(made.key)
    return make_tool(name=made.name, description=made.description)(made.func)


def _called(registry: ToolRegistry, name: str, arguments: Any) -> dict[str, Any]:
    result = registry.run(ToolCall("c1", name, arguments))
    return {"text": result.text[:_SHOWN], "ok": result.ok}


def _run(tool: Tool, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    model = FakeModel([[ToolCall("c1", tool.name, asked["arguments"])], str(asked["answer"])])
    loop = Loop(model, [tool], parallel=False)
    loop.start(str(asked["task"]))
    loop.finish()
    messages = json.loads(json.dumps([message.to_dict() for message in loop.messages]))
    for message in messages:
        if isinstance(message.get("content"), str):
            message["content"] = message["content"][:_SHOWN]
    return list(messages)
