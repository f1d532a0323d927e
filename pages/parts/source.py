"""The lines of the loop that a phase runs, taken from the source itself: what is shown is what runs."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from agent.events import Phase
from agent.loop import code_of
from pages.parts.words import t

_ROOT = Path(__file__).parents[2]


@cache
def source_of(function: Callable[..., Any]) -> tuple[str, str, int]:
    """``(code, file, first line)`` of a function or class of ours; the file as seen from the top level."""
    lines, first = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").relative_to(_ROOT)
    return textwrap.dedent("".join(lines)).rstrip(), str(file), first


def source_block(phase: Phase) -> None:
    """Draw the code of a phase, and where it stands."""
    code_block(code_of(phase))


def code_block(function: Callable[..., Any]) -> None:
    """Draw the code of a function or class, and where it stands."""
    code, file, first = source_of(function)
    place = t("{file}, from line {n}", file=file, n=first)
    st.code(f"# {place}\n{code}", language="python")
