"""The toolbox: small honest tools for scenarios and first tries. Their data is made up; none needs a network."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agent.errors import InputError
from agent.nearest import nearest
from agent.toolbox import calculator, practice, weather
from agent.toolbox.files import file_tools
from agent.toolbox.orders import order_tools
from agent.tools import Tool, ToolRegistry

SAMPLE_FILES = Path(__file__).parent.parent / "scenarios" / "files"
"""The folder that the file tools look at where no other is given: three small Python files."""


def toolbox(root: Path | None = None) -> dict[str, Tool]:
    """All tools by name.

    Args:
        root: the one folder that the file tools may read; None: :data:`SAMPLE_FILES`.

    Raises:
        InputError: ``root`` is not a folder.
    """
    folder = _folder(root)
    tools = (*calculator.TOOLS, *order_tools(), *weather.TOOLS, *file_tools(folder), *practice.TOOLS)
    return {tool.name: tool for tool in tools}


def pick(names: Iterable[str], root: Path | None = None, own: Iterable[Tool] = ()) -> ToolRegistry:
    """A registry of the tools with these names, in this order.

    Args:
        names: of the tools.
        root: as for :func:`toolbox`.
        own: further tools to pick from, as :func:`agent.toolbox.own.load_tools` gives them.

    Raises:
        InputError: a name is not in the toolbox; the text names the nearest one. Or ``root`` is not a folder.
    """
    _folder(root)
    tools = {tool.name: tool for tool in own}
    wanted = dict.fromkeys(names)
    if not tools.keys() >= wanted.keys():  # the toolbox takes milliseconds to make: only where it is asked for
        tools = toolbox(root) | tools
    registry = ToolRegistry()
    for name in wanted:
        if name not in tools:
            raise InputError(f"there is no tool {name!r} in the toolbox{nearest(name, tools)}")
        registry.add(tools[name])
    return registry


def _folder(root: Path | None) -> Path:
    folder = SAMPLE_FILES if root is None else Path(root)
    if not folder.is_dir():
        raise InputError(f"the folder {str(folder)!r} for the file tools does not exist")
    return folder
