"""The pictures of an experiment: pure functions from its rows and its summary to plotly figures.

They follow the rules of :mod:`traces.figures`, but the first item of a point's ``customdata`` is the id of the trace of
the run that it stands for, or None. Names and answers are data and are escaped. Each sets its own height.
"""

from traces.figures.ablation_curve import curve, sweeps
from traces.figures.ablation_runs import LETTERS, MOST_RUNS, STRIP_COLOURS, strips, turns_and_tokens
from traces.figures.ablation_summary import FINDINGS, forest, stop_reasons

__all__ = [
    "FINDINGS",
    "LETTERS",
    "MOST_RUNS",
    "STRIP_COLOURS",
    "curve",
    "forest",
    "stop_reasons",
    "strips",
    "sweeps",
    "turns_and_tokens",
]
