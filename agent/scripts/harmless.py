"""A script that is only tried out: none of one's own tools really runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent.scripts.script import Script
from agent.tools import Tool

NOT_RUN = "(not run in the preview)"
"""What stands in for the result of a tool of one's own, which may do real things."""


def harmless(script: Script) -> Script:
    """The same script with stand-ins for one's own tools, which may do real things."""
    return replace(script, own=tuple(map(_stand_in, script.own)))


def _stand_in(tool: Tool) -> Tool:
    """A tool that looks the same and does nothing."""

    def nothing(**arguments: Any) -> str:
        return NOT_RUN

    return Tool(tool.name, tool.description, tool.parameters, nothing)
