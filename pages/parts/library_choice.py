"""The two fields that choose what is compared."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, address_compare
from pages.parts.data import listed
from pages.parts.library import title_words
from pages.parts.words import t
from traces.index import TraceInfo


def trace_choice() -> tuple[str | None, str | None]:
    """Draw the fields and give the ids of both traces; None where nothing is chosen yet."""
    chosen = address_compare.ids()  # first: what the address names counts as opened, and is listed then
    infos = {info.id: info for info in listed() if info.id and not info.error}
    columns = st.columns(2, gap="medium")
    for letter, trace_id, column in zip("AB", chosen, columns, strict=True):
        key = f"compare-{letter}"
        address.put(key, trace_id if trace_id in infos else None)
        with column:
            st.selectbox(
                t("Trace {letter}", letter=letter),
                list(infos),
                format_func=lambda each: _label(infos[each]),
                key=key,
                index=None,
                placeholder=t("Choose a trace"),
                on_change=_choose,
            )
    return chosen


def _choose() -> None:
    address_compare.choose(*(address.setting(f"compare-{letter}") for letter in "AB"))


def _label(info: TraceInfo) -> str:
    """A trace in one line."""
    parts = (
        title_words(info.title)[:70],
        info.model,
        info.created and info.created[:16].replace("T", " "),
        info.id[:8],
    )
    return " · ".join(part for part in parts if part)
