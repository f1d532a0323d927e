"""Tabs that show the same run. One that rests polls nothing, so a change made in another one has to wake it.

The framework has no public way to draw a session's page again from outside. This is the only file that uses its inner
one, the same by which it draws a page again when a source file was saved; a browser test keeps it working.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx


class Tabs:
    """Which run each session shows. Every method may be called from any session's thread."""

    def __init__(self) -> None:
        self._shows: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def own(self) -> str | None:
        """The session that asks; None outside of one."""
        return _session()

    def show(self, run_id: str | None) -> None:
        """This session shows that run now, or none."""
        if (session := _session()) is None:
            return
        with self._lock:
            if run_id is None:
                self._shows.pop(session, None)
            else:
                self._shows[session] = run_id

    def is_here(self, session: str) -> bool:
        """Whether somebody still looks at the page of this session."""
        return session == _session() or get_instance()._session_mgr.get_active_session_info(session) is not None

    def wake(self, sessions: Iterable[str]) -> None:
        """Draw the pages of these sessions again, but for the one that asks."""
        own = _session()
        for session in sessions:
            if session != own:
                _draw_again(session)

    def wake_others(self, run_id: str) -> int:
        """Draw the page of every other session that shows this run again; gives how many there are."""
        own = _session()
        with self._lock:
            others = [session for session, shown in self._shows.items() if shown == run_id and session != own]
            gone = [session for session in others if not _draw_again(session)]
            for session in gone:
                del self._shows[session]
        return len(others) - len(gone)


@st.cache_resource(show_spinner=False)
def tabs() -> Tabs:
    """The sessions of this server process."""
    return Tabs()


def _session() -> str | None:
    context = get_script_run_ctx()
    return None if context is None else context.session_id


def _draw_again(session_id: str) -> bool:
    """Run the script of a session once more, with its address and widgets as they are; False when nobody is there."""
    runtime = get_instance()
    info = runtime._session_mgr.get_active_session_info(session_id)
    if info is None:
        return False
    session = info.session
    runtime._get_async_objs().eventloop.call_soon_threadsafe(session.request_rerun, session._client_state)
    return True
