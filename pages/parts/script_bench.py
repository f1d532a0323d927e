"""One script: its text, what is wrong with it, what it does, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from agent.scripts import Script
from pages.parts import address, address_scripts
from pages.parts.leaving import leave
from pages.parts.script_actions import (
    bundled,
    delete,
    may_delete,
    save,
    save_named,
    saved_text,
    scenario_of,
    text_of,
    title_of,
)
from pages.parts.script_compare import recording_panel
from pages.parts.script_editor import script_editor
from pages.parts.script_help import format_help
from pages.parts.script_play import Played
from pages.parts.script_preview import by_hand_badge, preview, rules_table
from pages.parts.script_problems import problems_panel
from pages.parts.script_reading import Reading, read_text, too_long
from pages.parts.setup import Setup, default_guards, default_steps
from pages.parts.setup_form import show_setup
from pages.parts.words import t

_NAMES = "script-names"
_ASKED = "script-asked"


def script_bench(script: str) -> None:
    """Draw the script of this id.

    Raises:
        InputError: its file cannot be read.
    """
    saved = saved_text(script)
    if saved is None:
        _head(script, None, changed=False)
        st.warning(t("There is no script with the id in the address."))
        return
    text = _written(script, saved)
    changed = text != saved
    if not changed:
        address_scripts.settle(script, saved)
        address_scripts.begin_from(script, saved)
    reading = _reading(script, text)
    with st.container(key="script-bench"):  # the style sheet knows it by this key
        _head(script, _last_read(script, reading), changed=changed)
        _actions(script, text, reading, changed=changed)
        if address_scripts.begun_from(script) not in (None, saved):
            address_scripts.tell_saved_elsewhere(script, saved)
            st.warning(_saved_elsewhere(), icon=":material/sync_problem:")
        left, right = st.columns([3, 2], gap="medium")
        with left:
            lines = [problem.line for problem in reading.problems if problem.line] if reading else []
            script_editor(script, text, changed=changed, lines=lines, save=save)
        with right:
            played = _side(script, text, reading)
    if played is not None and played.spoke:
        rules_table(played.spoke)
    if reading is not None and reading.script is not None:
        recording_panel(text, reading.script)


def _written(script: str, saved: str) -> str:
    """The text in the editor. Where nothing was written, it follows what another tab has saved."""
    address_scripts.take_edit(script)
    text, begun = text_of(script), address_scripts.begun_from(script)
    if begun in (None, saved) or text not in (begun, saved):
        return text
    address_scripts.discard(script)
    return saved


def _saved_elsewhere() -> str:
    return t(
        "This script was saved elsewhere while you were writing. Save replaces that text, Save as new keeps both, "
        "Discard changes shows it."
    )


def _reading(script: str, text: str) -> Reading | None:
    """What the text is; None for a long one that nobody asked to be read yet."""
    if too_long(text) and address.draft(_ASKED, "") != text:
        return None
    reading = read_text(text)
    if reading.script is not None:
        address_scripts.keep_readable(script, text)
    return reading


def _title(script: str, read: Script | None) -> str:
    if read is not None and read.title != read.name:
        return read.title_zh if read.title_zh and address.language() == "zh" else read.title
    return t("New script") if address_scripts.is_new(script) else script


def _last_read(script: str, reading: Reading | None) -> Script | None:
    """The script as it was when it could last be played, which is now for most."""
    if reading is not None and reading.script is not None:
        return reading.script
    last = address_scripts.readable(script)
    return read_text(last).script if last is not None else None


def _head(script: str, read: Script | None, *, changed: bool) -> None:
    """The way back, the title, and what is to be known about the script at all times."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            t("All scripts"), icon=":material/arrow_back:", key="scripts-all", on_click=address_scripts.close_script
        )
        st.text(_title(script, read)[:120], width="content")
        if bundled(script):
            st.markdown(f":blue-badge[{t('bundled')}]", width="content")
        if changed:
            st.markdown(f":orange-badge[● {t('not saved')}]", width="content")
        if read is not None and read.rules:
            by_hand_badge()


def _actions(script: str, text: str, reading: Reading | None, *, changed: bool) -> None:
    playable = reading is not None and reading.script is not None
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="script-actions"):
        run = st.button(
            t("Run in the stepper"),
            icon=":material/play_circle:",
            type="primary",
            key="script-run",
            disabled=not playable,
            help=None if playable else t("The script cannot be played yet."),
        )
        st.button(
            t("Save"),
            icon=":material/save:",
            key="script-save",
            disabled=bundled(script) or not changed,
            help=t("A bundled script can only be saved as a new one.") if bundled(script) else None,
            on_click=save,
            args=(script,),
        )
        with st.popover(t("Save as new"), icon=":material/save_as:", key=_NAMES, on_change="rerun") as names:
            if names.open:
                _save_as(script, text)
        st.download_button(
            t("Download"),
            data=lambda: text_of(script).encode("utf-8", "replace"),
            file_name=f"{script}.json" if text.startswith("{") else f"{script}.yaml",
            mime="text/plain",
            icon=":material/download:",
            on_click="ignore",
            key="script-download",
        )
        if changed:
            st.button(
                t("Discard changes"),
                icon=":material/undo:",
                type="tertiary",
                key="script-discard",
                on_click=_discard,
                args=(script,),
            )
        if may_delete(script):
            st.button(t("Delete"), icon=":material/delete:", key="script-delete", on_click=delete, args=(script,))
    if run:
        if (scenario := scenario_of(script, text)) is None:
            st.rerun()  # what was told is shown above
        address.close_run()
        show_setup(Setup(scenario, max_steps=default_steps(scenario), guards=default_guards(scenario)))
        leave(address_scripts.PAGE, "pages/run.py", {address.SCENARIO: scenario})


def _save_as(script: str, text: str) -> None:
    title = title_of(text)
    kept = not address_scripts.is_new(script)
    address.seed(address_scripts.NAME, t("{title} (copy)", title=title) if kept and title else title)
    st.text_input(t("Title of the new script"), key=address_scripts.NAME, max_chars=200)
    st.button(
        t("Save as new"),
        type="primary",
        key="script-save-as",
        on_click=save_named,
        args=(script,),
    )


def _discard(script: str) -> None:
    address_scripts.discard(script)
    if address_scripts.is_new(script):
        address_scripts.close_script()


def _side(script: str, text: str, reading: Reading | None) -> Played | None:
    """What is wrong, what happens, and the format. Gives what happens, where that is shown."""
    if reading is None:
        st.caption(t("This text is long. Checking it takes some seconds, so it waits for a press."))
        st.button(t("Check it"), icon=":material/rule:", key="script-check", on_click=_check, args=(script,))
    else:
        problems_panel(reading)
    shown, help_ = st.tabs([t("Preview"), t("Format")], key="script-tabs", on_change="rerun")
    if help_.open:
        with help_:
            format_help()
    if not shown.open:
        return None
    with shown:
        return _preview(script, text, reading.script if reading else None)


def _check(script: str) -> None:
    address.keep_draft(_ASKED, text_of(script))


def _preview(script: str, text: str, read: Script | None) -> Played | None:
    """The preview of the text, or of the last one that could be played, so that the page stays calm while one types."""
    if read is not None:
        return preview(script, text, read, stale=False)
    last = address_scripts.readable(script)
    before = read_text(last).script if last is not None else None
    if last is None or before is None:
        st.caption(t("The preview comes as soon as the script can be played."))
        return None
    return preview(script, last, before, stale=True)
