"""What reading a file gave: as what it was read, what was put right, what was left out and why."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts import address
from pages.parts.words import loop_words, t
from traces.detect import formats
from traces.report import ImportReport

_DETECTED = ""
_SHOWN = 100
"""Sentences of one kind that are written out."""


def import_report(report: ImportReport, remarks: list[str]) -> None:
    """Draw one line about the file that opens to the whole report, and the choice of another format.

    Args:
        report: the file.
        remarks: what is odd about the conversation that is shown.
    """
    parts = {
        t("Lines that could not be read"): [
            t("line {n}: {why}", n=bad.line, why=loop_words(bad.error)) for bad in report.bad_lines[:_SHOWN]
        ],
        t("Left out"): report.unread,
        t("Put right while reading; the original stands beside the message"): report.repaired,
        t("Remarks"): list(dict.fromkeys([*report.warnings, *remarks])),
    }
    count = sum(map(len, parts.values())) + max(0, len(report.bad_lines) - _SHOWN)
    label = t("Read as {format}", format=_format_word(report.format))
    if len(report.traces) > 1:
        label += " · " + t("{n} conversations", n=f"{len(report.traces):,}")
    noted = t("1 remark") if count == 1 else t("{n} remarks", n=f"{count:,}")
    label += " · " + (noted if count else t("nothing was left out"))
    with st.expander(label, type="compact", icon=":material/info:" if count else ":material/check:", key="report"):
        st.text(report.file)
        for title, lines in parts.items():
            if lines:
                with st.container(gap=None):
                    st.markdown(f"**{title}**")
                    st.text("\n".join(map(loop_words, lines[:_SHOWN])))
        if hidden := count - sum(len(lines[:_SHOWN]) for lines in parts.values()):
            st.caption(t("and {n} more", n=f"{hidden:,}"))
        format_choice()


def format_choice() -> None:
    """A field to read the file as another format than the one that was found by its content."""
    key = "format-choice"
    address.put(key, address.format_override() or _DETECTED)
    st.selectbox(
        t("Read it as"),
        [_DETECTED, *formats()],
        format_func=lambda name: _format_word(name) if name else t("what its content says"),
        key=key,
        on_change=_chosen(key),
        width=320,
    )


def _chosen(key: str) -> Callable[[], None]:
    return lambda: address.choose_format(address.setting(key) or None)


def _format_word(name: str | None) -> str:
    """The name of a format as it stands; names of products are not translated."""
    return name or t("an unknown format")
