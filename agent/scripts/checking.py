"""Checking a script: everything that is wrong with one, each with its line and its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from agent.nearest import nearest
from agent.scripts import source
from agent.scripts.fields import ScriptFields
from agent.scripts.problems import MOST_TOLD, NO_MISTAKES, Mistakes, Place, Problem, Problems, check_fields
from agent.scripts.source import Lines, SourceError
from agent.scripts.strict import found
from agent.toolbox import toolbox
from agent.tools import Tool
from agent.trace import SCHEMA as TRACE


class Checked(NamedTuple):
    """A script whose fields were looked at."""

    fields: ScriptFields | None
    """None: they are wrong."""
    problems: Problems
    lines: Lines
    """Where its places stand in the text."""


def check_all(text: str, name: str = "script.yaml", own: Iterable[Tool] = ()) -> list[Problem]:
    """Everything that is wrong with a script, in the order of the text; nothing where it can be played.

    What is wrong between several keys is told once each of them is right. Of very many mistakes the last entry gives
    the number alone.

    Args:
        text: YAML, or JSON.
        name: the file name; one that ends with ``.json`` makes it JSON.
        own: tools of one's own, which it may name beside those of the toolbox.
    """
    return _looked_at(text, name, own).problems.listed


def check(text: str, name: str, own: Iterable[Tool] = ()) -> tuple[ScriptFields, Lines]:
    """The fields of a script, checked, and the lines at which they stand.

    Args:
        text: as for :func:`check_all`.
        name: what the text is called in errors.
        own: as for :func:`check_all`.

    Raises:
        InputError: the first thing that is wrong: file, line, place, what was expected.
    """
    fields, problems, lines = _looked_at(text, name, own)
    if problems.told or fields is None:
        raise problems.error(name)
    return fields, lines


def _looked_at(text: str, name: str, own: Iterable[Tool]) -> Checked:
    lines = Lines(text, name)
    try:
        data = source.read(text, name)
    except SourceError as error:
        return Checked(None, Problems.whole(error.sentence, error.line), lines)
    short = isinstance(data, list)
    if short:
        data = {"turns": data}
    if isinstance(data, Mapping) and data.get("schema") == TRACE:
        convert = "python -m traces convert FILE --to script"
        return Checked(None, Problems.whole(f"this is a trace and no script; {convert} makes one of it"), lines)
    if not isinstance(data, Mapping):
        wanted = "a script is a mapping with the key turns, or a list of turns"
        return Checked(None, Problems.whole(f"{wanted}; found {found(data)}"), lines)
    fields, mistakes = check_fields(data, ScriptFields, "at the top of a script, beside turns")
    if fields is not None:
        mistakes = of_tools(fields, own)
    return Checked(fields, Problems.at(mistakes, lines, lambda place: place[1:] if short else place), lines)


def of_tools(fields: ScriptFields, own: Iterable[Tool]) -> Mistakes:
    """The tools of a script that there are not.

    Args:
        fields: of the script.
        own: tools of one's own, which it may name beside those of the toolbox.
    """
    names = [(number, tool) for number, tool in enumerate(fields.tools or ()) if isinstance(tool, str)]
    return unknown_tools(["tools"], names, own)


def unknown_tools(place: Place, names: Iterable[tuple[int, str]], own: Iterable[Tool]) -> Mistakes:
    """The names that no tool has.

    Args:
        place: of the list of names.
        names: each with its position there.
        own: tools of one's own, which may be named beside those of the toolbox.
    """
    known = [*_toolbox_names(), *(tool.name for tool in own)]
    unknown = [(number, name) for number, name in names if name not in known]
    if not unknown:
        return NO_MISTAKES
    told = [
        ([*place, number], f"there is no tool {name!r} in the toolbox{nearest(name, known)}")
        for number, name in unknown[:MOST_TOLD]
    ]
    return Mistakes(told, len(unknown))


@cache
def _toolbox_names() -> tuple[str, ...]:
    """Making the tools takes much longer than checking a script, and a course has a hundred of these."""
    return tuple(toolbox())
