"""A page that shows a file which another program still writes is drawn again when the file has grown."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import streamlit as st

from agent.trace import Trace
from pages.parts import address
from pages.parts.opened import Followed, Kept
from pages.parts.words import t

_EVERY_S = 2.0
_WARM_S = 15 * 60
"""A file that nobody wrote for so long is looked at less often."""
_COLD_EVERY_S = 20.0
_FOLLOW = "follow"
_NEWEST = "follow-newest"
"""The position that was selected last because it was the newest."""


def follow(path: str, file: Followed | Kept) -> None:
    """Look at the file every few seconds, and draw the page again when it has changed.

    Args:
        path: of the file.
        file: the same.
    """
    warm = _age_s(path) < _WARM_S
    drawn = file.revision()
    if address.setting(_NEWEST) not in (None, address.message(sys.maxsize)):  # a person wants to read another one
        address.put(_FOLLOW, False)
        address.put(_NEWEST, None)
    kept = bool(address.setting(_FOLLOW))

    @st.fragment(run_every=_EVERY_S if warm else _COLD_EVERY_S, key="following")
    def look() -> None:
        if file.has_grown:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f":blue-badge[{t('followed while it grows')}]", width="content")
                wanted = st.toggle(t("Keep to the newest message"), key=_FOLLOW, on_change=_begin_anew)
            if wanted and not kept:
                st.rerun()
        if file.revision() != drawn:
            st.rerun()

    look()


def keep_to_newest(trace: Trace) -> None:
    """Select the last message where that is wanted. It ends when a person selects another one."""
    if address.setting(_FOLLOW) and trace.messages:
        newest = len(trace.messages) - 1
        address.put(_NEWEST, newest)
        if address.message(sys.maxsize) != newest:
            address.choose_message(trace, newest)


def where_it_went(path: str) -> str:
    """The file to show for a path: the journal of a run goes when the run ends, and its trace takes its place."""
    if not path.endswith(".jsonl"):
        return path
    there = Path(path.removesuffix("l"))
    return str(there) if there.is_file() and not Path(path).exists() else path


def _begin_anew() -> None:
    address.put(_NEWEST, None)


def _age_s(path: str) -> float:
    try:
        return time.time() - Path(path).stat().st_mtime
    except OSError:
        return float("inf")
