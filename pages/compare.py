"""The Compare page: two traces of the library side by side. The URL names both and the row that is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.errors import AgentError
from agent.trace import Trace
from pages.parts import address_ablate, address_compare
from pages.parts.compare_view import compare_view
from pages.parts.comparing import compared, trace_of
from pages.parts.data import experiment_shown, store
from pages.parts.library_choice import trace_choice
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.tabs import tabs
from pages.parts.words import t


def page() -> None:
    """Draw the choice of the two traces, and their comparison where both are there."""
    tabs().show(None)
    notices()
    st.page_link("pages/traces.py", label=t("All traces"), icon=":material/arrow_back:")
    st.subheader(t("Compare two traces"))
    traces = [_side(letter, trace_id) for letter, trace_id in zip("AB", trace_choice(), strict=True)]
    st.button(t("Swap"), icon=":material/swap_horiz:", on_click=address_compare.swap, key="compare-swap")
    first, second = traces
    _experiment_link(traces)
    if first is None or second is None:
        st.caption(t("Choose two traces to see where they part."))
    else:
        compare_view(first, second, compared(first, second))


def _experiment_link(traces: Sequence[Trace | None]) -> None:
    """The way back to the experiment that both are runs of."""
    infos = [trace and store().find(trace.trace_id) for trace in traces]
    experiments = {info and experiment_shown(info) for info in infos}
    experiment = experiments.pop() if len(experiments) == 1 else None
    if experiment:
        st.page_link(
            address_ablate.PAGE,
            label=t("The experiment of both"),
            icon=":material/science:",
            query_params=address_ablate.link(experiment=experiment),
        )


def _side(letter: str, trace_id: str | None) -> Trace | None:
    """One of the two traces; None where it is not chosen, or cannot be read, which is said."""
    if trace_id is None:
        return None
    try:
        return trace_of(trace_id)
    except (AgentError, OSError) as error:
        st.error(t("Trace {letter} cannot be opened.", letter=letter))
        st.text(str(error))
        return None


ensure_menu()
page()
