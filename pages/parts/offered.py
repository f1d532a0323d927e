"""The tools that a run can offer: those of the toolbox and one's own, and what stands in for those that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from agent.errors import ToolDefinitionError, ToolFailure
from agent.scripts import Script
from agent.toolbox import pick, toolbox
from agent.tools import Tool, ToolRegistry
from pages.parts.options import USAGE, options
from pages.parts.words import t


def known_names() -> list[str]:
    """The names of all tools that there are: the toolbox first, then one's own."""
    return [*_toolbox_names(), *own_names()]


def own_names() -> list[str]:
    """The names of the tools that came with ``--tools``."""
    return [tool.name for tool in options().tools]


def make_tools(names: Sequence[str], script: Script | None = None, *, real: bool = False) -> ToolRegistry:
    """The tools of these names, each with a time limit, so that a hung one cannot hold a run.

    Args:
        names: of the tools.
        script: what may hold tools of its own, and answers.
        real: let tools that are here run also where the script holds their answers.

    Raises:
        InputError: one of them is not here.
    """
    if script is None:
        return pick(names, own=options().tools).with_timeout()
    pace = 0 if script.recorded else 1
    return script.make_tools(names=names, own=options().tools, real=real, pace=pace).with_timeout()


def gone(names: Iterable[str], script: Script | None = None) -> str | None:
    """Which of these tools are not here and what to do about it, as sentences; None where all are.

    Args:
        names: of the tools.
        script: what may hold tools of its own.
    """
    known = {*known_names(), *(info.name for info in (script.made if script else ()))}
    missing = [name for name in names if name not in known]
    if not missing:
        return None
    return t(
        "Tools that are not here: {tools}. Start the app with the file that holds them: {usage}",
        tools=", ".join(missing),
        usage=USAGE,
    )


def recorded_tools(schemas: Iterable[object]) -> ToolRegistry:
    """Tools that look like the recorded ones and do nothing, for a run that is only shown; what is none is left out."""

    def nothing(**arguments: Any) -> None:
        raise ToolFailure("this tool is only shown here, and cannot run")

    tools = ToolRegistry()
    for schema in schemas:
        function = schema.get("function") if isinstance(schema, Mapping) else None
        about = function if isinstance(function, Mapping) else {}
        description, parameters = str(about.get("description") or ""), about.get("parameters") or {}
        with suppress(ToolDefinitionError):
            tools.add(Tool(about.get("name", ""), description, parameters, nothing))
    return tools


@cache
def _toolbox_names() -> tuple[str, ...]:
    return tuple(toolbox())
