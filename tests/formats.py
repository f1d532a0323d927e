"""A document that tells a format, and the fields that it must tell: what the tests of such documents share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel


class Document:
    """A ``FORMAT.md``."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.examples: list[str] = re.findall(r"```yaml\n(.*?)```", self.text, re.DOTALL)
        self.tables = "\n".join(line.partition(" | ")[0] for line in self.text.splitlines() if line.startswith("| `"))
        """The first columns of all tables: the keys that are told."""


def keys_of(fields: type[BaseModel]) -> list[tuple[str, str]]:
    """Every key under these fields, with the name of the group that it stands in."""
    groups = _groups(fields, set())
    return sorted(
        {(each.__name__, field.alias or name) for each in groups for name, field in each.model_fields.items()}
    )


def _groups(group: type[BaseModel], seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    seen.add(group)
    for field in group.model_fields.values():
        for inner in _groups_in(field.annotation):
            if inner not in seen:
                _groups(inner, seen)
    return seen


def _groups_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The groups of keys that an annotation leads to."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _groups_in(inner)
