"""What a docstring says about a function and its parameters: the words that a model reads about a tool."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple


class FunctionDoc(NamedTuple):
    """The parts of a docstring that a tool needs."""

    summary: str
    """Everything before the sections about parameters, results and errors."""
    parameters: dict[str, str]
    """Description of each documented name, on one line. Names that are no parameters may be among them."""


def read_doc(function: Callable[..., Any]) -> FunctionDoc:
    """Read a docstring in Google, NumPy or reST style; an empty one where there is none."""
    import docstring_parser

    text = inspect.getdoc(function) or ""
    if not text.strip():
        return FunctionDoc("", {})
    try:
        parsed = docstring_parser.parse(_lead_in(text) if re.match(_SECTION, text) else text)
    except docstring_parser.ParseError:
        return FunctionDoc(text.strip(), {})
    described = {
        name.strip(" *"): _one_line(about.description)
        for about in parsed.params
        if about.description
        for name in about.arg_name.split(",")
    }
    summary = (parsed.description or "").strip().removeprefix(_LEAD)
    return FunctionDoc(summary.strip(), described)


def _lead_in(text: str) -> str:
    """A docstring that starts with a section, with a summary before it: the parser takes the first line for one.

    When that section is all there is, cleaning the docstring has also taken away its indentation.
    """
    header, _, body = text.partition("\n")
    if header.endswith(":") and not body.lstrip("\n").startswith(" "):
        body = textwrap.indent(body, "    ")
    return f"{_LEAD}\n\n{header}\n{body}"


_LEAD = "_"
_SECTION = r"\s*(?:Args|Arguments|Parameters|Params)(?::|\n-)|\s*:param\b"


def _one_line(text: str) -> str:
    return " ".join(text.split())
