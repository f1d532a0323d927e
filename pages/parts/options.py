"""What the app was started with: the options after ``streamlit run app.py --``, read once in a server process."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import streamlit as st

from agent.console import tell
from agent.errors import InputError
from agent.toolbox.own import load_tools
from agent.tools import Tool

USAGE = "streamlit run app.py -- [--tools FILE ...] [--data DIR]"
"""How the app is started with options."""

_ENTRY = "app.py"


@dataclass(frozen=True, slots=True)
class Options:
    """The options, as far as they can be used."""

    data: Path | None = None
    """The folder where runs are saved; None: it was not given."""
    tools: tuple[Tool, ...] = ()
    """The tools of all files together, each under a name that nothing else has."""
    problems: tuple[str, ...] = ()
    """What of the options cannot be used, and why, one sentence each. The app starts all the same."""


def options() -> Options:
    """The options of this process; none where the pages are used by another program than ``streamlit run app.py``."""
    return _read()


@st.cache_resource(show_spinner=False)
def _read() -> Options:
    name, *arguments = sys.argv
    read = read_options(arguments) if Path(name).name == _ENTRY else Options()
    for problem in read.problems:
        tell(f"{_ENTRY}: {problem}")
    return read


def read_options(arguments: Sequence[str]) -> Options:
    """Read the words after ``--``. Whatever is wrong becomes a problem, and the rest holds."""
    try:
        found, unknown = _parser().parse_known_args(arguments)
    except InputError as error:
        return Options(problems=(str(error),))
    problems = [f"{' '.join(unknown)}: the app has no such option. Usage: {USAGE}"] if unknown else []
    tools: list[Tool] = []
    for path in found.tools:
        try:
            tools += load_tools(path, [tool.name for tool in tools])
        except InputError as error:
            problems.append(str(error))
    if found.data is None:
        return Options(None, tuple(tools), tuple(problems))
    if why := _unusable(found.data):
        problems.append(f"--data {found.data}: {why}, so runs are not saved there")
    return Options(None if why else Path(found.data), tuple(tools), tuple(problems))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}. Usage: {USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=_ENTRY, add_help=False, allow_abbrev=False)
    parser.add_argument("--tools", nargs="+", action="extend", default=[])
    parser.add_argument("--data")
    return parser


def _unusable(name: str) -> str | None:
    """Why nothing could be saved in this folder; it is made where it is missing."""
    if not name.strip():
        return "the name is empty"
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        return "it is no folder"
    except OSError as error:
        return f"it cannot be made: {error.strerror or error}"
    return None if os.access(folder, os.W_OK) else "it cannot be written to"
