"""Charts: pure functions from the tables of :mod:`traces` to plotly figures.

A bar is missing where nothing was reported. All texts come from the caller's translation; names out of a trace are
escaped, because plotly reads some HTML in its labels. The first item of a point's ``customdata`` is the position of the
message that it stands for, or None.
"""

from traces.figures.common import COLOURS, MOST_BARS, Translate, legend_height
from traces.figures.context import context_per_step
from traces.figures.cost import cost_so_far
from traces.figures.library import traces_figure
from traces.figures.steps import latency_per_step, tokens_per_step
from traces.figures.timeline import timeline_figure
from traces.figures.tools import tool_use

__all__ = [
    "COLOURS",
    "MOST_BARS",
    "Translate",
    "context_per_step",
    "cost_so_far",
    "latency_per_step",
    "legend_height",
    "timeline_figure",
    "tokens_per_step",
    "tool_use",
    "traces_figure",
]
