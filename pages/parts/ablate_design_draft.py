"""The design that is being written, as one text for the form and for the editor.

It is kept in the server under an id that cannot be guessed, so that a reload, another page or another language loses
nothing. The form shows the last text that could be read, and every change in it writes the text anew.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from agent.errors import InputError
from agent.ids import new_trace_id
from pages.parts import address, address_ablate, address_scripts
from pages.parts.chosen_script import kept_name, kept_titles, scripts
from pages.parts.data import data_folder, listed, private
from pages.parts.experiments import is_kept
from pages.parts.options import options
from pages.parts.setup import server_url
from pages.parts.words import t
from traces.experiments.design.experiment import Experiment, Subject
from traces.experiments.design.file import design_text, parse_design
from traces.experiments.exercise import EXERCISES
from traces.experiments.folder import EXPERIMENTS as FOLDER

NAME = "design.yaml"
"""What a design is called that has no file yet."""
MOST = 200
"""Designs kept at once; the one that nobody asked for for longest makes room."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A design that is being written."""

    experiment: Experiment
    """What the form shows: the text, or the last one that could be read."""
    text: str
    readable: bool = True
    """Whether the form shows just this text."""
    started: str | None = None
    """The id of the experiment that was started with just this text: a second press of the button leads there."""


class _Drafts:
    """All of them, the one that was asked for last at the end."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: dict[str, Draft] = {}

    def keep(self, id: str, draft: Draft) -> None:
        with self.lock:
            self.known.pop(id, None)
            self.known[id] = draft
            for oldest in list(self.known)[:-MOST]:
                del self.known[oldest]


@st.cache_resource(show_spinner=False)
def _drafts() -> _Drafts:
    return _Drafts()


def base() -> Path:
    """The folder that the paths of a design in the app are relative to."""
    return data_folder().absolute()


def relative(path: Path | str) -> str:
    """A path as a design in the app names it: relative where it is in the data folder."""
    path = Path(path).absolute()
    return path.relative_to(base()).as_posix() if path.is_relative_to(base()) else str(path)


def moved(experiment: Experiment, folder: Path) -> Experiment:
    """A design whose paths are relative to a folder, as the app names them."""

    def there(subject: Subject) -> Subject:
        script, trace = (path and relative(folder / path) for path in (subject.script, subject.trace))
        return replace(subject, script=script, trace=trace)

    return replace(experiment, subjects=tuple(map(there, experiment.subjects)))


def begin(experiment: Experiment) -> str:
    """Keep a new design; gives its id."""
    return begin_text(design_text(experiment), experiment)


def begin_text(text: str, experiment: Experiment) -> str:
    """Keep a new design that was written as a text.

    Args:
        text: of the design.
        experiment: what the form shows as long as the text cannot be read.
    """
    id = new_trace_id()
    address.opened().add(id)
    _drafts().keep(id, _read(text, experiment))
    return id


def find(id: str) -> Draft | None:
    """The design of this id; None where there is none, or none any more."""
    draft = _drafts().known.get(id)
    if draft is None or private() or id in address.opened():
        return draft
    address.opened().add(id)
    return _without_servers(id, draft)


def text_now(id: str) -> str:
    """The text of a design, also for who asks outside of a session; empty where it is gone."""
    draft = _drafts().known.get(id)
    return draft.text if draft is not None else ""


def write(id: str, text: str) -> None:
    """Let a design be this text. One that cannot be read leaves the form as it is."""
    if (draft := find(id)) is not None and text != draft.text:
        _drafts().keep(id, _read(text, draft.experiment))


def change(id: str, make: Callable[[Experiment], Experiment]) -> None:
    """Change a design through the form; what makes no sense is told and changes nothing.

    Args:
        id: of the design.
        make: gives the changed design.
    """
    take_typed(id)
    if (draft := find(id)) is None:
        return
    try:
        experiment = make(draft.experiment)
        _drafts().keep(id, Draft(experiment, design_text(experiment)))
    except InputError as error:
        address.tell(str(error))
    except IndexError:  # what was drawn here is not there any more
        address.tell(t("This design was changed in another tab meanwhile. Nothing was changed here."))


def set_fields(id: str, **fields: Any) -> None:
    """Change some fields of a design."""
    change(id, lambda experiment: replace(experiment, **fields))


def mark_started(id: str, experiment: str) -> None:
    """An experiment was started with the text as it stands."""
    if (draft := find(id)) is not None:
        _drafts().keep(id, replace(draft, started=experiment))


def take_typed(id: str) -> None:
    """Take over what the editor of this session has told and the page has not used yet."""
    editor = address_ablate.editor_id(id)
    typed = address_scripts.drafts().get(editor)
    if typed is None:
        return
    address_scripts.settle(editor, typed)
    address_ablate.show(id, typed)
    write(id, typed)


def may_read(experiment: Experiment) -> None:
    """Refuse what this browser may not see. A design is text that anybody may have written, and names files.

    Raises:
        InputError: a subject is a file that is not listed for this browser.
    """
    if private():
        return
    seen = {Path(info.path).resolve() for info in listed(experiments=True)}
    seen |= {info.path.resolve() for info in scripts().list() if kept_name(info.id) in kept_titles()}
    folders = [EXERCISES, *(base() / FOLDER / id for id in address.opened() if is_kept(id))]
    for subject in experiment.subjects:
        name = subject.trace or subject.script
        path = (base() / name).resolve()
        if name and path not in seen and not any(path.is_relative_to(folder.resolve()) for folder in folders):
            said = t("On this server a design can name only what its library lists for you.")
            raise InputError(f"{subject.name}: {said}")


def stamp(subject: Subject) -> tuple[int, int] | None:
    """Size and time of the file of a subject, by which one knows whether it has changed; None: it has no file."""
    path = subject.trace or subject.script
    try:
        status = (base() / path).stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if path else None


def _read(text: str, otherwise: Experiment) -> Draft:
    try:
        return Draft(parse_design(text, NAME, options().tools), text)
    except InputError:
        return Draft(otherwise, text, readable=False)


def _without_servers(id: str, draft: Draft) -> Draft:
    """A design of somebody else's, without the addresses of its servers: nobody is to type a key for a stranger's."""
    own = server_url("", os.environ)
    models = tuple(
        each if server_url(each.base_url, os.environ) == own else replace(each, base_url="")
        for each in draft.experiment.models
    )
    if models == draft.experiment.models:
        return draft
    experiment = replace(draft.experiment, models=models)
    cleaned = Draft(experiment, design_text(experiment))
    _drafts().keep(id, cleaned)
    return cleaned
