"""The text of a script as it is read: the script, or everything that is wrong with it; and what it does."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from agent.errors import InputError
from agent.scripts import Script, parse_script
from agent.scripts.checking import check_all
from agent.scripts.harmless import harmless
from agent.scripts.problems import Problem
from pages.parts.options import options
from pages.parts.script_play import Played, try_out
from traces.scripting import Replayed, replay

NAME = "script.yaml"
"""What a text is called that has no file."""
AT_ONCE = 150_000
"""Characters of YAML that are read after every pause in typing; a longer text takes seconds."""
AT_ONCE_JSON = 2_000_000
"""The same of JSON, which is read a hundred times as fast."""
REPLAY_S = 10.0
"""Seconds after which a replay beside its trace is cut off."""
_PLACE = re.compile(
    rf"{re.escape(NAME)}(?:, line (?P<line>\d+))?(?:, (?P<place>[^\s:]+))?: (?P<sentence>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text turned out to be."""

    script: Script | None
    """None: it cannot be played."""
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def too_long(text: str) -> bool:
    """Whether reading the text takes so long that it should be asked for."""
    return len(text) > (AT_ONCE_JSON if text.startswith("{") else AT_ONCE)


def read_text(text: str) -> Reading:
    """Read the text of a script; each text is read once."""
    return _read(text, _own_names())


@st.cache_resource(max_entries=24, show_spinner=False)
def _read(text: str, own: tuple[str, ...]) -> Reading:
    tools = options().tools
    try:
        script = parse_script(text, NAME, tools)
    except InputError as error:
        return Reading(None, tuple(check_all(text, NAME, tools)) or (_problem(str(error)),))
    return Reading(script, warnings=tuple(map(_problem, script.warnings)))


def _problem(sentence: str) -> Problem:
    """A sentence with its line and place before it, taken apart; the page shows the name of the file elsewhere."""
    found = _PLACE.fullmatch(sentence)
    if found is None:
        return Problem(None, "", sentence)
    return Problem(int(found["line"]) if found["line"] else None, found["place"] or "", found["sentence"])


def tried(text: str, seed: int | None = None) -> Played:
    """What the script of this text does; each text is played once with each seed.

    Raises:
        InputError: it cannot be played.
    """
    return _tried(text, seed, _own_names())


@st.cache_resource(max_entries=16, show_spinner=False)
def _tried(text: str, seed: int | None, own: tuple[str, ...]) -> Played:
    return try_out(_script(text), seed=seed)


def replayed(text: str) -> Replayed:
    """The replay of a recorded script, and where it is not as it was recorded; each text is replayed once.

    Raises:
        InputError: it cannot be played.
    """
    return _replayed(text, _own_names())


@st.cache_resource(max_entries=4, show_spinner=False)
def _replayed(text: str, own: tuple[str, ...]) -> Replayed:
    return replay(harmless(_script(text)), stop_after_s=REPLAY_S)


def _script(text: str) -> Script:
    script = read_text(text).script
    if script is None:
        raise InputError("the script cannot be read")
    return script


def _own_names() -> tuple[str, ...]:
    return tuple(tool.name for tool in options().tools)
