"""From the text of a script to plain data, and from a place in the data back to its line in the text.

YAML is read with the types of JSON alone: ``no`` is a text and not false, ``12:30`` is not a number, ``2026-11-29`` is
not a date. Tool arguments are JSON, and so a script says what it seems to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import InputError

if TYPE_CHECKING:
    import yaml

LARGEST = 1_000_000
"""Characters of YAML; a longer text would take minutes to read."""
LARGEST_JSON = 200_000_000
"""Characters of JSON, as which long recordings are kept."""

Place = Sequence[str | int]
"""Where something stands in the data: ``("turns", 2, "calls", 0, "name")``."""


def text_of(path: Path) -> str:
    """The text of a script's file.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for, a device has no end
            raise InputError(f"{str(path)!r} cannot be read: it is not a regular file")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: a script must be UTF-8 text, and this file is not") from error
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def read(text: str, name: str) -> Any:
    """The data of a script: JSON where the name ends so or the text begins so and is that, else YAML.

    Args:
        name: what the text is called in errors: a file name.

    Raises:
        InputError: it is neither; the text names the line.
    """
    as_json = name.lower().endswith(".json")
    most = LARGEST_JSON if as_json or text.startswith("{") else LARGEST
    if len(text) > most:
        more = "" if as_json else "; a longer one can be kept as JSON, in a file whose name ends with .json"
        raise InputError(f"{name}: a script may have {most:,} characters, this file has {len(text):,}{more}")
    try:
        if as_json:
            return _json(text, name)
        if text.startswith("{"):  # nearly all JSON is YAML, but reading it as that takes a hundred times as long
            with suppress(ValueError):
                return json.loads(text)
        return _yaml(text, name)
    except RecursionError as error:
        raise InputError(f"{name}: the data is nested too deeply") from error


def line_of(text: str, place: Place) -> int | None:
    """The line (from 1) at which ``place`` begins in the text, or the nearest thing around it; None: cannot be told."""
    import yaml

    if len(text) > LARGEST:
        return None
    try:
        node = yaml.compose(text, Loader=_loader())
    except (yaml.YAMLError, RecursionError):
        return None
    line = None
    for part in place:
        found = _child(node, part)
        if found is None:
            break
        line, node = found
    return line


def where(name: str, text: str, place: Place) -> str:
    """The place in words: ``order.yaml, line 12, turns[2].calls[0].name``."""
    line = line_of(text, place)
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    return ", ".join(filter(None, [name, f"line {line}" if line else "", path]))


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    import yaml

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")  # the parser's words lead up to a position
        raise InputError(f"{name}, line {error.lineno}: this is not valid JSON: {what}") from error


def _yaml(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{name}{line}: this is not valid YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{name}: this is not valid YAML: {' '.join(str(error).split())}") from error


@cache
def _loader() -> type[yaml.SafeLoader]:
    """The safe loader with the types of JSON, without aliases, and with an error for a key that stands twice."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                line = self.peek_event().start_mark.line  # type: ignore[no-untyped-call]
                raise _fault("aliases (*name) are not allowed in scripts", line)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key, _ in node.value:
                line = key.start_mark.line
                if not isinstance(key, yaml.ScalarNode):
                    raise _fault("a key must be a text", line)
                if key.value in seen:
                    raise _fault(f"the key {key.value!r} stands twice", line)
                seen.add(key.value)
            return super().construct_mapping(node, deep=deep)

    plain = {f"tag:yaml.org,2002:{tag}" for tag in ("str", "seq", "map", "null", "bool", "int", "float")} | {None}
    Loader.yaml_constructors = {tag: make for tag, make in Loader.yaml_constructors.items() if tag in plain}
    Loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in _JSON_TYPES:
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
    return Loader


_JSON_TYPES = (
    ("null", r"(?:null|~|)$", ("n", "~", "")),
    ("bool", r"(?:true|false)$", "tf"),
    ("int", r"-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$", "-0123456789"),
)
"""Tag, pattern and first characters of the plain words that are no texts."""


def _fault(problem: str, line: int) -> yaml.MarkedYAMLError:
    import yaml

    return yaml.MarkedYAMLError(problem=problem, problem_mark=yaml.Mark("", 0, line, 0, None, 0))
