"""Checking a script against its fields, and the sentence for everything that is wrong with one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agent.errors import InputError
from agent.nearest import nearest, nearest_of
from agent.scripts import source
from agent.scripts.fields import ScriptFields
from agent.scripts.source import Lines, SourceError
from agent.scripts.strict import MAPPING, TEXT, found
from agent.toolbox import toolbox
from agent.tools import Tool
from agent.trace import SCHEMA as TRACE

MOST_TOLD = 100
"""Mistakes that are told; a longer list helps nobody, and would take minutes to write."""

Place = list[str | int]


class Problem(NamedTuple):
    """One thing that is wrong with a script."""

    line: int | None
    """From 1; None where it concerns the whole text."""
    place: str
    """``turns[2].calls[0].name``; empty where it concerns the whole text."""
    sentence: str
    """What is wrong, and what was expected."""

    def told(self, name: str) -> str:
        """The sentence with its place before it: ``order.yaml, line 12, turns[2]: ...``."""
        return f"{source.told(name, self.line, self.place)}: {self.sentence}"


class Checked(NamedTuple):
    """A script whose fields were looked at."""

    fields: ScriptFields | None
    """None: they are wrong."""
    problems: list[Problem]
    """In the order of the text."""
    lines: Lines
    """Where its places stand in the text."""
    untold: int = 0
    """How many more there are."""


def check_all(text: str, name: str = "script.yaml", own: Iterable[Tool] = ()) -> list[Problem]:
    """Everything that is wrong with a script, in the order of the text; nothing where it can be played.

    What is wrong between several keys is told once each of them is right. Of very many mistakes the last entry gives
    the number alone.

    Args:
        text: YAML, or JSON.
        name: the file name; one that ends with ``.json`` makes it JSON.
        own: tools of one's own, which it may name beside those of the toolbox.
    """
    looked = _looked_at(text, name, own)
    more = [Problem(None, "", f"{looked.untold:,} more mistakes are not listed")] if looked.untold else []
    return looked.problems + more


def check(text: str, name: str, own: Iterable[Tool] = ()) -> tuple[ScriptFields, Lines]:
    """The fields of a script, checked, and the lines at which they stand.

    Args:
        text: as for :func:`check_all`.
        name: what the text is called in errors.
        own: as for :func:`check_all`.

    Raises:
        InputError: the first thing that is wrong: file, line, place, what was expected.
    """
    fields, problems, lines, untold = _looked_at(text, name, own)
    if problems or fields is None:
        others = len(problems) - 1 + untold
        more = f" (and {others} more)" if others else ""
        raise InputError(problems[0].told(name) + more)
    return fields, lines


def _looked_at(text: str, name: str, own: Iterable[Tool]) -> Checked:
    lines = Lines(text, name)
    try:
        data = source.read(text, name)
    except SourceError as error:
        return Checked(None, [Problem(error.line, "", error.sentence)], lines)
    short = isinstance(data, list)
    if short:
        data = {"turns": data}
    if isinstance(data, Mapping) and data.get("schema") == TRACE:
        convert = "python -m traces convert FILE --to script"
        return Checked(None, [Problem(None, "", f"this is a trace and no script; {convert} makes one of it")], lines)
    if not isinstance(data, Mapping):
        wanted = "a script is a mapping with the key turns, or a list of turns"
        return Checked(None, [Problem(None, "", f"{wanted}; found {found(data)}")], lines)
    fields: ScriptFields | None = None
    try:
        fields = ScriptFields.model_validate(data)
    except ValidationError as error:
        found_here, count = _of_fields(error)
    else:
        found_here, count = _of_tools(fields, own)
    problems = []
    for place, sentence in found_here:
        shown = place[1:] if short else place
        problems.append(Problem(lines.line_of(shown), source.path_of(shown), sentence))
    problems.sort(key=lambda problem: problem.line or 0)
    return Checked(fields, problems, lines, count - len(problems))


# ---- what is wrong ----


def _of_tools(fields: ScriptFields, own: Iterable[Tool]) -> tuple[list[tuple[Place, str]], int]:
    """The mistakes that are told, each with its place, and how many there are."""
    known = [*toolbox(), *(tool.name for tool in own)]
    names = [(number, tool) for number, tool in enumerate(fields.tools or ()) if isinstance(tool, str)]
    unknown = [(number, name) for number, name in names if name not in known]
    told: list[tuple[Place, str]] = [
        (["tools", number], f"there is no tool {name!r} in the toolbox{nearest(name, known)}")
        for number, name in unknown[:MOST_TOLD]
    ]
    return told, len(unknown)


def _of_fields(error: ValidationError) -> tuple[list[tuple[Place, str]], int]:
    """As :func:`_of_tools`. A key that is missing only because it is misspelt is told once."""
    details = error.errors()[:MOST_TOLD]
    misspelt = [_place(each) for each in details if each["type"] == "extra_forbidden"]
    told = []
    for each in details:
        place = _place(each)
        if each["type"] != "missing" or not any(_means(other, place) for other in misspelt):
            told.append((place, _sentence(each, place)))
    return told, error.error_count() - len(details) + len(told)


def _means(unknown: Place, missing: Place) -> bool:
    """Whether the unknown key at one place looks like the missing one at the other."""
    return unknown[:-1] == missing[:-1] and nearest_of(str(unknown[-1]), [str(missing[-1])]) is not None


def _place(error: ErrorDetails) -> Place:
    """Keys and positions that lead to the error, without the tags of pydantic."""
    *above, last = error["loc"] or ("",)
    place: Place = [part for part in above if part not in (TEXT, MAPPING)]
    if last not in ("", TEXT, MAPPING) or error["type"] == "extra_forbidden":
        place.append(last)
    if error["type"] == "value_error":
        place += getattr(error["ctx"]["error"], "place", ())
    return place


def _sentence(error: ErrorDetails, place: Place) -> str:
    """What is wrong, in words."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(str(place[-1]), place[:-1])
    if kind == "missing":
        return f"the key {place[-1]!r} is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "too_short":
        return "the list is empty"
    expected = _EXPECTED.get(kind, "")
    if not expected:
        message = error["msg"]
        return f"{message[0].lower()}{message[1:]}, found {found(error['input'])}"
    return f"expected {expected.format(**context)}, found {found(error['input'])}"


def _unknown_key(key: str, place: Place) -> str:
    if place and key in _keys_at([]):
        return f"unknown key {key!r} here; it stands at the top of a script, beside turns"
    return f"unknown key {key!r}{nearest(key, _keys_at(place))}"


_EXPECTED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "string_pattern_mismatch": "1 to 64 letters a-z, A-Z, digits, _ and -",
    "int_type": "a whole number",
    "float_type": "a number",
    "greater_than_equal": "a number from {ge}",
    "less_than_equal": "a number up to {le:,.15g}",
    "less_than": "a number below {lt:,}",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "union_tag_not_found": "a text or a mapping",
    "literal_error": "{expected}",
}


def _keys_at(place: Place) -> list[str]:
    """The keys that a script knows at this place."""
    group: type[BaseModel] = ScriptFields
    for part in place:
        if isinstance(part, str):
            known = {field.alias or name: field for name, field in group.model_fields.items()}
            group = _group_in(known[part].annotation) or group
    return [field.alias or name for name, field in group.model_fields.items()]


def _group_in(annotation: Any) -> type[BaseModel] | None:
    """The group of keys inside an annotation such as ``list[TurnFields] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_group_in, get_args(annotation))), None)
