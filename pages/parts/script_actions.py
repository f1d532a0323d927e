"""What the buttons of the Scripts page do: save, save as a new one, delete and bring back, run in the stepper."""

from __future__ import annotations

import json
import re
from functools import cache

import streamlit as st

from agent.errors import AgentError, InputError
from agent.scripts import scenarios, source
from pages.parts import address, address_scripts
from pages.parts.chosen_script import kept_name, scripts
from pages.parts.data import private
from pages.parts.script_reading import read_text, too_long
from pages.parts.words import t

_TITLE = re.compile(r"^title:.*$", re.MULTILINE)
_TITLE_ZH = re.compile(r"^title_zh:.*\n", re.MULTILINE)
_LONGEST_NAME = 200


def bundled(script: str) -> bool:
    """Whether this script comes with the project, so that only a copy of it can be saved."""
    return script in _bundled()


@cache
def _bundled() -> frozenset[str]:
    return frozenset(info.name for info in scenarios())


def saved_text(script: str) -> str | None:
    """The text as it is kept; empty for a new script, None where there is no such script.

    Raises:
        InputError: its file cannot be read.
    """
    if address_scripts.is_new(script):
        return ""
    if bundled(script):
        return _bundled_text(script)
    return scripts().read(script) if scripts().find(script) is not None else None


@cache
def _bundled_text(script: str) -> str:
    return source.text_of(next(info.path for info in scenarios() if info.name == script))


def text_of(script: str) -> str:
    """The text as it stands in the editor.

    Raises:
        InputError: its file cannot be read.
    """
    written = address_scripts.written(script)
    return written if written is not None else saved_text(script) or ""


def title_of(text: str) -> str:
    """The title that a script gives itself; empty where it cannot be read, or has none."""
    script = None if too_long(text) else read_text(text).script
    return script.title if script is not None and script.title != script.name else ""


# ---- what callbacks do ----


def begin(text: str) -> None:
    """Open a new script with this text."""
    script = address_scripts.new_id()
    address_scripts.write(script, text)
    address_scripts.open_script(script)


def save(script: str) -> None:
    """Save the text of the editor; what hinders that is told."""
    save_text(script)


def save_text(script: str) -> str | None:
    """Save the text of the editor: in its own place, or as a new script where it has none.

    What another tab has saved there meanwhile is replaced only after the page has said so. Gives the id of the script,
    or None where it was not saved, which is told.
    """
    if bundled(script) or address_scripts.is_new(script):
        return save_new(script)
    try:
        text = text_of(script)
        if not address_scripts.may_replace(script, saved_text(script)):
            address.tell(t("It was not saved: the script has changed meanwhile."))
            return None
        scripts().save("", text, id=script)
    except (AgentError, OSError) as error:
        address.tell(str(error))
        return None
    address_scripts.settle(script, text)
    address_scripts.begin_from(script, text)
    st.toast(t("Saved."), icon=":material/check:")
    return script


def save_new(script: str, name: str | None = None) -> str | None:
    """Save the text of the editor as a new script and open that; gives its id, or None where it cannot be saved.

    Args:
        script: whose text it is; that script stays as it was saved.
        name: a title for the new one; None: it keeps its own.
    """
    try:
        text = text_of(script)
        text = with_title(text, name) if name else text
        new = scripts().save(name or title_of(text) or "script", text)
    except (AgentError, OSError) as error:
        address.tell(str(error))
        return None
    address_scripts.discard(script)
    address_scripts.open_script(new)
    st.toast(t("Saved as a new script."), icon=":material/check:")
    return new


def save_named(script: str) -> None:
    """Save under the name that was typed."""
    name = " ".join(str(address.setting(address_scripts.NAME) or "").split())[:_LONGEST_NAME]
    save_new(script, name or None)


def with_title(text: str, title: str) -> str:
    """The text with another title, where that can be done in one line; else as it is."""
    line = f"title: {json.dumps(title, ensure_ascii=False)}"
    if title_of(text) == title or too_long(text):
        return text
    others = _TITLE_ZH.sub("", text)
    changed = _TITLE.sub(lambda _: line, others, count=1) if _TITLE.search(others) else f"{line}\n{others}"
    return changed if title_of(changed) == title else text


def delete(script: str) -> None:
    """Move a script into the trash and show the list."""
    title = title_of(text_of(script)) or script
    try:
        address_scripts.DELETED.note(scripts().delete(script), title)
    except AgentError as error:
        address.tell(str(error))
        return
    address_scripts.discard(script)
    address_scripts.close_script()


def undo_delete() -> None:
    """Bring back what was deleted last."""
    last = address_scripts.DELETED.get()
    if last is None:
        return
    address_scripts.DELETED.forget()
    try:
        scripts().restore(last[0])
    except AgentError as error:
        address.tell(str(error))


def may_delete(script: str) -> bool:
    """A server that others can reach deletes nothing: whose script it is cannot be told there."""
    return private() and not bundled(script) and not address_scripts.is_new(script)


def take_upload() -> None:
    """Open the file of the field as a new script."""
    file = address.setting(address_scripts.UPLOADS.field)
    address_scripts.UPLOADS.count()
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        address.tell(t("{name}: a script is UTF-8 text, and this file is not.", name=file.name))
    else:
        begin(text.replace("\r\n", "\n"))


def scenario_of(script: str, text: str) -> str | None:
    """The name under which the Run page knows the script with this text, which is saved first where it is not yet.

    None where it cannot be saved, which is told.
    """
    try:
        unsaved = text != saved_text(script)
    except InputError as error:
        address.tell(str(error))
        return None
    if bundled(script) and not unsaved:
        return script
    kept = save_text(script) if unsaved else script
    return kept_name(kept) if kept else None
