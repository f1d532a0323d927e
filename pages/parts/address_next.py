"""What the next run of a session will get: its breakpoints, and what will go wrong in it."""

from __future__ import annotations

import streamlit as st

from agent.breakpoints import Breakpoint
from agent.faults import Fault

_BREAKPOINTS = "next_breakpoints"
_FAULTS = "next_faults"


def next_breakpoints() -> tuple[Breakpoint, ...]:
    """The breakpoints that the next run of this session will get."""
    kept: tuple[Breakpoint, ...] = st.session_state.get(_BREAKPOINTS, ())
    return kept


def keep_breakpoints(breakpoints: tuple[Breakpoint, ...]) -> None:
    """Let the next run of this session get these breakpoints."""
    st.session_state[_BREAKPOINTS] = breakpoints


def next_faults() -> tuple[Fault, ...]:
    """What will go wrong in the next run of this session."""
    faults: tuple[Fault, ...] = st.session_state.get(_FAULTS, ())
    return faults


def keep_faults(faults: tuple[Fault, ...]) -> None:
    """Let this go wrong in the next run of this session."""
    st.session_state[_FAULTS] = faults
