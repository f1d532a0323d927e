"""The two charts of a trace: tokens and time of each step."""

from __future__ import annotations

import streamlit as st

from agent.trace import Trace
from pages.parts.words import t
from traces.figures import latency_per_step, tokens_per_step
from traces.tables import steps_frame

_SHADES = {
    "light": {"cached": "#9dbfe4", "reasoning": "#c3a8e2", "other": "#a9aeb3"},
    "dark": {"cached": "#3d6690", "reasoning": "#7a5aa6", "other": "#77828a"},
}
"""Paler forms for parts of the makers' tokens; the theme has no names for them."""

HEIGHT_PX = 210


def step_charts(trace: Trace, *, key: str, selected: int | None = None, live: bool = False) -> None:
    """Draw tokens per step and latency per step.

    Args:
        trace: a trace that nobody changes meanwhile.
        key: names the charts, so that a redrawn one keeps its zoom.
        selected: position of the message whose step is highlighted.
        live: the run goes on; before its first step has ended there is nothing to draw.
    """
    frame = steps_frame(trace)
    if frame[["model_ms", "total"]].isna().all(axis=None):
        if not live:
            st.caption(t("Tokens and time of the steps: not reported."))
        return
    step = trace.entries[selected].step if selected is not None else None
    highlighted = step - 1 if isinstance(step, int) and 0 < step <= len(frame) else None
    colours = _colours("dark" if st.context.theme.type == "dark" else "light")
    words = _labels()
    for name, title, draw in (
        ("tokens", t("Tokens per step"), tokens_per_step),
        ("latency", t("Latency per step"), latency_per_step),
    ):
        figure = draw(frame, t=lambda text: words.get(text, text), colours=colours, selected=highlighted)
        figure.update_layout(height=HEIGHT_PX)
        st.caption(title)
        st.plotly_chart(figure, key=f"{name}-{key}", config={"displaylogo": False}, alt=title)


def _colours(theme: str) -> dict[str, str]:
    """The theme's colours of the makers: what went to the model blue, what it made violet, the environment green."""
    makers = {"prompt_uncached": "blue", "completion": "violet", "model_ms": "violet", "tools_ms": "green"}
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
        "Model": t("Model"),
        "Tools": t("Tools"),
        "Tokens": t("Tokens"),
        "Seconds": t("Seconds"),
        "Step": t("Step #"),
        "Total": t("Total"),
        "estimated": t("estimated"),
        "not reported": t("not reported"),
    }
