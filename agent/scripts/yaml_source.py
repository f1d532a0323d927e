"""YAML with the types of JSON: reading that says where it fails, and the line at which a place begins.

``no`` is a text and not false, ``12:30`` is no number, ``2026-11-29`` is no date, and a key is always a text: the
arguments of tools are JSON, and so a script says what it seems to say.

This module imports the YAML library; :mod:`agent.scripts.source` imports it when the first YAML is read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar, NoReturn

import yaml

from agent.scripts.json_source import is_deeper


class BadYAML(ValueError):
    """What is wrong with a text that should be YAML.

    Args:
        sentence: what it is.
        line: where, from 1; None: cannot be told.
    """

    def __init__(self, sentence: str, line: int | None) -> None:
        super().__init__(sentence)
        self.line = line


def load(text: str, deepest: int) -> Any:
    """The value of a text.

    Args:
        text: YAML, without aliases, tags and keys that stand twice.
        deepest: lists and mappings that may stand inside each other.

    Raises:
        BadYAML: it is something else.
    """
    with suppress(yaml.YAMLError, ValueError, RecursionError):
        data = _parser(_QUICK, text, deepest).get_single_data()
        if not is_deeper(data, deepest):
            return data
    return _load_carefully(text, deepest)


def _load_carefully(text: str, deepest: int) -> Any:
    """As :func:`load`, by the parser in whose words we say what is wrong: it is always there."""
    try:
        return _parser(_CAREFUL, text, deepest).get_single_data()
    except yaml.MarkedYAMLError as error:
        words, mark = _words(error)
        raise BadYAML(words, mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadYAML(f"the character U+{error.character:04X} cannot stand in it as it is", line) from error


def compose(text: str, deepest: int) -> yaml.Node | None:
    """What a text is made of, for :func:`line_of`; None where it is nothing, or cannot be read.

    Half characters, written as escapes, are read by the parser in Python alone.
    """
    for base in (_QUICK, _CAREFUL):
        with suppress(yaml.YAMLError, ValueError, RecursionError):
            node: yaml.Node | None = _parser(base, text, deepest).get_single_node()
            return node
    return None


def line_of(node: yaml.Node | None, place: Sequence[str | int]) -> int | None:
    """The line (from 1) at which a place begins, or the nearest thing around it; None: that is the whole text."""
    line = None
    for part in place:
        found = _child(node, part)
        if found is None:
            break
        line, node = found
    return line


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None


# ---- what is wrong ----

_NEVER_ENDS = "unexpected end of stream"
_IN_WORDS = {
    r"'\t'": "a tab stands where only blanks may: indent with blanks",
    "mapping values are not allowed": "a colon and a blank stand inside a text: put the whole text in quotes",
    "expected <block end>": "the line is not indented as those above it",
    "could not find expected ':'": "a line is neither a key with a colon nor an entry of a list",
    _NEVER_ENDS: "a quote is opened here and never closed",
}
"""The parser's words for the commonest slips, in part, and those of people."""


def _words(error: yaml.MarkedYAMLError) -> tuple[str, yaml.Mark | None]:
    """What is wrong in words for people, and where."""
    problem = str(error.problem or error.context)
    for part, words in _IN_WORDS.items():
        if part in problem:
            return words, error.context_mark if part == _NEVER_ENDS else error.problem_mark
    return f"{error.context}, {problem}" if problem.startswith("but ") else problem, error.problem_mark


# ---- reading ----

_TAG = "tag:yaml.org,2002:"
_WORDS = (
    ("null", r"(?:null|~|)$", ("n", "~", "")),
    ("bool", r"(?:true|false)$", ("t", "f")),
    ("int", r"-?(?:0|[1-9][0-9]*)$", tuple("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$", tuple("-0123456789")),
)
"""Kind, pattern and first characters of the plain words that are no texts."""


def _loader(base: Any) -> Any:
    """A safe loader with the types of JSON, without aliases and tags, and with an error for a key that stands twice.

    The parser that is written in Python stops where it gets too deep, for which it would take ever longer.
    """

    class Loader(base):  # type: ignore[misc]
        yaml_constructors: ClassVar = {_TAG + kind: base.yaml_constructors[_TAG + kind] for kind in ("seq", "map")}
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        deepest: int
        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> Any:
            if self.check_event(yaml.AliasEvent):
                _refuse_alias(self.peek_event())
            inside = self.check_event(yaml.CollectionStartEvent)
            self.depth += inside
            if self.depth > self.deepest:
                raise _fault(f"nested too deeply: {self.deepest} levels are allowed", self.peek_event())
            node = super().compose_node(parent, index)
            self.depth -= inside
            return node

        def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
            if node in self.constructed_objects:
                _refuse_alias(node)
            return super().construct_object(node, deep=deep)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
            return {name: self.construct_object(value, deep=deep) for name, value in _named(node)}

    Loader.add_constructor(_TAG + "str", lambda loader, node: _joined(loader.construct_scalar(node)))
    Loader.add_constructor(None, _refuse_tag)
    for kind, pattern, first in _WORDS:
        Loader.add_constructor(_TAG + kind, _word)
        Loader.add_implicit_resolver(_TAG + kind, re.compile(pattern), first)
    return Loader


def _parser(base: Any, text: str, deepest: int) -> Any:
    parser = base(text)
    parser.deepest = deepest
    return parser


def _named(node: yaml.MappingNode) -> list[tuple[str, yaml.Node]]:
    """The keys and values of a mapping."""
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _fault("a key must be a text", key)
        name = _joined(key.value)
        if name in found:
            raise _fault(f"the key {name!r} stands twice", key)
        found[name] = value
    return list(found.items())


def _word(loader: Any, node: yaml.ScalarNode) -> Any:
    """A number, true, false or null."""
    word = loader.construct_scalar(node)
    try:
        value = None if word in ("", "~") else json.loads(word)
    except ValueError as error:
        raise _fault(f"{word[:40]!r} cannot be read as a number", node) from error
    if isinstance(value, float) and math.isinf(value):
        raise _fault(f"{word[:40]} is too large a number", node)
    return value


def _refuse_tag(loader: Any, node: yaml.Node) -> NoReturn:
    raise _fault("tags (!name) are not allowed", node)


def _refuse_alias(found: Any) -> NoReturn:
    raise _fault("aliases (*name) are not allowed", found)


def _fault(problem: str, found: Any) -> yaml.MarkedYAMLError:
    """What is wrong with a node or an event."""
    return yaml.MarkedYAMLError(problem=problem, problem_mark=found.start_mark)


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _joined(text: str) -> str:
    """The text with each pair of half characters as the one that it means: JSON spells long ones as two escapes."""
    if text.isascii() or not _PAIR.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


_CAREFUL = _loader(yaml.SafeLoader)
"""Written in Python, and always there."""
_QUICK = _loader(yaml.CSafeLoader) if yaml.__with_libyaml__ else _CAREFUL
"""Ten times as fast, where the library in C is there."""
