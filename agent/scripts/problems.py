"""Checking data against its groups of keys, and the sentence for everything that is wrong with it.

Scripts are checked in this way, and every other file that people write in YAML or JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agent.errors import InputError
from agent.nearest import nearest, nearest_of
from agent.scripts import source
from agent.scripts.source import Lines
from agent.scripts.strict import MAPPING, TEXT, found

MOST_TOLD = 100
"""Mistakes that are told; a longer list helps nobody, and would take minutes to write."""

Place = list[str | int]
Group = TypeVar("Group", bound=BaseModel)


class Problem(NamedTuple):
    """One thing that is wrong with a text."""

    line: int | None
    """From 1; None where it concerns the whole text."""
    place: str
    """``turns[2].calls[0].name``; empty where it concerns the whole text."""
    sentence: str
    """What is wrong, and what was expected."""

    def told(self, name: str) -> str:
        """The sentence with its place before it: ``order.yaml, line 12, turns[2]: ...``."""
        return f"{source.told(name, self.line, self.place)}: {self.sentence}"


class Mistakes(NamedTuple):
    """What is wrong with data, apart from its text."""

    told: list[tuple[Place, str]]
    """The mistakes that are told, each with its place."""
    total: int
    """How many there are."""


NO_MISTAKES = Mistakes([], 0)


class Problems(NamedTuple):
    """What is wrong with a text."""

    told: list[Problem]
    """In the order of the text."""
    untold: int = 0
    """How many more there are."""

    @classmethod
    def whole(cls, sentence: str, line: int | None = None) -> Problems:
        """One that concerns the whole text, or what stands from a line on."""
        return cls([Problem(line, "", sentence)])

    @classmethod
    def at(cls, mistakes: Mistakes, lines: Lines, shown: Callable[[Place], Place] = list) -> Problems:
        """Mistakes with the lines at which they stand.

        Args:
            mistakes: those of the data.
            lines: of the text that the data came from.
            shown: from a place in the data to the one in the text, where a short form was made longer.
        """
        places = [(shown(place), sentence) for place, sentence in mistakes.told]
        told = [Problem(lines.line_of(place), source.path_of(place), sentence) for place, sentence in places]
        return cls(sorted(told, key=lambda problem: problem.line or 0), mistakes.total - len(told))

    @property
    def listed(self) -> list[Problem]:
        """All of them; of very many the last entry gives the number alone."""
        return self.told + ([Problem(None, "", f"{self.untold:,} more mistakes are not listed")] if self.untold else [])

    def error(self, name: str) -> InputError:
        """The first of them, and how many others there are.

        Args:
            name: what the text is called.
        """
        others = len(self.told) - 1 + self.untold
        return InputError(self.told[0].told(name) + (f" (and {others} more)" if others else ""))


def _nothing(name: str, value: Any) -> str:
    return ""


def check_fields(
    data: Mapping[str, Any], group: type[Group], top: str, refused: Callable[[str, Any], str] = _nothing
) -> tuple[Group | None, Mistakes]:
    """Data as a group of keys, or what is wrong with it. A key that is missing only because it is misspelt counts once.

    Args:
        data: a mapping.
        group: what it should be.
        top: where the keys of that group stand, in words: "at the top of a script, beside turns".
        refused: why an unknown key with its value may stand nowhere, in words; empty where it is only unknown.
    """
    try:
        return group.model_validate(data), NO_MISTAKES
    except ValidationError as error:
        details = error.errors()[:MOST_TOLD]
        misspelt = [_place(each) for each in details if each["type"] == "extra_forbidden"]
        told = []
        for each in details:
            place = _place(each)
            if each["type"] != "missing" or not any(_means(other, place) for other in misspelt):
                why = refused(str(place[-1]), each["input"]) if each["type"] == "extra_forbidden" else ""
                told.append((place, why or _sentence(each, place, group, top)))
        return None, Mistakes(told, error.error_count() - len(details) + len(told))


# ---- what is wrong ----


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


def _sentence(error: ErrorDetails, place: Place, group: type[BaseModel], top: str) -> str:
    """What is wrong, in words."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(str(place[-1]), place[:-1], group, top)
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


def _unknown_key(key: str, place: Place, group: type[BaseModel], top: str) -> str:
    if place and key in _keys_at([], group):
        return f"unknown key {key!r} here; it stands {top}"
    return f"unknown key {key!r}{nearest(key, _keys_at(place, group))}"


_EXPECTED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "string_too_long": "a text of at most {max_length} characters",
    "string_pattern_mismatch": "1 to 64 letters a-z, A-Z, digits, _ and -",
    "int_type": "a whole number",
    "float_type": "a number",
    "greater_than_equal": "a number from {ge}",
    "greater_than": "a number above {gt}",
    "less_than_equal": "a number up to {le:,.15g}",
    "less_than": "a number below {lt:,}",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "union_tag_not_found": "a text or a mapping",
    "literal_error": "{expected}",
}


def _keys_at(place: Place, group: type[BaseModel]) -> list[str]:
    """The keys that are known at this place."""
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
