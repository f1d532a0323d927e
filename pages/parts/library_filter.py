"""The line above the list of traces: words, choices, order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts import address, shelf
from pages.parts.library_table import column_word, kind_of, kind_words, outcome_words
from pages.parts.words import t
from traces.annotations import Notes, sorted_tags
from traces.index import TraceInfo
from traces.library import SORTS, Wanted


def library_filter(infos: Sequence[TraceInfo], notes: Mapping[str, Notes], *, experiments: int = 0) -> Wanted:
    """Draw the line and give what is wanted. A choice of which there is only one is not offered.

    Args:
        infos: the whole list.
        notes: by the id of the trace.
        experiments: how many runs of experiments there are, which are listed only where that is wanted.
    """
    tags = sorted_tags(notes.values())
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="library-filter"):
        text = st.text_input(
            t("Search"),
            key=shelf.SEARCH,
            placeholder=t("Search the list"),
            label_visibility="collapsed",
            icon=":material/search:",
            width=180,
            persist_state="session",
        )
        wanted = Wanted(
            text=text or "",
            formats=_several(t("Format"), (info.format for info in infos), shelf.FORMATS),
            models=_several(t("Model"), (info.model for info in infos), shelf.MODELS),
            outcomes=_several(t("Stop reason"), (info.outcome for info in infos), shelf.OUTCOMES, outcome_words),
            kinds=_several(t("Kind"), map(kind_of, infos), shelf.KINDS, kind_words),
            tags=_several(t("Tags"), tags, shelf.TAGS, least=1),
            findings=_with_findings(infos),
        )
        if experiments:
            st.toggle(
                t("Runs of experiments"),
                key=shelf.EXPERIMENTS,
                help=t("List the runs of experiments as well: {n} here.", n=f"{experiments:,}"),
                persist_state="session",
            )
        st.selectbox(
            t("Sort by"),
            list(SORTS),
            format_func=lambda by: t("Sort: {column}", column=column_word(by)),
            key=shelf.SORT,
            label_visibility="collapsed",
            width=160,
            persist_state="session",
        )
    return wanted


def _several(
    label: str, values: Iterable[Any], key: str, word: Callable[[Any], str] | None = None, *, least: int = 2
) -> frozenset[Any]:
    options = sorted(set(values), key=lambda value: (value is None, str(value).casefold()))
    if len(options) < least:
        return frozenset()

    def shown(value: Any) -> str:
        return t("not reported") if value is None else word(value) if word else str(value)

    kept = [value for value in shelf.value(key, ()) if value in options]
    if kept != list(shelf.value(key, ())):
        address.put(key, kept)
    chosen = st.multiselect(
        label,
        options,
        key=key,
        format_func=shown,
        placeholder=label,
        label_visibility="collapsed",
        width=126,
        persist_state="session",
    )
    return frozenset(chosen)


def _with_findings(infos: Sequence[TraceInfo]) -> bool:
    if not any(info.checked for info in infos):
        return False
    return st.toggle(
        t("With findings"),
        key=shelf.FINDINGS,
        help=t("Only traces in which the linter found an error or a warning."),
        persist_state="session",
    )
