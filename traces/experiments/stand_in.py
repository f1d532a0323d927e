"""Stand-in: a fake model made of a trace that reacts to what is taken away from it, by rules of ours."""

from __future__ import annotations

from agent.scripts import Script
from agent.trace import Trace
from traces.scripting import script_of


def stand_in(trace: Trace) -> Script:
    """The stand-in of a trace."""
    return script_of(trace)
