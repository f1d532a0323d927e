"""A page that shows a file which another program still writes is drawn again when the file has grown."""

from __future__ import annotations

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


def follow(path: str, file: Followed | Kept) -> None:
    """Look at the file every few seconds, and draw the page again when it has changed.

    Args:
        path: of the file.
        file: the same.
    """
    warm = _age_s(path) < _WARM_S
    drawn = file.revision()

    @st.fragment(run_every=_EVERY_S if warm else _COLD_EVERY_S, key="following")
    def look() -> None:
        if file.has_grown:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f":blue-badge[{t('followed while it grows')}]", width="content")
                st.toggle(t("Keep to the newest message"), key=_FOLLOW)
        if file.revision() != drawn:
            st.rerun()

    look()


def keep_to_newest(trace: Trace) -> None:
    """Select the last message where that is wanted."""
    if address.setting(_FOLLOW) and trace.messages:
        address.choose_message(trace, len(trace.messages) - 1)


def _age_s(path: str) -> float:
    try:
        return time.time() - Path(path).stat().st_mtime
    except OSError:
        return float("inf")
