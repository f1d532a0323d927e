"""From the text of a script to plain data, and from a place in the data back to its line in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import InputError
from agent.scripts import json_source

if TYPE_CHECKING:
    import yaml

LARGEST = 1_000_000
"""Characters of YAML; a longer text would take too long to read."""
LARGEST_JSON = 200_000_000
"""Characters of JSON, as which long recordings are kept."""
DEEPEST = 100
"""Lists and mappings that may stand inside each other."""
_BLANK = re.compile(r"\s*")

Place = Sequence[str | int]
"""Where something stands in the data: ``("turns", 2, "calls", 0, "name")``."""


class SourceError(InputError):
    """A text that is no YAML or JSON, or cannot be read.

    Args:
        name: what the text is called.
        sentence: what is wrong.
        line: from 1; None: cannot be told.
    """

    def __init__(self, name: str, sentence: str, line: int | None = None) -> None:
        super().__init__(f"{told(name, line)}: {sentence}")
        self.sentence = sentence
        self.line = line


def told(name: str, line: int | None, place: str = "") -> str:
    """A place in words: ``order.yaml, line 12, turns[2].calls[0].name``."""
    return ", ".join(filter(None, [name, f"line {line}" if line else "", place]))


def path_of(place: Place) -> str:
    """A place as people write it: ``turns[2].calls[0].name``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def text_of(path: Path, what: str = "script") -> str:
    """The text of a script's file.

    Args:
        path: the file.
        what: what it holds, in the words of an error.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for, a device has no end
            raise InputError(f"{str(path)!r} cannot be read: it is not a regular file")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(path.name, f"a {what} must be UTF-8 text, and this file is not", line) from error


def read(text: str, name: str, what: str = "script") -> Any:
    """The data of a script: JSON where the name ends so or the text is that, else YAML.

    Args:
        text: of the file.
        name: what the text is called in errors: a file name.
        what: what it holds, in the words of an error.

    Raises:
        SourceError: it is neither; the text names the line.
    """
    text, as_json = text.removeprefix("\ufeff"), name.lower().endswith(".json")
    if as_json or _looks_like_json(text):  # nearly all JSON is YAML, but as that it takes a hundred times as long
        _check_size(text, name, what, LARGEST_JSON)
        try:
            return json_source.load(text, DEEPEST)
        except json_source.BadJSON as error:
            if as_json or len(text) > LARGEST:
                raise SourceError(name, f"this is not valid JSON: {error}", error.line) from error
    _check_size(text, name, what, LARGEST, "; a longer one can be kept as JSON, in a file whose name ends with .json")
    from agent.scripts import yaml_source

    try:
        return yaml_source.load(text, DEEPEST)
    except yaml_source.BadYAML as error:
        raise SourceError(name, f"this is not valid YAML: {error}", error.line) from error


def _looks_like_json(text: str) -> bool:
    blank = _BLANK.match(text)
    return text.startswith(("{", "["), blank.end() if blank else 0)


def _check_size(text: str, name: str, what: str, most: int, more: str = "") -> None:
    if len(text) > most:
        raise SourceError(name, f"a {what} may have {most:,} characters, this file has {len(text):,}{more}")


class Lines:
    """Finds the lines of places in a text. YAML is gone through once, when the first line is asked for.

    Args:
        text: of a script that could be read.
        name: what the text is called.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name

    @cached_property
    def _is_json(self) -> bool:
        if _looks_like_json(self.text):
            with suppress(json_source.BadJSON):
                json_source.load(self.text, DEEPEST)
                return True
        return False

    @cached_property
    def _places(self) -> json_source.Places:
        return json_source.Places(self.text)

    @cached_property
    def _node(self) -> yaml.Node | None:
        from agent.scripts import yaml_source

        return yaml_source.compose(self.text, DEEPEST)

    def line_of(self, place: Place) -> int | None:
        """The line (from 1) at which ``place`` begins, or the nearest thing around it; None: that is the whole text."""
        if not place:
            return None
        if self._is_json:
            return self._places.line_of(place)
        from agent.scripts import yaml_source

        return yaml_source.line_of(self._node, place)

    def where(self, place: Place) -> str:
        """The place in words, with the name and the line: ``order.yaml, line 12, turns[2].calls[0].name``."""
        return told(self.name, self.line_of(place), path_of(place))
