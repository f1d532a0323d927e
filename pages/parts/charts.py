"""The charts of a trace. A click on a bar selects its message; the step of the selected message is highlighted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts import address, selection
from pages.parts.data import prices
from pages.parts.price_words import cost_note
from pages.parts.words import t
from traces.figures import (
    context_per_step,
    cost_so_far,
    latency_per_step,
    legend_height,
    timeline_figure,
    tokens_per_step,
    tool_use,
)
from traces.prices import step_costs, window_of
from traces.reading import Reading

_SHADES = {
    "light": {
        "cached": "#9dbfe4",
        "reasoning": "#c3a8e2",
        "other": "#a9aeb3",
        "first_token": "#cbb8e8",
        "unseen": "#d3cfc4",
    },
    "dark": {
        "cached": "#4b7fb5",
        "reasoning": "#8d6abf",
        "other": "#77828a",
        "first_token": "#7459a3",
        "unseen": "#4d5a63",
    },
}
"""Paler forms for parts of the makers' tokens; the theme has no names for them."""

HEIGHT_PX = 210
_TALL_PX = 330
"""Of a chart that stands alone."""

Draw = Callable[..., Any]
"""A function of :mod:`traces.figures`."""


def step_charts(
    reading: Reading, *, key: str, choose: Callable[[int], None], selected: int | None = None, live: bool = False
) -> None:
    """Draw tokens per step and latency per step, or the chart that was chosen instead.

    Args:
        reading: the trace.
        key: names the charts, so that a redrawn one keeps its zoom.
        choose: called with the position of the message that a clicked bar stands for.
        selected: position of the message whose step is highlighted.
        live: the run goes on; before its first step has ended there is nothing to draw.
    """
    if not reading.trace.steps:
        if not live:
            st.caption(t("Tokens and time of the steps: not reported."))
        return
    kinds = {
        "steps": t("Steps"),
        "timeline": t("Time"),
        "context": t("Context"),
        "cost": t("Cost"),
        "tools": t("Tools"),
    }
    choice = f"chart-kind-{key}"
    address.seed(choice, "steps")
    kind = st.segmented_control(
        t("Chart"), list(kinds), format_func=kinds.__getitem__, key=choice, required=True, label_visibility="collapsed"
    )
    _Drawer(reading, key, choose, selected).draw(kind or "steps")


class _Drawer:
    """Draws the charts of one trace."""

    def __init__(self, reading: Reading, key: str, choose: Callable[[int], None], selected: int | None) -> None:
        self._reading, self._key, self._choose = reading, key, choose
        self._step = reading.step_at(selected)
        self._number = None if self._step is None else reading.trace.steps[self._step].index
        self._words = _labels()
        self._colours = theme_colours()

    def draw(self, kind: str) -> None:
        reading = self._reading
        if kind == "timeline":
            self._chart("timeline", t("Timeline"), _TALL_PX, timeline_figure, reading.timeline, selected=self._number)
            if reading.timeline.assumed:
                st.caption(t("The file does not say when everything began: what has no time follows its call."))
        elif kind == "context":
            self._context()
        elif kind == "cost":
            self._cost()
        elif kind == "tools":
            height = 90 + 26 * min(20, len(reading.tools))
            self._chart("tools", t("Calls of each tool"), max(HEIGHT_PX, height), tool_use, reading.runs)
        else:
            self._chart("tokens", t("Tokens per step"), HEIGHT_PX, tokens_per_step, reading.steps, selected=self._step)
            self._chart(
                "latency", t("Latency per step"), HEIGHT_PX, latency_per_step, reading.steps, reading.runs,
                selected=self._step,
            )  # fmt: skip

    def _context(self) -> None:
        found = self._reading.composition
        window = found.window or window_of(self._reading.trace, prices())
        self._chart(
            "context", t("What fills the context"), _TALL_PX, context_per_step,
            replace(found, window=window), self._reading.messages_of_steps, selected=self._number,
        )  # fmt: skip
        if window and found.steps:
            fullest = max(step.total for step in found.steps)
            st.caption(
                t(
                    "The fullest prompt takes {part} of the window of {n} tokens.",
                    part=f"{fullest / window:.0%}",
                    n=f"{window:,}",
                )
            )
        if any(step.assumed for step in found.steps):
            st.caption(t("The file does not say which messages each request held: all before it are taken."))

    def _cost(self) -> None:
        trace = self._reading.trace
        costs = step_costs(trace, prices())
        self._chart(
            "cost", t("Cost so far"), _TALL_PX, cost_so_far,
            [step.index for step in trace.steps],
            [cost.value for cost in costs],
            [step.message for step in trace.steps],
            computed=any(cost.computed for cost in costs),
            selected=self._step,
        )  # fmt: skip
        for remark in dict.fromkeys(note for cost in costs for note in cost.notes):
            st.caption(cost_note(remark))

    def _chart(self, name: str, title: str, height: int, draw: Draw, *data: object, **more: object) -> None:
        words = self._words
        figure = draw(*data, t=lambda text: words.get(text, text), colours=self._colours, **more)
        if not figure.data:
            st.caption(f"{title}: {t('not reported')}")
            return
        # The words above the chart say what its axes are; their room goes to the bars.
        figure.update_layout(height=height + legend_height(figure), xaxis_title_text="", yaxis_title_text="")
        chart = f"{name}-{self._key}"
        st.caption(title)
        st.plotly_chart(
            figure,
            key=chart,
            config={"displaylogo": False},
            alt=title,
            on_select=lambda: self._clicked(chart),
            selection_mode="points",
        )

    def _clicked(self, chart: str) -> None:
        """Show the message of the point; a click that selects nothing changes nothing."""
        if (position := selection.clicked_point(chart)) is not None:
            self._choose(position)


def theme_colours() -> dict[str, str]:
    """The theme's colours of the makers: what went to the model blue, what it made violet, the environment green."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    makers = {
        "prompt_uncached": "blue",
        "completion": "violet",
        "model": "violet",
        "ok": "green",
        "error": "red",
        "unknown": "gray",
        "system": "orange",
        "schemas": "yellow",
        "user": "blue",
        "assistant": "violet",
        "line": "blue",
    }
    known = {part: st.get_option(f"theme.{theme}.{name}Color") for part, name in makers.items()}
    return _SHADES[theme] | {part: colour for part, colour in known.items() if colour}


def _labels() -> dict[str, str]:
    """The texts of the figures in the language of the session."""
    return {
        "Prompt": t("Prompt"),
        "Prompt, cached": t("Prompt, cached"),
        "Answer": t("Answer"),
        "Reasoning": t("Reasoning"),
        "Only in the total": t("Only in the total"),
        "First token": t("First token"),
        "Model": t("Model"),
        "Tools": t("Tools"),
        "Other tools": t("Other tools"),
        "Failed tools": t("Failed tools"),
        "Tokens": t("Tokens"),
        "Seconds": t("Seconds"),
        "Step": t("Step #"),
        "This step": t("This step"),
        "the largest of {n} steps": t("the largest of {n} steps"),
        "Total": t("Total"),
        "estimated": t("estimated"),
        "measured": t("measured"),
        "not reported": t("not reported"),
        "System": t("System"),
        "Tool schemas": t("Tool schemas"),
        "User": t("User"),
        "Assistant": t("Assistant"),
        "Results": t("Results"),
        "Other results": t("Other results"),
        "Not in the file": t("Not in the file"),
        "Window: {n}": t("Window: {n}"),
        "Worked": t("Worked"),
        "Failed": t("Failed"),
        "Unknown": t("Unknown"),
        "Calls": t("Calls"),
        "Errors": t("Errors"),
        "Median time": t("Median time"),
        "Cost, computed": t("Cost, computed"),
        "Cost as reported": t("Cost as reported"),
        "US dollars": t("US dollars"),
    }
