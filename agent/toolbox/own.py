"""Tools of one's own: the tools of a Python file. Every way in which such a file can be wrong is said in a sentence."""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from agent.errors import InputError, ToolDefinitionError
from agent.toolbox import toolbox
from agent.tools import Tool


def load_tools(path: Path | str, taken: Collection[str] = ()) -> list[Tool]:
    """Run a Python file and give the tools that stand at its top level, in the order in which they are written.

    A tool is what ``@tool`` makes of a function, or a :class:`~agent.tools.Tool`. The file may import its neighbours
    while it is loaded. What it keeps in its own variables is shared by all runs of this process.

    Args:
        path: the file.
        taken: names of tools from elsewhere that must not come again; those of the toolbox must not anyway.

    Raises:
        InputError: the file cannot be read, run or used; the text names it, the line where there is one, and says what
            to do.
    """
    path = Path(path)
    names = {*toolbox(), *taken}
    tools: list[Tool] = []
    for tool in _tools_of(_run(path)):
        if tool.name in names:
            raise InputError(f"{path}: there is already a tool called {tool.name!r}; give this one another name")
        try:
            tool.compile()
        except ToolDefinitionError as error:
            raise InputError(f"{path}: {error}") from error
        names.add(tool.name)
        tools.append(tool)
    if not tools:
        raise InputError(
            f"{path}: there is no tool in it; write @tool above a function, after 'from agent import tool'"
        )
    return tools


def load_all(paths: Iterable[Path | str]) -> list[Tool]:
    """The tools of several files, as by :func:`load_tools`; no name may come twice.

    Raises:
        InputError: a file cannot be used.
    """
    tools: list[Tool] = []
    for path in paths:
        tools += load_tools(path, [tool.name for tool in tools])
    return tools


def _tools_of(module: ModuleType) -> Iterator[Tool]:
    """Each tool once, also where it has two names in the file."""
    return iter({id(value): value for value in vars(module).values() if isinstance(value, Tool)}.values())


def _run(path: Path) -> ModuleType:
    """The file as a module. It stays among the loaded ones under a name of its own, where annotations are looked up."""
    name = f"own_tools_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno or 1}: it is no valid Python: {error.msg}") from error
    except ValueError as error:
        raise InputError(f"{path}: it is no Python file: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: the file with your tools cannot be read: {error.strerror or error}") from error
    module = ModuleType(name)
    module.__file__ = str(path.resolve())
    sys.modules[name] = module
    try:
        with _neighbours(path.resolve().parent):
            exec(code, vars(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise InputError(f"{_place(path, error)}: {_words(error)}") from error
    return module


@contextmanager
def _neighbours(folder: Path) -> Iterator[None]:
    """While this lasts a file can import those beside it; they hide nothing that was found before."""
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _place(path: Path, error: BaseException) -> str:
    """The file, and the last of its own lines that led to the error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}, line {lines[-1]}" if lines else str(path)


def _words(error: BaseException) -> str:
    if isinstance(error, ToolDefinitionError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"what it imports is no valid Python: {error}"
    if isinstance(error, SystemExit):
        return "it ends the program when it is loaded"
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"it fails when it is loaded: {words}"
