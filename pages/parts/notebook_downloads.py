"""A notebook to take along: as Markdown, as one web page, and as a Jupyter notebook that runs. Secrets stay here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts.notebook_source import Source
from pages.parts.words import t, translate_loop_words
from traces.export import file_name
from traces.notebook import jupyter, markdown, page
from traces.notebook.cells import Notebook
from traces.notebook.clean import cleaned
from traces.notebook.notes import PlacedNote


def downloads(source: Source, notes: Sequence[PlacedNote]) -> None:
    """Draw the buttons. A file is made only when its button is pressed.

    Args:
        source: the notebook.
        notes: of the learner, as they are kept.
    """
    whole = source.notebook
    forms = (
        (t("Jupyter"), t("Runs from top to bottom: the loop moves phase by phase, without a model"), jupyter),
        (t("Web page"), t("One file to read offline or to print; nothing is loaded"), page),
        (t("Markdown"), t("Plain text with the pictures as lines of words"), markdown),
    )
    for label, help, form in forms:
        st.download_button(
            label,
            partial(_made, form.__name__, whole, tuple(notes), source.spoken),
            file_name=file_name(whole.trace, form.SUFFIX),
            mime=form.MIME,
            key=f"notebook-{form.__name__.rpartition('.')[2]}",
            icon=":material/download:",
            on_click="ignore",
            help=help,
        )


def _made(form: str, notebook: Notebook, notes: tuple[PlacedNote, ...], spoken: str) -> bytes:
    """The file, without secrets."""
    clean, kept = cleaned(notebook, notes)
    translate = partial(translate_loop_words, language=notebook.language)
    if form == jupyter.__name__:
        return jupyter.write(clean, kept, translate, spoken=spoken)
    if form == page.__name__:
        return page.write(clean, kept, translate)
    return markdown.write(clean, kept, translate)
