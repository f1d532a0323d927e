"""The Scripts page in the URL and in the session: which script is open, and what of it is written but not saved.

The session keeps every text that is not saved, by the id of its script, so that another page, another language or a
second script loses nothing. What the browser still holds is read from the editor itself, whatever was drawn last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from agent.ids import new_trace_id
from pages.parts import address
from pages.parts.address_list import LastDeleted, Uploads

PAGE = "pages/scripts.py"
"""The file of the page."""

SEARCH = "scripts-search"
SEED = "script-seed"
NAME = "script-name"
"""Keys of fields."""

_SCRIPT = "script"
_NEW = "new."
"""A dot stands in no id of a kept script, whatever its title."""
_TEXTS = "script-texts"
_VERSIONS = "script-versions"
_FORGOTTEN = "script-forgotten"
_BEGUN = "script-begun"
_TOLD = "script-told"
_READABLE = "script-readable"
_COMMAND = "script-command"

DELETED = LastDeleted("script-deleted")
UPLOADS = Uploads("script-uploads")
"""What the list remembers."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something that the editor is to do once."""

    number: int
    """Grows with every command."""
    line: int | None = None
    """Go to this line, from 1."""
    text: str | None = None
    """Insert this below the line of the caret."""


def script_id() -> str | None:
    """The script that the URL names; None: the page shows the list."""
    return st.query_params.get(_SCRIPT) or None


def open_script(script: str) -> None:
    """Show this script from now on. Who opens it has its link, so it is listed from then on."""
    address.opened().add(script)
    st.query_params[_SCRIPT] = script


def close_script() -> None:
    """Show the list from now on."""
    st.query_params.pop(_SCRIPT, None)


def link(script: str) -> dict[str, str]:
    """The parameters of a link to a script."""
    language = {address.LANGUAGE: address.language()} if address.language() != address.default_language() else {}
    return {_SCRIPT: script, **language}


# ---- what is written ----


def new_id() -> str:
    """An id for a script that is kept nowhere yet."""
    return f"{_NEW}{new_trace_id()}"


def is_new(script: str) -> bool:
    """Whether this is the id of a script that is kept nowhere yet."""
    return script.startswith(_NEW)


def editor_key(script: str) -> str:
    """The key of the editor of a script."""
    return f"script-editor-{script}"


def version(script: str) -> int:
    """Grows when the text is replaced by something else than typing; the editor then takes what it is given."""
    return int(st.session_state.get(_VERSIONS, {}).get(script, 0))


def written(script: str) -> str | None:
    """What this session has written there and not saved; None: nothing.

    The editor may know more than the page that was drawn last, so callbacks get what it says now.
    """
    edit = _said(script, "edit")
    if edit is not None:
        return edit
    text: str | None = st.session_state.get(_TEXTS, {}).get(script)
    return text


def take_edit(script: str) -> None:
    """Keep what the editor says: what a widget holds is gone when another page was drawn."""
    if (text := _said(script, "edit")) is not None:
        st.session_state.setdefault(_TEXTS, {})[script] = text
        st.session_state.get(_FORGOTTEN, set()).discard(script)


def take_save(script: str) -> str | None:
    """The text with which saving was asked for in the editor, kept; None where that was long ago."""
    text = _said(script, "save")
    if text is not None:
        st.session_state.setdefault(_TEXTS, {})[script] = text
    return text


def _said(script: str, what: str) -> str | None:
    """What the editor says of a text of this version; what it says of an earlier one counts no more."""
    said = (st.session_state.get(editor_key(script)) or {}).get(what)
    if isinstance(said, Mapping) and said.get("version") == version(script) and isinstance(said.get("text"), str):
        return str(said["text"])
    return None


def write(script: str, text: str) -> None:
    """Replace what is written there."""
    st.session_state.setdefault(_TEXTS, {})[script] = text
    st.session_state.get(_FORGOTTEN, set()).discard(script)
    _next_version(script)


def discard(script: str) -> None:
    """Forget what is written there."""
    st.session_state.get(_TEXTS, {}).pop(script, None)
    st.session_state.setdefault(_FORGOTTEN, set()).add(script)
    _next_version(script)


def forgotten() -> list[str]:
    """The scripts of which the browser, too, is to forget what was written: it keeps that for a reload."""
    return sorted(st.session_state.get(_FORGOTTEN, ()))


def settle(script: str, saved: str) -> None:
    """The text was saved as it stands in the editor: nothing is unsaved, and the editor goes on as it is."""
    texts = st.session_state.get(_TEXTS, {})
    if texts.get(script) == saved:
        del texts[script]


def begun_from(script: str) -> str | None:
    """The saved text that this session began to write from; None where it has not shown the script yet."""
    text: str | None = st.session_state.get(_BEGUN, {}).get(script)
    return text


def begin_from(script: str, saved: str) -> None:
    """What is written from now on begins with this saved text."""
    st.session_state.setdefault(_BEGUN, {})[script] = saved


def tell_saved_elsewhere(script: str, saved: str) -> None:
    """The page says that this text was saved elsewhere meanwhile: saving over it is no accident any more."""
    st.session_state.setdefault(_TOLD, {})[script] = saved


def may_replace(script: str, saved: str | None) -> bool:
    """Whether this session knows the text that saving would replace."""
    known = (begun_from(script), st.session_state.get(_TOLD, {}).get(script))
    return saved is None or known[0] is None or saved in known


def drafts() -> dict[str, str]:
    """All texts of this session that are not saved, by the id of the script."""
    return dict(st.session_state.get(_TEXTS, {}))


def _next_version(script: str) -> None:
    st.session_state.setdefault(_VERSIONS, {})[script] = version(script) + 1


def readable(script: str) -> str | None:
    """The last text of a script that could be played."""
    text: str | None = st.session_state.get(_READABLE, {}).get(script)
    return text


def keep_readable(script: str, text: str) -> None:
    """Remember the last text of a script that could be played; only that of the script at hand is kept."""
    st.session_state[_READABLE] = {script: text}


# ---- what the editor is told ----


def command() -> Command | None:
    """The last thing that the editor was told to do."""
    found: Command | None = st.session_state.get(_COMMAND)
    return found


def tell_editor(**what: Any) -> None:
    """Let the editor do something: ``line=`` or ``text=``."""
    last = command()
    st.session_state[_COMMAND] = Command((last.number if last else 0) + 1, **what)
