"""Which conversation of a file, and the quick ways in it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.trace import Trace
from pages.parts import address
from pages.parts.words import t

_TITLE = 80


def conversation_choice(traces: Sequence[Trace], number: int) -> None:
    """A field for the conversations of a file; those of sub-agents stand indented below the one that called them.

    Args:
        traces: the conversations.
        number: the position of the one that is shown.
    """
    key = "conversation-choice"
    address.put(key, number)
    places = {trace.trace_id: at for at, trace in enumerate(traces)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            t("Conversation"),
            range(len(traces)),
            format_func=lambda at: _label(traces[at], at, len(traces), places),
            key=key,
            on_change=address.choose_conversation,
            args=(key,),
        )
        parent = places.get(traces[number].source.parent or "")
        if parent is not None:
            st.button(
                t("Called by conversation {n}", n=parent + 1),
                icon=":material/subdirectory_arrow_left:",
                key="parent-conversation",
                on_click=address.show_conversation,
                args=(parent,),
            )


def _label(trace: Trace, at: int, count: int, places: dict[str, int]) -> str:
    indent = "↳ " if trace.source.parent in places else ""
    count_of = len(trace.messages)
    messages = t("1 message") if count_of == 1 else t("{n} messages", n=f"{count_of:,}")
    return f"{at + 1} / {count}  {indent}{trace.title[:_TITLE]}  ({messages})"


def first_error(trace: Trace) -> None:
    """A button that selects the first result that is an error, where there is one."""
    errors = (run.message for step in trace.steps for run in step.tools if run.ok is False and run.message is not None)
    first = next(errors, None)
    if first is not None:
        st.button(
            t("First error: message {n}", n=first + 1),
            icon=":material/error:",
            key="first-error",
            on_click=address.choose_message,
            args=(trace, first),
        )
