"""The list of traces: narrow it, open one, compare two, add some up, delete with a way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import streamlit as st

from agent.scripts import scenarios
from pages.parts import address, shelf
from pages.parts.annotating import all_notes
from pages.parts.checking import checking_line
from pages.parts.data import listed, prices, without_experiments
from pages.parts.library_actions import action_bar, undo_line
from pages.parts.library_chart import library_chart
from pages.parts.library_filter import library_filter
from pages.parts.library_table import UNKNOWN, library_table
from pages.parts.paging import page_of
from pages.parts.prices_form import prices_form
from pages.parts.words import t
from traces.annotations import Notes
from traces.index import TraceInfo
from traces.library import narrow, sort

PAGE_ROWS = 2000
"""Most rows sent to the browser at once."""
_SLOW = 200
"""From so many new files on their reading is shown."""


def library() -> None:
    """Draw the list."""
    st.subheader(t("Traces"))
    everything = _listed()
    undo_line()
    others = without_experiments(everything)
    infos = everything if shelf.value(shelf.EXPERIMENTS, False) else others
    if not infos:
        st.caption(t("There is no trace yet. Run something, or open a file on the left."))
        return
    notes = all_notes()
    wanted = library_filter(infos, notes, experiments=len(everything) - len(others))
    shown = narrow(infos, wanted, notes)
    if not shown:
        st.caption(t("No trace passes the filter."))
        st.button(t("Show all"), on_click=shelf.clear_filters, key="library-all")
        return
    counted = t("{n} of {all} traces", n=f"{len(shown):,}", all=f"{len(infos):,}")
    if hidden := len(everything) - len(infos):
        counted += f" · {t('{n} runs of experiments are hidden', n=f'{hidden:,}')}"
    st.caption(f"{counted} · {UNKNOWN} {t('not reported')}")
    _table(shown, notes, infos)
    library_chart(_ticked(shown) or shown)
    checking_line(shown)
    prices_form()


def _table(shown: list[TraceInfo], notes: Mapping[str, Notes], infos: Sequence[TraceInfo]) -> None:
    rows = page_of(sort(shown, shelf.value(shelf.SORT, "created")), PAGE_ROWS, key="library-page")
    key = library_table(rows, notes, prices(), titles=[title_words(info.title) for info in rows])
    action_bar(_ticked(shown), _current(shown), infos, notes, table=key)


def _listed() -> list[TraceInfo]:
    """The list; while many new files are read, how far that is."""
    place = st.empty()

    def progress(done: int, total: int) -> None:
        if total >= _SLOW:
            place.progress(done / total, t("Reading new files: {n} of {all}", n=f"{done:,}", all=f"{total:,}"))

    infos = listed(progress, experiments=True)
    place.empty()
    return infos


def _ticked(shown: Sequence[TraceInfo]) -> list[TraceInfo]:
    places = shelf.chosen()
    return [info for info in shown if shelf.place_of(info) in places] if places else []


def _current(shown: Sequence[TraceInfo]) -> TraceInfo | None:
    place = shelf.current()
    return next((info for info in shown if shelf.place_of(info) == place), None) if place else None


def title_words(title: str) -> str:
    """A title in the language of the session where it is that of a scenario; any other as it is."""
    return _titles().get(title, title) if address.language() == "zh" else title


@cache
def _titles() -> dict[str, str]:
    return {info.title: info.title_zh for info in scenarios() if info.title_zh}
