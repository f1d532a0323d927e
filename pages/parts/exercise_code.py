"""A learner's program: the editor, the button that runs it, and the wait until it has run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.parts import address, address_scripts, exercise_state
from pages.parts.exercise_state import Job
from pages.parts.script_editor import script_editor
from pages.parts.words import t
from traces.lessons.exercises.remark import Remark

_POLL_S = 0.4
_PRINTED_PX = 140
_INDENT = 4
"""Spaces: mixed with another number, Python would refuse the program."""
_RUNNING = "exercise-running"


def written(name: str, starter: str) -> str:
    """The program as it stands in the editor; the starter where nothing was written."""
    text = address_scripts.written(f"exercise-{name}")
    return starter if text is None else text


def busy() -> bool:
    """Whether a program of this session runs: one at a time. Asked once for a page, before what the last run gave."""
    job: Job[Any] | None = address.draft(_RUNNING, None)
    return job is not None and not job.done


def program(
    name: str,
    starter: str,
    remarks: Sequence[Remark],
    prepare: Callable[[str], Callable[[], Any]],
    *,
    words: str,
    busy: bool,
) -> None:
    """Draw the editor, and the button that runs the program.

    Args:
        name: of the exercise.
        starter: what stands in the editor at first.
        remarks: what is wrong with the program that ran last; their lines are marked.
        prepare: gives what runs a program; that takes seconds and is called in a thread of its own.
        words: what the editor is called.
        busy: whether a program runs, as for the rest of the page.
    """
    id = f"exercise-{name}"
    address_scripts.take_edit(id)
    text = written(name, starter)
    job = exercise_state.progress(name).job
    same = job is not None and job.done and job.subject == text
    lines = [remark.line for remark in remarks if remark.line is not None] if same else []
    start = _starter(name, starter, prepare)
    script_editor(
        id,
        text,
        changed=text != starter,
        lines=lines,
        save=lambda _: start(),
        label=words,
        hint=_hint(),
        indent=_INDENT,
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            t("Run it"),
            key="exercise-run",
            icon=":material/play_arrow:",
            type="primary",
            disabled=busy,
            on_click=start,
        )
        if busy:
            _watch()
        elif job is not None and job.subject != text:
            st.caption(t("The program has changed since. Run it once more."), width="content")


def last_result(name: str) -> Any:
    """What the last run that is over gave; None where there is none, or it gave nothing."""
    now = exercise_state.progress(name)
    return now.job.result if now.job is not None and now.job.done else now.before


def printed_box(text: str) -> None:
    """Draw what a program printed; nothing where it printed nothing."""
    if text:
        st.caption(t("Printed by your program"))
        with st.container(height=_PRINTED_PX, border=False, key="exercise-printed"):
            st.code(text, language=None, wrap_lines=True)


def reset(name: str) -> None:
    """Let the starter stand in the editor."""
    address_scripts.discard(f"exercise-{name}")


def _starter(name: str, starter: str, prepare: Callable[[str], Callable[[], Any]]) -> Callable[[], None]:
    def start() -> None:
        if not busy():
            text, before = written(name, starter), last_result(name)
            job = Job(text, prepare(text))
            address.keep_draft(_RUNNING, job)
            exercise_state.change(name, job=job, before=before)

    return start


def _hint() -> str:
    return t("Tab: four spaces · Ctrl+S: run it · Esc, then Tab: leave the field")


@st.fragment(run_every=_POLL_S)
def _watch() -> None:
    if not busy():
        st.rerun()
    st.markdown(f":blue-badge[● {t('It runs …')}]")
