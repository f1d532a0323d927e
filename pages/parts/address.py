"""Everything that the app keeps in the URL and in the session: names, defaults, reading, writing. No other file does.

In the URL: language, scenario, tools, model kind and options, limits, the open run, the open trace or file and the
selected message, so that a reload, a link and the browser's Back bring back the same view. In the session alone: what
must not be passed on by a link. An address of a server in a link could send somebody's key to a stranger, so it is no
part of the URL; a key is never kept at all outside its password field.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from agent.ids import new_trace_id
from agent.trace import Trace

T = TypeVar("T")

LANGUAGE = "lang"
SCENARIO = "scenario"
TASK = "task"
SYSTEM = "system"
TOOLS = "tools"
SCRIPT_TOOLS = "script_tools"
MODEL_KIND = "model"
MODEL_NAME = "model_name"
BASE_URL = "base_url"
API_KEY = "api_key"
TEMPERATURE = "temperature"
MAX_TOKENS = "max_tokens"
PROTOCOL = "protocol"
TEXT_CALLS = "text_calls"
PARALLEL = "parallel"
MAX_STEPS = "steps"
PACE = "pace"
GUARDS = "guards"
UPLOAD = "upload"
"""Keys of the widgets that hold the settings."""

SHARED = "shared"
"""What the URL should hold of the widgets drawn so far: texts by their keys, None for nothing."""

_RUN = "run"
_PLACE = "runs-of"
_AT = "at"
_TRACE = "trace"
_PATH = "path"
_FORMAT = "as"
_CONVERSATION = "conversation"
_STEP = "step"
_MESSAGE = "message"
_READING = (_TRACE, _PATH, _FORMAT, _CONVERSATION, _STEP, _MESSAGE)
_LANGUAGE_CHOSEN = "language"
_NEXT_RUN = "next_run"
_SEEN = "seen"
_DRAFT = "draft"
_TOLD = "told"
_OPENED = "opened"
_MENU = "menu"
_UPLOADS = "uploads"
_FILES = "files"

_drawing = threading.local()
"""The language of the session whose page this thread draws."""


def default_language() -> str:
    """The language that the browser asks for, as far as the app speaks it."""
    locale: str = st.context.locale or "en"
    return "zh" if locale.lower().startswith("zh") else "en"


def language() -> str:
    """The language of this session: chosen in the page, else by the link, else by the browser.

    It is kept apart from the widget, whose state ends whenever a page is drawn without reaching it; and for as long as
    a page is drawn, since each of its texts asks.
    """
    context = get_script_run_ctx()
    session = context.session_id if context is not None else None
    if session is None or getattr(_drawing, "session", None) != session:
        _drawing.language, _drawing.session = _language_of_session(), session
    return str(_drawing.language)


def _language_of_session() -> str:
    chosen = st.session_state.get(_LANGUAGE_CHOSEN) or st.query_params.get(LANGUAGE)
    if chosen not in ("en", "zh"):
        return default_language()
    st.session_state[_LANGUAGE_CHOSEN] = chosen
    return str(chosen)


def choose_language() -> None:
    """Take over what the switch of languages says.

    The browser knows a choice by its label, which is another one from now on, so every choice is put anew by its value.
    """
    st.session_state[_LANGUAGE_CHOSEN] = st.session_state[LANGUAGE]
    _drawing.session = None
    for key, value in list(st.session_state.items()):
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            st.session_state[key] = value


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
    """After a widget was drawn: let the URL hold its value, or nothing when it is the default.

    :func:`pages.parts.address_setup.write_shared` puts it there together with the others.
    """
    value = st.session_state.get(key, default)
    st.session_state[SHARED][key] = None if value == default else write(value)


def put(key: str, value: object) -> None:
    """Set a widget from a callback."""
    st.session_state[key] = value


def note_menu() -> None:
    """Remember that app.py has drawn the menu in this session."""
    st.session_state[_MENU] = True


def menu_noted() -> bool:
    """Whether app.py has drawn the menu in this session."""
    return _MENU in st.session_state


def show_runs_of(place: str) -> None:
    """From now on show the run of this place: empty for the Run page, else a lesson. Each keeps its own."""
    st.session_state[_PLACE] = place


def _of_place(key: str) -> str:
    place = st.session_state.get(_PLACE)
    return f"{key}-{place}" if place else key


def kept_run(place: str) -> str | None:
    """The run that this session showed last at a place."""
    found: str | None = st.session_state.get(f"{_RUN}-{place}")
    return found


def run_id() -> str | None:
    """The run that the page shows. The menu drops it from the URL; then the session still knows it."""
    found = st.query_params.get(_RUN) or st.session_state.get(_of_place(_RUN))
    if found:
        open_run(found)
    return found or None


def open_run(run: str) -> None:
    """Show this run from now on."""
    st.session_state[_of_place(_RUN)] = run
    opened().add(run)
    if st.query_params.get(_RUN) != run:
        look_at(None)
        st.query_params[_RUN] = run


def first_sight(run: str) -> bool:
    """True once when this session comes to a run: from another one, from none, or by a link."""
    first = bool(st.session_state.get(_of_place(_SEEN)) != run)
    st.session_state[_of_place(_SEEN)] = run
    return first


def opened() -> set[str]:
    """The runs and traces that this session has opened."""
    known: set[str] = st.session_state.setdefault(_OPENED, set())
    return known


def looked_at() -> int | None:
    """The earlier moment of the run that the URL names, from 0 (there from 1); None: look at how the run stands."""
    text = st.query_params.get(_AT, "")
    return int(text) - 1 if text.isascii() and text.isdigit() and int(text) > 0 else None


def look_at(moment: int | None) -> None:
    """Look at an earlier moment from now on, or at how the run stands."""
    if moment is None:
        st.query_params.pop(_AT, None)
    else:
        st.query_params[_AT] = str(moment + 1)


def close_run() -> None:
    """Show no run; the next one gets a new id."""
    look_at(None)
    for key in (_RUN, _NEXT_RUN, _SEEN):
        st.session_state.pop(_of_place(key), None)
    st.query_params.pop(_RUN, None)


def next_run_id() -> str:
    """The id that the next run of this session will get.

    It is made before the run is, so that two quick presses of a button start one run and not two.
    """
    return str(st.session_state.setdefault(_of_place(_NEXT_RUN), new_trace_id()))


def draft(name: str, empty: T) -> T:
    """What this session has written and not made or saved yet: of the fork of a run, or of a note."""
    kept: T = st.session_state.get(f"{_DRAFT}-{name}", empty)
    return kept


def keep_draft(name: str, draft: object) -> None:
    """Remember what is written there so far."""
    st.session_state[f"{_DRAFT}-{name}"] = draft


def tell(text: str) -> None:
    """Keep a sentence for the page: callbacks run before anything is drawn."""
    st.session_state[_TOLD] = text


def told() -> str | None:
    """The sentence that was kept, once."""
    text: str | None = st.session_state.pop(_TOLD, None)
    return text


def run_link(run: str) -> dict[str, str]:
    """The parameters of a link to a run."""
    return {_RUN: run, **_language_link()}


def trace_link(trace: str) -> dict[str, str]:
    """The parameters of a link to a trace."""
    return {_TRACE: trace, **_language_link()}


def _language_link() -> dict[str, str]:
    return {LANGUAGE: language()} if language() != default_language() else {}


def path() -> str:
    """The path of the URL."""
    return urlsplit(st.context.url or "").path


def what_is_read() -> str:
    """The trace or the file that the URL asks for; empty for none."""
    return st.query_params.get(_TRACE) or st.query_params.get(_PATH) or ""


def trace_id() -> str | None:
    """The trace that the page shows. The URL alone says so: without it the page shows the list."""
    found = st.query_params.get(_TRACE)
    if found:
        opened().add(found)
    return found or None


def open_trace(trace: str) -> None:
    """Show this trace from now on."""
    _read(**{_TRACE: trace})


def close_trace() -> None:
    """Show the list from now on."""
    _read()


def _read(**where: str) -> None:
    """Change what is read in one go: each change of the URL is a step of the browser's Back."""
    others = {key: value for key, value in st.query_params.to_dict().items() if key not in _READING}
    st.query_params.from_dict({**others, **where})


def file_path() -> str | None:
    """The path of a file on this machine that the URL asks for."""
    return st.query_params.get(_PATH) or None


def open_path(path: str) -> None:
    """Show the file at this path from now on."""
    _read(**{_PATH: path})


def format_override() -> str | None:
    """The format as which the file is to be read, where the URL names one; None: as it is detected."""
    return st.query_params.get(_FORMAT) or None


def choose_format(format: str | None) -> None:
    """Read the file as this format from now on, or as it is detected; its conversations may be others then."""
    where = _where() | ({_FORMAT: format} if format else {})
    if not format:
        where.pop(_FORMAT, None)
    _read(**where)


def _where() -> dict[str, str]:
    """The file that is read, and as what."""
    return {name: value for name in (_TRACE, _PATH, _FORMAT) if (value := st.query_params.get(name))}


def conversation(count: int, default: int) -> int:
    """The position of the conversation that the URL names (there from 1), of so many in a file."""
    found = _position(_CONVERSATION, count)
    return min(default, count - 1) if found is None else found


def choose_conversation(key: str) -> None:
    """Show the conversation that the widget of this key names; its messages are others, so none is selected."""
    show_conversation(st.session_state[key])


def show_conversation(number: int, message: int | None = None) -> None:
    """Show the conversation at this position of the file, and a message of it."""
    place = {} if message is None else {_MESSAGE: str(message + 1)}
    _read(**_where(), **{_CONVERSATION: str(number + 1)}, **place)


def message(count: int) -> int | None:
    """The position of the message that the URL names (there from 1), of so many messages."""
    return _position(_MESSAGE, count)


def _position(key: str, count: int) -> int | None:
    text = st.query_params.get(key, "")
    return int(text) - 1 if text.isascii() and text.isdigit() and 0 < int(text) <= count else None


def step() -> int | None:
    """The number of the step that the URL names, from 1, where it names no message."""
    text = st.query_params.get(_STEP, "")
    return int(text) if text.isascii() and text.isdigit() and _MESSAGE not in st.query_params else None


def choose_message(trace: Trace, position: int | None) -> None:
    """Write the selected message of a trace and its step into the URL, or that none is selected."""
    step = None if position is None else trace.entries[position].step
    where = {} if position is None else {_MESSAGE: str(position + 1)}
    where |= {_STEP: str(step)} if isinstance(step, int) else {}
    others = {key: value for key, value in st.query_params.to_dict().items() if key not in (_MESSAGE, _STEP)}
    st.query_params.from_dict({**others, **where})


def uploads() -> int:
    """How many times files were taken from the field for files; the field is a new one each time, so it is empty."""
    return int(st.session_state.get(_UPLOADS, 0))


def count_upload() -> None:
    """The files of the field were taken."""
    st.session_state[_UPLOADS] = uploads() + 1


def remember_file(trace: str, path: str, number: int) -> None:
    """Where a trace stands: ids that a reader makes up come from the content, which changes in a file that grows."""
    st.session_state.setdefault(_FILES, {})[trace] = (path, number)


def file_of(trace: str) -> tuple[str, int] | None:
    """The path of the file that held a trace when this session last saw it, and its place in it."""
    found: tuple[str, int] | None = st.session_state.get(_FILES, {}).get(trace)
    return found
