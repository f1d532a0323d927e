"""The field in which a script is written: line numbers, marked lines, and what is typed is known without a button."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from pages.parts import address_scripts
from pages.parts.words import t

MOST_MARKS = 50
"""Lines that are marked at once."""


def _file(suffix: str) -> str:
    return Path(__file__).with_name(f"editor.{suffix}").read_text(encoding="utf-8")


_EDITOR = st.components.v2.component(
    "script_editor",
    html=_file("html"),
    css=_file("css"),
    js=_file("js"),
    isolate_styles=False,  # in a shadow root the page cannot tell that somebody types, and takes letters for shortcuts
)


def script_editor(
    script: str,
    text: str,
    *,
    changed: bool,
    lines: Sequence[int],
    save: Callable[[str], None],
    label: str | None = None,
    hint: str | None = None,
    indent: int = 2,
) -> None:
    """Draw the field.

    Args:
        script: the id of the script.
        text: what stands there; the field takes it over where its version is a new one.
        changed: whether it is not saved.
        lines: the lines to mark, from 1.
        save: called with the id when Ctrl+S was pressed.
        label: what the field is called, for who does not see it; None: the text of the script.
        hint: what its keys do, said below it; None: that of a field that can be saved.
        indent: how many spaces the key Tab writes.
    """
    command = address_scripts.command()
    _EDITOR(
        key=address_scripts.editor_key(script),
        data={
            "id": script,
            "text": text,
            "version": address_scripts.version(script),
            "forgotten": address_scripts.forgotten(),
            "changed": changed,
            "marks": list(lines[:MOST_MARKS]),
            "command": asdict(command) if command else None,
            "label": label or t("Text of the script"),
            "indent": indent,
            "hint": hint or t("Tab: two spaces · Ctrl+S: save · Esc, then Tab: leave the field"),
        },
        on_edit_change=lambda: address_scripts.take_edit(script),
        on_save_change=lambda: _save(script, save),
    )


def _save(script: str, save: Callable[[str], None]) -> None:
    if address_scripts.take_save(script) is not None:
        save(script)
