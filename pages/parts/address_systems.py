"""The five systems in the URL: which of them is looked at. ``?systems=1`` is the first."""

from __future__ import annotations

import streamlit as st

from traces.lessons.lesson import System
from traces.lessons.systems import systems

_SYSTEMS = "systems"

CHOICE = "systems-choice"
"""The field in which one of them is chosen."""


def chosen() -> System:
    """The system that the URL names."""
    named = st.query_params.get(_SYSTEMS)
    names = [info.name for info in systems()]
    return next((name for name in names if name == named), names[0])


def choose() -> None:
    """Take over what the field says."""
    st.query_params[_SYSTEMS] = str(st.session_state[CHOICE])
