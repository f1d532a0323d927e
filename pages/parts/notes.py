"""What the program and people did to a run beside the messages: requests cut short, summaries, more steps granted, and
what the program remarked on in a reply."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent import jsontext
from agent.trace import Trace
from pages.parts.words import loop_words, t

_LONGEST = 300
"""Characters of one note; a summary may be longer than the page."""


def notes_list(trace: Trace) -> None:
    """Draw the notes of a run, in the order of its steps. They may quote a model, so they are plain text."""
    happened = [item for item in trace.interventions if item.get("step") is not None]
    remarked = [{"step": step.index, "text": warning} for step in trace.steps for warning in step.warnings]
    items = sorted([*trace.notes, *happened, *remarked], key=lambda item: item.get("step") or 0)
    with st.expander(t("Notes of the program: {n}", n=len(items)), type="compact", expanded=bool(items)):
        st.text("\n".join(map(_line, items)) or t("none"))


def _line(item: dict[str, Any]) -> str:
    text = str(item.get("text") or f"{item.get('kind')}: {jsontext.dumps(item.get('params'))}")
    if item.get("kind") != "summary":  # the words of a model, not of the loop
        text = loop_words(text)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    step = item.get("step")
    return text if step is None else t("Step {n}: {what}", n=step, what=text)
