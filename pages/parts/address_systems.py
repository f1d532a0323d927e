"""The five systems in the URL: whose outputs stand beside each other, ``?systems=plain,json_action``.

One name alone is shown alone; ``?systems=1``, or no name of the five, is a choice of two.
"""

from __future__ import annotations

import streamlit as st

from traces.lessons.lesson import System
from traces.lessons.systems import systems

_SYSTEMS = "systems"
_FIRST = (System.PLAIN, System.JSON_ACTION)
"""The shortest one, and the one whose words are most unlike its."""
_MOST = 3
"""Outputs that a wide page has room for."""

CHOICE = "systems-choice"
"""The field in which they are chosen."""


def chosen() -> tuple[System, ...]:
    """The systems that the URL names, each once, in its order: one to three."""
    names = {str(info.name): info.name for info in systems()}
    said = dict.fromkeys(st.query_params.get(_SYSTEMS, "").split(","))
    return tuple(names[each] for each in said if each in names)[:_MOST] or _FIRST


def choose() -> None:
    """Take over what the field says. One more than there is room for takes the place of the first; one always stays."""
    if picked := st.session_state[CHOICE][-_MOST:]:
        st.query_params[_SYSTEMS] = ",".join(picked)
