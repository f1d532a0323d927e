"""The classes in the URL and in the session: a student's seat, a teacher's class, and what was chosen there."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from agent.ids import new_trace_id
from pages.parts.address import SHARED
from traces.classroom.klass import Klass

SEAT = "seat"
"""In the URL: nobody else is to get it."""
_JOIN = "join"
_LEARNER = "learner"
_CLASS = "class"
_TAUGHT = "class-taught"
_OPENED = "class-opened"
_TOLD = "class-told"
_LOOK = "class-look"
_CHOSEN = "class-chosen"
_AWARE = "class-aware"
_NEXT = "class-next"
_HANDS_ON = "class-hands"

TITLE = "class-title"
CODE = "class-code"
NAME = "class-name"
SHOW = "class-show"
REVEAL = "class-reveal"
CLOSED = "class-closed"
HANDS = "hands"
LEND_MODEL, LEND_URL, LEND_KEY = "class-lend-model", "class-lend-url", "class-lend-key"
LEND_CALLS, LEND_TOKENS = "class-lend-calls", "class-lend-tokens"
"""Keys of widgets."""


# -- the student


def seat_id() -> str | None:
    """The seat of this session. The menu drops it from the URL; then the session still knows it."""
    found = st.query_params.get(SEAT)
    if found:
        st.session_state[SEAT] = found
    return found or st.session_state.get(SEAT) or None


def keep_seat() -> None:
    """Let the URL of every page hold the seat, and whether hands are counted, so that a reload of it keeps them."""
    if (seat := seat_id()) is not None:
        st.session_state[SHARED][SEAT] = seat
    st.session_state[SHARED][HANDS] = "1" if counts_hands() else None


def take_seat(seat: str) -> None:
    """From now on this session has this seat. In one go: each change of the URL is a step of the browser's Back."""
    st.session_state[SEAT] = seat
    now = {key: value for key, value in st.query_params.to_dict().items() if key != _JOIN}
    st.query_params.from_dict({**now, SEAT: seat})


def leave_seat() -> None:
    """This session has no seat any more."""
    st.session_state.pop(SEAT, None)
    st.query_params.pop(SEAT, None)
    st.session_state[SHARED].pop(SEAT, None)


def join_code() -> str | None:
    """The code of the class that the URL asks to join."""
    return st.query_params.get(_JOIN) or None


def ask_to_join(code: str) -> None:
    """Ask for a seat in the class of this code from now on."""
    st.query_params[_JOIN] = code


def do_not_join() -> None:
    """Ask for no seat any more."""
    st.query_params.pop(_JOIN, None)


def join_link(code: str) -> dict[str, str]:
    """The parameters of the link by which students join. Each sees it in the language of his own browser."""
    return {_JOIN: code}


def without_seat() -> str:
    """The learner that this session is without a seat, on a server where several learn."""
    return str(st.session_state.setdefault(_LEARNER, new_trace_id()))


# -- the teacher


def class_secret() -> str | None:
    """The secret of the teacher's link, in the URL of the class page alone."""
    return st.query_params.get(_CLASS) or None


def teach(klass: Klass) -> None:
    """From now on this session is that of the teacher of a class."""
    st.session_state[_TAUGHT] = klass.secret
    opened().add(klass.id)


def stop_teaching() -> None:
    """This session teaches no class any more."""
    st.session_state.pop(_TAUGHT, None)


def taught() -> str | None:
    """The secret of the class that this session teaches."""
    found: str | None = st.session_state.get(_TAUGHT)
    return found


def opened() -> set[str]:
    """The ids of the classes that this session has opened as their teacher."""
    known: set[str] = st.session_state.setdefault(_OPENED, set())
    return known


def open_class(klass: Klass) -> None:
    """Show the page of this class from now on."""
    teach(klass)
    st.query_params[_CLASS] = klass.secret


def close_class() -> None:
    """Show the list of classes from now on."""
    st.query_params.pop(_CLASS, None)


def class_link(klass: Klass) -> dict[str, str]:
    """The parameters of the teacher's link."""
    return {_CLASS: klass.secret}


@dataclass(frozen=True, slots=True)
class Look:
    """What a teacher last looked at."""

    what: str
    """The name of a lesson, ``exercise:name``, or empty for the Run page."""
    variant: str
    run: str
    """The id of the run; empty for none."""


def note_look(what: str, run: str) -> None:
    """Remember what the teacher looks at, so that it can be shown to the class."""
    st.session_state[_LOOK] = Look(what, str(st.query_params.get("variant", "")), run)


def look() -> Look | None:
    """What the teacher of this session last looked at."""
    found: Look | None = st.session_state.get(_LOOK)
    return found


def choose_seat(seat: str | None) -> None:
    """Let the buttons below the table be about this seat."""
    st.session_state[_CHOSEN] = seat


def chosen_seat() -> str | None:
    """The seat that the buttons are about."""
    found: str | None = st.session_state.get(_CHOSEN)
    return found


# -- both


def next_id(what: str, find: Callable[[str], object]) -> str:
    """The id of what the form at hand begins, known before it is pressed: however often that is, it begins one.

    Args:
        what: what it begins.
        find: gives what has an id, or None.
    """
    key = f"{_NEXT}-{what}"
    found: str | None = st.session_state.get(key)
    if found is None or find(found) is not None:
        found = st.session_state[key] = secrets.token_urlsafe(12)
    return found


def tell(text: str) -> None:
    """Keep a sentence for the next drawing."""
    st.session_state[_TOLD] = text


def told() -> str | None:
    """The sentence that was kept, once."""
    found: str | None = st.session_state.pop(_TOLD, None)
    return found


def first_told(what: str) -> bool:
    """True once in a session for each thing that is said once."""
    aware: set[str] = st.session_state.setdefault(_AWARE, set())
    new = what not in aware
    aware.add(what)
    return new


def counts_hands() -> bool:
    """Whether hands are counted in this session: chosen in the page, else by the link."""
    chosen: bool | None = st.session_state.get(_HANDS_ON)
    if chosen is None:
        chosen = st.session_state[_HANDS_ON] = st.query_params.get(HANDS) == "1"
    return chosen


def choose_hands() -> None:
    """Take over what the switch of the hands says."""
    st.session_state[_HANDS_ON] = bool(st.session_state.get(HANDS))
