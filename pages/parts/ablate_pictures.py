"""The pictures of an experiment in tabs. A press on a run leads to its trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts import ablate_words as words
from pages.parts.ablate_condition_words import condition_name
from pages.parts.ablate_rows import run_actions
from pages.parts.charts import theme_colours
from pages.parts.words import t
from traces.experiments.analysis.summary import Summary
from traces.experiments.design.experiment import Experiment
from traces.experiments.rows import Row
from traces.figures import legend_height
from traces.figures.ablation import STRIP_COLOURS, curve, forest, stop_reasons, strips, sweeps, turns_and_tokens


def pictures(experiment: Experiment, summary: Summary, rows: Sequence[Row], *, key: str, over: bool) -> None:
    """Draw the pictures; only the open tab costs anything.

    Args:
        experiment: the design.
        summary: what was found.
        rows: its runs.
        key: names the charts.
        over: whether no more runs come by themselves; before that no picture shows a difference or an interval.
    """
    colours = theme_colours()
    draw: dict[str, Callable[[], Any]] = {}
    if over:
        draw[t("Effects")] = lambda: forest(
            _primary(summary, key), t=words.said, called=condition_name, colours=colours
        )
    draw |= {
        t("Stop reasons"): lambda: stop_reasons(summary, t=words.said, called=condition_name, colours=colours),
        t("Messages of each run"): lambda: strips(
            experiment, rows, t=words.said, called=condition_name, colours=STRIP_COLOURS | colours
        ),
    }
    if over:
        draw[t("Tokens against turns")] = lambda: turns_and_tokens(
            rows, summary, t=words.said, called=condition_name, colours=colours
        )
    if over and (names := sweeps(experiment)):
        draw[t("Curve")] = lambda: curve(experiment, summary, _sweep(names, key), t=words.said, colours=colours)
    tabs = st.tabs(list(draw), key=f"{key}-tabs", on_change="rerun")
    for at, ((name, make), tab) in enumerate(zip(draw.items(), tabs, strict=True)):
        if tab.open:
            with tab:
                _picture(name, make(), rows, key=f"{key}-{at}")


def _primary(summary: Summary, key: str) -> Summary:
    """With the primary outcome alone, unless all are wanted."""
    if st.toggle(t("All outcomes"), key=f"{key}-outcomes", persist_state="session"):
        return summary
    return replace(summary, effects=tuple(each for each in summary.effects if each.outcome == summary.outcome))


def _sweep(names: Sequence[str], key: str) -> str:
    """The curve that is drawn; a name is the user's own text, so it is no label of a tab."""
    if len(names) == 1:
        return names[0]
    return st.selectbox(t("Curve"), names, key=f"{key}-sweep", label_visibility="collapsed", width=320)


def _picture(title: str, figure: Any, rows: Sequence[Row], *, key: str) -> None:
    """Draw a figure, and below it the links of the run that was pressed."""
    if not figure.data:
        st.caption(t("There is nothing to draw yet."))
        return
    figure.update_layout(height=figure.layout.height + legend_height(figure))
    chosen = st.plotly_chart(
        figure, key=key, config={"displaylogo": False}, alt=title, on_select="rerun", selection_mode="points"
    )
    trace_ids = {point["customdata"][0] for point in chosen.selection.points if point.get("customdata")}
    row = next((row for row in rows if row.trace_id in trace_ids), None)
    if row is not None:
        run_actions(row, rows, key=f"{key}-actions")
