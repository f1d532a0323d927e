"""The menu that hands out a trace in other forms: which, what each leaves out, and which secrets are taken out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from agent.trace import Trace
from pages.parts import address
from pages.parts.words import loop_words, t
from traces.bundle import MIME as BUNDLE_MIME
from traces.bundle import SUFFIX as BUNDLE_SUFFIX
from traces.bundle import bundle
from traces.export import export, file_name, find_exporter, formats
from traces.redacting import Removed, without_secrets
from traces.report import ImportReport
from traces.selecting import select_steps

_SHOWN = 50
"""Secrets named one by one."""


def export_menu(
    trace: Trace, report: ImportReport | None = None, *, key: str, notebook: dict[str, str] | None = None
) -> None:
    """Draw the menu. A file is made only when its button is pressed.

    Args:
        trace: what to hand out.
        report: of the file that it was read from; it goes into the bundle.
        key: begins the keys of the widgets.
        notebook: the parameters of the link to its notebook; None: there is no such link.
    """
    menu = st.popover(t("Export"), icon=":material/download:", key=f"{key}-menu", on_change="rerun")
    if not menu.open:
        return
    with menu:
        if notebook is not None:
            st.page_link(
                "pages/notebook.py",
                label=t("Notebook: cell by cell, with notes of your own"),
                icon=":material/book_2:",
                query_params=notebook,
            )
        whole, trace = trace, _selected(trace, key)
        steps = (trace.steps[0].index, trace.steps[-1].index) if trace.steps else None
        which = (id(whole), whole.trace_id, len(whole.messages), len(whole.steps), steps)
        removed = _taken_out(trace, which)
        st.caption(t("Secrets are taken out of every file: {n} here.", n=len(removed)))
        if removed:
            with st.expander(t("What is taken out"), type="compact"):
                st.text("\n".join(map(_line, removed[:_SHOWN])))
                if len(removed) > _SHOWN:
                    st.caption(t("and {n} more", n=len(removed) - _SHOWN))
        with st.container(gap="xsmall"):
            _buttons(trace, report, _left_out(trace, which), key)


def _buttons(trace: Trace, report: ImportReport | None, lost: dict[str, list[str]], key: str) -> None:
    """A button for each form, and below it what the form has no place for."""
    words = _words()
    for name in formats():
        exporter = find_exporter(name)
        file = file_name(trace, exporter.SUFFIX)
        label, help = words[name]
        make = partial(_export, trace, name, address.language())
        _button(label, help, make, file, exporter.MIME, f"{key}-{name}")
        if lost[name]:
            what = "; ".join(map(loop_words, lost[name]))
            st.caption(t("Not in this form as it was: {what}", what=what))
    label, help = words["bundle"]
    make = partial(_bundle, trace, report)
    _button(label, help, make, file_name(trace, BUNDLE_SUFFIX), BUNDLE_MIME, f"{key}-bundle")


@st.cache_resource(max_entries=8, show_spinner=False)
def _taken_out(_trace: Trace, which: tuple[object, ...]) -> list[Removed]:
    """The secrets of a trace, looked for once: the menu is drawn again at every press, and 50 MB take seconds."""
    return without_secrets(_trace)[1]


@st.cache_resource(max_entries=8, show_spinner=False)
def _left_out(_trace: Trace, which: tuple[object, ...]) -> dict[str, list[str]]:
    """What each form has no place for, looked for once as well."""
    return {name: find_exporter(name).losses(_trace) for name in formats()}


def _selected(trace: Trace, key: str) -> Trace:
    """The trace, or some of its steps where fewer are wanted."""
    indexes = [step.index for step in trace.steps]
    if len(indexes) < 2 or len(set(indexes)) < len(indexes):
        return trace
    # A choice of first and last takes effect at once, so no button can be pressed before it does.
    first, last = st.select_slider(
        t("Steps to hand out"), indexes, value=(indexes[0], indexes[-1]), key=f"{key}-steps-{trace.trace_id}"
    )
    if (first, last) == (indexes[0], indexes[-1]):
        return trace
    return select_steps(trace, set(indexes[indexes.index(first) : indexes.index(last) + 1]))


def _button(label: str, help: str, make: Callable[[], bytes], file: str, mime: str, key: str) -> None:
    st.download_button(label, make, file_name=file, mime=mime, key=key, on_click="ignore", help=help, width="stretch")


def _export(trace: Trace, name: str, language: str) -> bytes:
    return export(trace, name, language=language).data


def _bundle(trace: Trace, report: ImportReport | None) -> bytes:
    return bundle(trace, report).data


def _line(item: Removed) -> str:
    size = "?" if item.length is None else f"{item.length:,}"
    return t("{kind}, {size} characters: {where}", kind=item.kind, size=size, where=item.where)


def _words() -> dict[str, tuple[str, str]]:
    """Name and explanation of each form, in the language of the session."""
    return {
        "html": (t("Web page (HTML)"), t("One file that opens offline, with its own search; nothing is loaded")),
        "native": (t("Trace (JSON)"), t("The native file, which reads back as the same trace")),
        "openai": (t("OpenAI messages"), t("Model, messages and tools, ready to be sent to any compatible server")),
        "atif": (t("ATIF 1.7"), t("The trajectory format of Harbor and Terminal-Bench 2")),
        "csv": (t("Table (CSV)"), t("One row a message; cells that a spreadsheet would run are made text")),
        "markdown": (t("Transcript (Markdown)"), t("Text of the trace stands in code blocks alone")),
        "notebook": (t("Notebook (Jupyter)"), t("Holds the trace and its tables; needs pandas alone")),
        "script": (
            t("Script (YAML)"),
            t("Says the run again without a model: its replies, its results and its limits"),
        ),
        "pytest": (
            t("Regression test (zip)"),
            t("A pytest file and its script; passes as it is and fails when the loop changes"),
        ),
        "bundle": (
            t("Bug report (zip)"),
            t("The trace, its findings, the import report and versions, for someone else"),
        ),
    }
