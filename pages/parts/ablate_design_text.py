"""The design as a text: the same one as in the form, in the editor of the Scripts page, with its mistakes by line."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.errors import InputError
from agent.scripts.problems import Problem
from pages.parts import address_ablate, address_scripts
from pages.parts.ablate_design_draft import NAME, Draft, base, stamp, take_typed
from pages.parts.data import private
from pages.parts.mistakes import mistake_words
from pages.parts.options import options
from pages.parts.script_editor import script_editor
from pages.parts.words import t
from traces.experiments.design.file import design_problems, parse_design

MOST_SHOWN = 30
"""Mistakes that are told."""


def problems_of(draft: Draft) -> list[Problem]:
    """Everything that is wrong with a design; nothing where it can be started."""
    stamps = tuple(map(stamp, draft.experiment.subjects)) if private() else ()
    return _problems(draft.text, stamps, private(), tuple(tool.name for tool in options().tools))


def text_part(design: str, draft: Draft, problems: Sequence[Problem]) -> None:
    """Draw the text, and what is wrong with it.

    Args:
        design: its id.
        draft: the design.
        problems: what is wrong with it.
    """
    editor = address_ablate.editor_id(design)
    if address_ablate.shown(design) != draft.text:  # the form has changed it, or another tab
        address_scripts.discard(editor)
        address_ablate.show(design, draft.text)
    st.caption(
        t(
            "The same design as a file: python -m traces ablate design.yaml --out DIR runs it without the app. "
            "Paths are relative to the data folder."
        )
    )
    lines = [problem.line for problem in problems if problem.line is not None]
    script_editor(
        editor, draft.text, changed=False, lines=lines, save=lambda _: take_typed(design), label=t("Text of the design")
    )


def mistakes_line(problems: Sequence[Problem]) -> None:
    """Draw what is wrong: the first mistake, and the others on demand. It may quote the text, so it is plain."""
    count = len(problems)
    words = t("1 mistake") if count == 1 else t("{n} mistakes", n=count)
    told = list(map(_told, problems))
    st.markdown(f":red-badge[✖ {words}]", width="content")
    st.text(told[0], width="content")
    if count > 1:
        with st.popover(t("All mistakes"), type="tertiary", key="ablate-mistakes"):
            st.text("\n".join(told[:MOST_SHOWN]))
            if count > MOST_SHOWN:
                st.caption(t("and {n} more", n=count - MOST_SHOWN))


def _told(problem: Problem) -> str:
    said = mistake_words(problem)
    return said if problem.line is None else t("{thing}: {what}", thing=t("Line {n}", n=problem.line), what=said)


@st.cache_resource(max_entries=24, show_spinner=False)
def _problems(text: str, stamps: object, files: bool, own: tuple[str, ...]) -> list[Problem]:
    """Looked for once in a text, as long as its files stay as they are."""
    tools = options().tools
    found = design_problems(text, NAME, base() if files else None, tools)
    if found:
        return found
    try:
        parse_design(text, NAME, tools)
    except InputError as error:
        return [Problem(None, "", str(error).removeprefix(f"{NAME}: "))]
    return []
