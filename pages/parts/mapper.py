"""The form for a file of an unknown shape: a person names its columns, sees what comes out, and opens it by them.

On a server that only this machine can reach, columns are kept in the data folder and used for every file of the same
shape; on any other they stay with the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.errors import InputError
from pages.parts import address
from pages.parts.data import data_folder, private
from pages.parts.opened import Opened
from pages.parts.roles import role_look
from pages.parts.words import t
from traces.mapped_record import role_of
from traces.mapping import COLUMNS, FORMAT, Columns, fits, forget, keep, kept, mapped
from traces.mapping_guess import columns_at, guess, keys_of, list_paths, role_words, sample
from traces.report import ImportReport
from traces.text import cell, message_text

_KEPT = "columns-kept"
_ROLES = ("system", "user", "assistant", "tool", "")
_SHOWN = 6
_READ = 20


def by_columns(opened: Opened) -> Opened:
    """The file read by columns that were kept for its shape, where no reader knows it; else the file as it is."""
    report = opened.report
    if report.traces or report.tree is None:
        return opened
    columns = _fitting(report)
    if columns is None:
        return opened
    made = _mapped(report.id, id(report.tree), columns.to_json(), report)
    return made if made.report.traces else opened


@st.cache_resource(max_entries=8, show_spinner=False)
def _mapped(file_id: str, tree: int, columns: bytes, _report: ImportReport) -> Opened:
    """Read once. The report that is made holds the tree, so that no other gets its number while it is kept."""
    return Opened(mapped(_report, Columns.from_json(columns)))


def mapper(report: ImportReport, *, key: str) -> None:
    """Draw the form, a look at the first messages, and the ways to open, keep, save and load the columns.

    Args:
        report: a file that holds its JSON: one that no reader knows, or one that was read by columns.
        key: of the form, different for each file.
    """
    if not isinstance(report.tree, (list, dict)):
        return
    form = _Form(report, key)
    form.begin()
    st.markdown(f"**{t('Read it by its columns')}**")
    st.caption(t("Say where each conversation stands and which key holds what. The first messages are shown below."))
    form.records_field()
    form.column_fields()
    form.role_fields()
    columns = form.columns()
    _preview(report, columns)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            t("Open with these columns"),
            type="primary",
            icon=":material/table_view:",
            key=f"{key}-open",
            disabled=not columns.usable,
            on_click=form.keep,
        )
        if report.format == FORMAT:
            st.button(t("Forget these columns"), icon=":material/undo:", key=f"{key}-forget", on_click=form.forget)
        st.download_button(
            t("Save the columns as a file"),
            columns.to_json(),
            file_name="columns.json",
            mime="application/json",
            icon=":material/download:",
            key=f"{key}-save",
            on_click="ignore",
        )
    st.file_uploader(
        t("Use columns from a file"), type="json", key=form.upload_key, max_upload_size=1, on_change=form.load
    )


class _Form:
    """The fields of one file. What they hold stands in the session under their keys."""

    def __init__(self, report: ImportReport, key: str) -> None:
        self._report = report
        self._key = key

    @property
    def upload_key(self) -> str:
        """Of the field for a file of columns; another one after each file, so that the field is empty again."""
        return f"{self._key}-load-{address.setting(f'{self._key}-loads', 0)}"

    def begin(self) -> None:
        """Fill the fields in when they are first drawn: as they were left, else as kept for the shape, else guessed."""
        if address.setting(self._field("records")) is None:
            left: Columns | None = address.setting(f"{self._key}-last")
            self._fill(left or _fitting(self._report) or guess(self._report.tree))

    def records_field(self) -> None:
        """Where the lists of records are."""
        field = self._field("records")
        paths = list(dict.fromkeys([address.setting(field), *list_paths(self._report.tree)]))
        st.selectbox(
            t("Path of the records"),
            paths,
            format_func=lambda path: path or t("the whole file"),
            key=field,
            help=t("Keys with points between them; * stands for every item. Each list it finds is a conversation."),
            accept_new_options=True,
            on_change=self._guess_again,
        )

    def column_fields(self) -> None:
        """One field for each column."""
        keys = keys_of(self._records())
        for place, name in zip(_places(len(COLUMNS), 3), COLUMNS, strict=True):
            field = self._field(name)
            options = list(dict.fromkeys(["", address.setting(field) or "", *keys]))
            place.selectbox(
                _label(name),
                options,
                format_func=lambda path: path or t("nowhere"),
                key=field,
                accept_new_options=True,
                on_change=self._guess_roles if name == "role" else None,
            )

    def role_fields(self) -> None:
        """What each of the file's words for roles means."""
        words = self._role_words()
        if not words:
            return
        st.caption(t("What the words for roles mean"))
        for place, word in zip(_places(len(words), 4), words, strict=True):
            field = self._field(f"role-{word}")
            choices = list(dict.fromkeys([*_ROLES, word]))
            if address.setting(field) not in choices:
                address.put(field, word)
            place.text(cell(word, 40))  # a label would be read as Markdown
            place.selectbox(
                t("What the word above means"),
                choices,
                format_func=lambda role: cell(role_look(role).word, 40) if role else t("leave out"),
                key=field,
                label_visibility="collapsed",
            )

    def columns(self) -> Columns:
        """What the fields hold now."""
        paths = {name: str(address.setting(self._field(name)) or "") for name in ("records", *COLUMNS)}
        roles = {word: str(address.setting(self._field(f"role-{word}")) or "") for word in self._role_words()}
        columns = Columns(**paths, roles=roles)
        address.put(f"{self._key}-last", columns)
        return columns

    def keep(self) -> None:
        """Keep what the fields hold for this and for all files of the same shape."""
        columns = self.columns()
        if not private():
            address.put(_KEPT, [columns, *address.setting(_KEPT, [])])
            return
        try:
            keep(data_folder(), columns)
        except InputError as error:
            address.tell(str(error))

    def forget(self) -> None:
        """Read files of this shape no longer by columns."""
        for columns in _all_kept():
            if fits(self._report.tree, columns):
                _forget(columns)

    def load(self) -> None:
        """Fill the fields in from a file of columns."""
        file = address.setting(self.upload_key)
        if file is None:
            return
        address.put(f"{self._key}-loads", address.setting(f"{self._key}-loads", 0) + 1)
        try:
            self._fill(Columns.from_json(file.getvalue()))
        except InputError as error:
            address.tell(f"{file.name}: {error}")

    def _field(self, name: str) -> str:
        return f"{self._key}-{name}"

    def _fill(self, columns: Columns) -> None:
        for name in ("records", *COLUMNS):
            address.put(self._field(name), getattr(columns, name))
        for word, role in columns.roles.items():
            address.put(self._field(f"role-{word}"), role)

    def _guess_again(self) -> None:
        self._fill(columns_at(self._report.tree, str(address.setting(self._field("records")) or "")))

    def _guess_roles(self) -> None:
        path = str(address.setting(self._field("role")) or "")
        self._fill(replace(self.columns(), role=path, roles=_meanings(role_words(self._records(), path))))

    def _records(self) -> Any:
        return sample(self._report.tree, str(address.setting(self._field("records")) or ""))

    def _role_words(self) -> list[str]:
        path = str(address.setting(self._field("role")) or "")
        return role_words(self._records(), path) if path else []


def _places(count: int, wide: int) -> Iterator[DeltaGenerator]:
    """Places for fields in rows of ``wide``, in an order that also holds on a narrow screen."""
    for start in range(0, count, wide):
        yield from st.columns(wide)[: count - start]


def _meanings(words: list[str]) -> dict[str, str]:
    return {word: role_of(word, {}) for word in words}


def _preview(report: ImportReport, columns: Columns) -> None:
    """The first messages that would come out, and what would be left out."""
    made = mapped(report, columns, first=_READ) if columns.usable else None
    if made is None or not made.traces:
        st.info(t("No message comes out of these columns yet."))
        return
    messages = made.traces[0].messages[:_SHOWN]
    st.dataframe(
        pd.DataFrame(
            {
                "role": [role_look(message.role).label for message in messages],
                "text": [cell(message_text(message)) for message in messages],
                "calls": [", ".join(call.name for call in message.tool_calls) for message in messages],
            }
        ),
        hide_index=True,
        column_config={
            "role": st.column_config.TextColumn(t("Role"), width="small"),
            "text": st.column_config.TextColumn(t("Text"), width="large"),
            "calls": st.column_config.TextColumn(t("Calls"), width="small"),
        },
        alt=t("The first messages"),
    )
    if made.unread:
        st.text("\n".join(made.unread))


def _all_kept() -> list[Columns]:
    return kept(data_folder()) if private() else list(address.setting(_KEPT, []))


def _fitting(report: ImportReport) -> Columns | None:
    return next((columns for columns in _all_kept() if fits(report.tree, columns)), None)


def _forget(columns: Columns) -> None:
    if not private():
        address.put(_KEPT, [each for each in address.setting(_KEPT, []) if each != columns])
        return
    try:
        forget(data_folder(), columns)
    except InputError as error:
        address.tell(str(error))


def _label(name: str) -> str:
    return {
        "role": t("Who speaks"),
        "content": t("The words"),
        "answer": t("The answer, where it stands beside the question"),
        "reasoning": t("The reasoning"),
        "calls": t("The tool calls"),
        "result": t("What the tool gave, where it stands beside the call"),
        "call_id": t("The id of the call that is answered"),
        "name": t("The name of the speaker or the tool"),
        "time": t("The time"),
        "model": t("The model"),
        "prompt_tokens": t("The tokens of the prompt"),
        "completion_tokens": t("The tokens of the answer"),
    }[name]
