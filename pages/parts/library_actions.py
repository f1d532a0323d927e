"""What can be done with the lines of the list that are ticked, or with the one that was pressed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_compare, shelf
from pages.parts.data import data_folder, prices, private, store
from pages.parts.library_table import open_line
from pages.parts.runs import registry
from pages.parts.words import t
from traces.annotations import Notes, notes_csv
from traces.index import TraceInfo
from traces.library import Totals, totals
from traces.trash import Deleted, Trash


def undo_line() -> None:
    """The way back from the last deletion of this session."""
    _emptied(str(data_folder()))
    deleted = shelf.last_deleted()
    if deleted is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(t("Moved to the trash: {names}", names=_few(deleted.names)), width="content")
        st.button(t("Undo"), icon=":material/undo:", key="undo-delete", on_click=_undo, args=(deleted,))


@st.cache_resource(max_entries=4, show_spinner=False)
def _emptied(folder: str) -> int:
    """Once in the life of a server: what was deleted long ago goes for good."""
    try:
        return Trash(folder).empty()
    except AgentError:  # a folder that only others may write
        return 0


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" … ({len(names):,})" if len(names) > 3 else "")


def _undo(deleted: Deleted) -> None:
    shelf.forget_deleted(deleted)
    try:
        Trash(data_folder()).restore(deleted.id)
    except AgentError as error:
        address.tell(str(error))


def action_bar(
    ticked: Sequence[TraceInfo],
    current: TraceInfo | None,
    infos: Sequence[TraceInfo],
    notes: Mapping[str, Notes],
    *,
    table: str,
) -> None:
    """Draw the buttons and, for several traces, what they add up to.

    Args:
        ticked: the lines whose box is ticked.
        current: the line that was pressed last.
        infos: the whole list.
        notes: by the id of the trace.
        table: key of the table.
    """
    subject = list(ticked) or ([current] if current is not None else [])
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="library-bar"):
        if not subject:
            st.caption(t("Press a title to open it. Tick boxes to compare, add up or delete."), width="content")
        elif len(subject) == 1:
            st.button(
                t("Open"), icon=":material/open_in_full:", type="primary", key="open-line", on_click=open_line,
                args=(subject[0],),
            )  # fmt: skip
            st.text(subject[0].title[:60] or subject[0].id, width="content")
        else:
            st.text(_sums(totals(subject, prices())), width="content")
        if len(subject) == 2 and all(info.id and not info.error for info in subject):
            st.page_link(
                "pages/compare.py",
                label=t("Compare"),
                icon=":material/compare_arrows:",
                query_params=address_compare.link(subject[0].id, subject[1].id),
            )
        if subject:
            _delete_button(subject, infos)
        if ticked:
            st.button(t("Untick all"), key="untick", type="tertiary", on_click=shelf.clear_selection, args=(table,))
        _notes_button(infos, notes)


def _sums(sums: Totals) -> str:
    """What several traces add up to; where some do not report a value, of how many the sum is."""
    values = [
        (t("Traces"), f"{sums.traces:,}", sums.traces),
        (t("Steps"), f"{sums.steps:,}", sums.traces),
        (t("Tokens"), None if sums.tokens is None else f"{sums.tokens:,}", sums.tokens_known),
        (
            t("Cost"),
            None if sums.cost is None else f"{'≈ ' if sums.computed else ''}$ {sums.cost:,.4f}",
            sums.cost_known,
        ),
        (t("Seconds"), None if sums.duration_s is None else f"{sums.duration_s:,.1f}", sums.duration_known),
    ]
    return " · ".join(
        f"{name}: {value or t('not reported')}"
        + (f" ({known:,}/{sums.traces:,})" if value and known < sums.traces else "")
        for name, value, known in values
    )


def _delete_button(subject: Sequence[TraceInfo], infos: Sequence[TraceInfo]) -> None:
    """A server that others can reach deletes nothing: whose trace it is cannot be told there."""
    own = [info for info in subject if info.kind != "bundled"]
    if not private() or not own:
        return
    paths = {info.path for info in own}
    several = {path: n for path, n in Counter(info.path for info in infos).items() if path in paths and n > 1}
    label = t("Delete") if len(own) == 1 else t("Delete {n}", n=f"{len(own):,}")
    st.button(label, icon=":material/delete:", key="delete-lines", on_click=_delete, args=(own,))
    if several:
        st.caption(t("All {n} conversations of the file go.", n=f"{sum(several.values()):,}"), width="content")


def _delete(subject: list[TraceInfo]) -> None:
    running = [info for info in subject if (run := registry().find(info.id)) is not None and not run.done]
    if running:
        address.tell(t("{title} is still open on the Run page; end it first.", title=running[0].title or running[0].id))
        return
    try:
        shelf.note_deleted(store().delete(subject))
    except AgentError as error:
        address.tell(str(error))
    else:
        shelf.clear_selection()


def _notes_button(infos: Sequence[TraceInfo], notes: Mapping[str, Notes]) -> None:
    listed = {info.id for info in infos}
    shown = [each for trace_id, each in notes.items() if trace_id in listed]
    if shown:
        st.download_button(
            t("Notes as CSV"),
            data=lambda: notes_csv(shown),
            file_name="notes.csv",
            mime="text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key="notes-csv",
        )
