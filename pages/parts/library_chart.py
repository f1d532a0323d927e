"""The scatter of traces: a point each, a press on it opens the trace."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import address, selection
from pages.parts.data import prices
from pages.parts.library_table import open_line, outcome_words
from pages.parts.words import t
from traces.figures import traces_figure
from traces.index import TraceInfo
from traces.library import cost_of

HEIGHT_PX = 320
MOST_POINTS = 3000
"""With more traces only the first so many are drawn."""
_CHART = "library-chart"
_AXES = "library-axes"


def library_chart(infos: Sequence[TraceInfo]) -> None:
    """Draw a closed panel with the chart; a chart costs the browser more than the list.

    Args:
        infos: the ticked lines, else all that are shown.
    """
    panel = st.expander(
        t("Chart of the traces"),  # the same words always: others would close the panel
        key="library-chart-open",
        type="compact",
        icon=":material/scatter_plot:",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        infos = [info for info in infos if info.error is None][:MOST_POINTS]
        address.seed(_AXES, "tokens")
        axes = st.segmented_control(
            t("Axes"),
            ["tokens", "cost"],
            format_func={"tokens": t("Steps and tokens"), "cost": t("Seconds and cost")}.__getitem__,
            key=_AXES,
            required=True,
            label_visibility="collapsed",
        )
        st.caption(t("Traces in the chart: {n}", n=f"{len(infos):,}"))
        _draw(infos, by_cost=axes == "cost")


def _draw(infos: list[TraceInfo], *, by_cost: bool) -> None:
    table = prices()
    x: list[float | None] = [info.duration_s if by_cost else info.steps for info in infos]
    y: list[float | None] = [cost_of(info, table).value if by_cost else info.tokens for info in infos]
    words = {"Others": t("Others"), "not reported": t("not reported")}
    figure = traces_figure(
        x,
        y,
        [info.title for info in infos],
        [t("not reported") if info.outcome is None else outcome_words(info.outcome) for info in infos],
        x_title=t("Seconds") if by_cost else t("Steps"),
        y_title=t("US dollars") if by_cost else t("Tokens"),
        t=lambda text: words.get(text, text),
    )
    figure.update_layout(height=HEIGHT_PX)

    def clicked() -> None:
        at = selection.clicked_point(_CHART)
        if at is not None and at < len(infos):
            open_line(infos[at])

    st.plotly_chart(
        figure,
        key=_CHART,
        on_select=clicked,
        selection_mode="points",
        config={"displaylogo": False},
        alt=t("Scatter of the traces"),
    )
