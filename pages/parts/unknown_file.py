"""A file whose shape no reader knows: what was looked for, and what is in it."""

from __future__ import annotations

import streamlit as st

from agent import jsontext
from pages.parts.import_report import format_choice
from pages.parts.mapper import mapper
from pages.parts.message_view import text_block
from pages.parts.words import loop_words, t
from traces.report import ImportReport


def unknown_file(report: ImportReport) -> None:
    """Draw why there is no conversation, the choice of a format, the form for its columns, and the JSON itself."""
    st.warning(t("No conversation was found in this file."))
    st.text("\n".join(map(loop_words, [*report.unread, *report.warnings])))
    format_choice()
    mapper(report, key=f"mapper-{report.id}")
    if report.tree is not None:
        text_block(jsontext.dumps(report.tree, indent=True), key="raw", file_name="file.json")
