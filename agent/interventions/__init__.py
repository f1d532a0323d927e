"""Interventions: changes to a run that are not the model's. They change what a model call is given, or a setting of the
run; never the message list itself. The trace records every one of them.

Each kind is a pure function in the module of what it concerns; :mod:`agent.interventions.kinds` lists them all.
"""

from agent.interventions.intervention import Intervention, changed_request, hidden_tools
from agent.interventions.kinds import KINDS, MOST_WHOLE
from agent.interventions.pairing import OMIT_RESULTS

__all__ = ["KINDS", "MOST_WHOLE", "OMIT_RESULTS", "Intervention", "changed_request", "hidden_tools"]
