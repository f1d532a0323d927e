"""From any trace to a script that says the run again, and the run said again: :func:`script_data`, :func:`replay`.

What the model said and what the tools answered is taken from the trace; everything else is done by the loop itself.
"""

from traces.scripting.data import script_data, script_of, script_text
from traces.scripting.replaying import Replayed, replay

__all__ = ["Replayed", "replay", "script_data", "script_of", "script_text"]
