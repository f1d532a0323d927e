"""What this session's page has drawn a moment ago, and nobody can have seen yet.

A page that another tab's press draws again is on its way to the browser while its reader still looks at the one before.
A press that comes then was meant for that one.
"""

from __future__ import annotations

import streamlit as st

from agent import clock

_DRAWN = "just-drawn"
SEEN_AFTER_S = 0.8
"""Seconds from a drawing on the server until a person can have answered it: the way there, and to look and press."""


def note_drawn(run_id: str, moments: int) -> None:
    """Note what the page draws now. What a session draws first of a run follows upon nothing that it had seen.

    Args:
        run_id: the run.
        moments: how many moments of it are drawn.
    """
    before, count, _ = st.session_state.get(_DRAWN) or (None, 0, 0.0)
    if before != run_id:
        st.session_state[_DRAWN] = (run_id, moments, float("-inf"))
    elif count != moments:
        st.session_state[_DRAWN] = (run_id, moments, clock.monotonic())


def can_be_seen(run_id: str) -> bool:
    """Whether what was drawn last of this run has been there long enough to be what a press was meant for."""
    drawn, _, at = st.session_state.get(_DRAWN) or (None, 0, 0.0)
    return drawn != run_id or clock.monotonic() - at >= SEEN_AFTER_S


def told(run_id: str, moments: int) -> None:
    """The person was told where the run stands: the next press is meant for that."""
    st.session_state[_DRAWN] = (run_id, moments, float("-inf"))
