"""Everything that the app keeps in the URL and in the session: names, defaults, reading, writing. No other file does.

In the URL: language, scenario, model kind, limits, the open run, the open trace and the selected message, so that a
reload and a link bring back the same view. In the session alone: what must not be passed on by a link. An address of a
server in a link could send somebody's key to a stranger, so it is no part of the URL; a key is never kept at all
outside its password field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from agent.ids import new_trace_id

T = TypeVar("T")

LANGUAGE = "lang"
SCENARIO = "scenario"
TASK = "task"
TOOLS = "tools"
MODEL_KIND = "model"
MODEL_NAME = "model_name"
BASE_URL = "base_url"
API_KEY = "api_key"
MAX_STEPS = "steps"
GUARDS = "guards"
UPLOAD = "upload"
"""Keys of the widgets that hold the settings."""

_RUN = "run"
_TRACE = "trace"
_MESSAGE = "message"
_NEXT_RUN = "next_run"
_VISITOR = "visitor"
_TOLD = "told"
_OPENED = "opened"
_MENU = "menu"


def default_language() -> str:
    """The language that the browser asks for, as far as the app speaks it."""
    locale: str = st.context.locale or "en"
    return "zh" if locale.lower().startswith("zh") else "en"


def language() -> str:
    """The language of this session: chosen in the page, else by the link, else by the browser."""
    chosen = st.session_state.get(LANGUAGE) or st.query_params.get(LANGUAGE)
    return chosen if chosen in ("en", "zh") else default_language()


def setting(key: str, default: Any = None) -> Any:
    """What a widget holds now; for callbacks, which run before the widgets of their rerun are drawn."""
    return st.session_state.get(key, default)


def seed(key: str, default: T, read: Callable[[str], T | None] | None = None) -> None:
    """Before a widget is first drawn: let it begin with what the URL says, else with ``default``.

    Streamlit can tie a widget to the URL itself, but it writes the label there, which changes with the language.

    Args:
        key: of the widget, and of the URL parameter.
        default: where the URL says nothing, or nothing that can be used.
        read: gives the value for a text out of the URL, or None where it is no good; None: the URL has no say.
    """
    if key not in st.session_state:
        text = st.query_params.get(key)
        value = read(text) if read is not None and text is not None else None
        st.session_state[key] = default if value is None else value


def share(key: str, default: object, write: Callable[[Any], str] = str) -> None:
    """After a widget was drawn: put its value into the URL, or nothing when it is the default."""
    value = st.session_state.get(key, default)
    if value == default:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != write(value):
        st.query_params[key] = write(value)


def put(key: str, value: object) -> None:
    """Set a widget from a callback."""
    st.session_state[key] = value


def note_menu() -> None:
    """Remember that app.py has drawn the menu in this session."""
    st.session_state[_MENU] = True


def menu_noted() -> bool:
    """Whether app.py has drawn the menu in this session."""
    return _MENU in st.session_state


def visitor() -> str:
    """A name for this browser session, to tell it from others that look at the same run."""
    return str(st.session_state.setdefault(_VISITOR, new_trace_id()))


def run_id() -> str | None:
    """The run that the page shows. The menu drops it from the URL; then the session still knows it."""
    found = st.query_params.get(_RUN) or st.session_state.get(_RUN)
    if found:
        open_run(found)
    return found or None


def open_run(run: str) -> None:
    """Show this run from now on."""
    st.session_state[_RUN] = run
    opened().add(run)
    if st.query_params.get(_RUN) != run:
        st.query_params[_RUN] = run


def opened() -> set[str]:
    """The runs and traces that this session has opened."""
    known: set[str] = st.session_state.setdefault(_OPENED, set())
    return known


def close_run() -> None:
    """Show no run; the next one gets a new id."""
    st.session_state.pop(_RUN, None)
    st.session_state.pop(_NEXT_RUN, None)
    st.query_params.pop(_RUN, None)


def next_run_id() -> str:
    """The id that the next run of this session will get.

    It is made before the run is, so that two quick presses of a button start one run and not two.
    """
    return str(st.session_state.setdefault(_NEXT_RUN, new_trace_id()))


def tell(text: str) -> None:
    """Keep a sentence for the page: callbacks run before anything is drawn."""
    st.session_state[_TOLD] = text


def told() -> str | None:
    """The sentence that was kept, once."""
    text: str | None = st.session_state.pop(_TOLD, None)
    return text


def run_link(run: str) -> dict[str, str]:
    """The parameters of a link to a run."""
    return {_RUN: run}


def trace_link(trace: str) -> dict[str, str]:
    """The parameters of a link to a trace."""
    return {_TRACE: trace}


def trace_id() -> str | None:
    """The trace that the page shows. The menu drops it from the URL; then the session still knows it."""
    found = st.query_params.get(_TRACE) or st.session_state.get(_TRACE)
    if found and st.session_state.get(_TRACE) != found:
        st.session_state[_TRACE] = found
        opened().add(found)
    if found and _TRACE not in st.query_params:
        st.query_params[_TRACE] = found
    return found or None


def open_trace(trace: str) -> None:
    """Show this trace from now on."""
    st.session_state[_TRACE] = trace
    st.query_params[_TRACE] = trace
    st.query_params.pop(_MESSAGE, None)


def close_trace() -> None:
    """Show no trace of the library."""
    st.session_state.pop(_TRACE, None)
    st.query_params.pop(_TRACE, None)
    st.query_params.pop(_MESSAGE, None)


def message(count: int) -> int | None:
    """The position of the message that the URL names (there from 1), of so many messages."""
    text = st.query_params.get(_MESSAGE, "")
    return int(text) - 1 if text.isascii() and text.isdigit() and 0 < int(text) <= count else None


def remember_message(table: str) -> None:
    """Write the selected row of a table into the URL."""
    row = selected_row(table)
    if row is None:
        st.query_params.pop(_MESSAGE, None)
    else:
        st.query_params[_MESSAGE] = str(row + 1)


def selected_row(table: str) -> int | None:
    """The selected row of the table with this key."""
    state = st.session_state.get(table) or {}
    rows = state.get("selection", {}).get("rows") or [None]
    row: int | None = rows[0]
    return row
