"""The traces of a comparison, and the comparison itself, each worked out once."""

from __future__ import annotations

import streamlit as st

from agent.errors import InputError
from agent.trace import Trace
from pages.parts.data import prices, store
from pages.parts.opened import read_kept
from pages.parts.words import t
from traces.compare import Comparison, compare
from traces.prices import PriceTable


def trace_of(trace_id: str) -> Trace:
    """A trace of the library.

    Raises:
        InputError: there is none of that id, or its file cannot be read any more.
    """
    info = store().find(trace_id)
    if info is None:
        raise InputError(t("There is no trace with the id in the address."))
    traces = read_kept(info.path).report.traces
    for trace in traces[max(info.number, 0) :][:1] + traces:
        if trace.trace_id == trace_id:
            return trace
    raise InputError(t("There is no trace with the id in the address."))


def compared(a: Trace, b: Trace) -> Comparison:
    """The comparison of two traces that nobody changes any more, with the prices as they are now."""
    table = prices()
    return _compared((id(a), id(b), id(table)), (a, b, table))[1]


@st.cache_resource(max_entries=8, show_spinner=False)
def _compared(
    key: tuple[int, int, int], _what: tuple[Trace, Trace, PriceTable]
) -> tuple[tuple[Trace, Trace, PriceTable], Comparison]:
    """Kept together with what is compared, so that no other object can get the identity that the key is made of."""
    return _what, compare(*_what)
