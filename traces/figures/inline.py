"""Figures for a page without Streamlit: plotly's own script, and a figure as data for it."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go


def library_script() -> str:
    """The source of plotly's script, as the package that is installed has it: about 4.8 MB."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def as_data(figure: go.Figure) -> dict[str, Any]:
    """Traces and layout as JSON data, without a template: the page that draws it has its own colours for text and
    lines.
    """
    bare = go.Figure(figure)
    bare.layout.template = None
    bare.update_xaxes(automargin=True).update_yaxes(automargin=True)
    data: dict[str, Any] = json.loads(bare.to_json())
    return data
