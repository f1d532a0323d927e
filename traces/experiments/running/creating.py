"""A new experiment becomes a folder: its design, copies of what that names, and with what it was made.

The design is written last, so that a folder that holds one is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from agent import clock, jsontext
from agent.errors import InputError
from agent.ids import new_trace_id
from traces.experiments.design.experiment import Budget, Experiment, Subject
from traces.experiments.design.file import design_text
from traces.experiments.design.no_keys import checked_address
from traces.experiments.folder import Folder
from traces.keeping import write_whole
from traces.versions import versions

_ID = re.compile(r"[0-9a-f]{12}")
_PACKAGES = ("openai", "pydantic", "jsonschema-rs", "orjson", "PyYAML", "scipy", "distributed")
_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = ("agent", "traces")
"""The parts of the program that decide what comes out of a run."""
_SOURCES = (".py", ".yaml")
_DATA = _ROOT / "traces" / "saved"
"""Where a clone keeps its data; no part of the program."""


@dataclass(frozen=True, slots=True)
class State:
    """What stands beside a design: ``state.json``."""

    id: str
    """Twelve hex digits that cannot be guessed; the ids of the traces are made of it."""
    created: str
    """Wall-clock time, ISO 8601."""
    made_with: dict[str, str | None] = field(default_factory=dict)
    """Versions of Python and of packages, and a hash of this program."""
    subjects: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each copy in the folder, by its path there."""
    ended: Literal["done", "cancelled"] | None = None
    """None: it has not ended."""
    remark: str = ""
    """Why it ended before all runs were made."""


def create(folder: Path, experiment: Experiment, base: Path) -> Folder:
    """Make the folder of an experiment.

    Args:
        folder: its path; it is made, and holds no experiment yet. Where its name is an id, that is the experiment's.
        experiment: the design.
        base: the folder that the paths in the design are relative to.

    Raises:
        InputError: something that the design names cannot be read, the address of a server holds a password, or the
            folder cannot be written.
    """
    made = Folder(folder)
    if made.design.exists():
        raise InputError(f"{folder} holds an experiment already; choose another folder")
    for spec in experiment.models:
        if spec.base_url:
            checked_address(spec.base_url)
    moved, copies = _carried(experiment, base)
    for name, data in copies.items():
        write_whole(folder / name, data)
    id = folder.name if _ID.fullmatch(folder.name) else new_trace_id()
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in copies.items()}
    write_state(made, State(id, clock.now(), {"program": _program(), **versions(_PACKAGES)}, hashes))
    write_whole(made.design, design_text(moved).encode())
    return made


def read_state(folder: Folder) -> State:
    """What ``state.json`` says.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return msgspec.convert(json.loads(folder.state.read_bytes()), State)
    except OSError as error:
        what = "without it the folder is no experiment; start it anew from its design"
        raise InputError(f"{folder.state} cannot be read: {error.strerror or error}; {what}") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise InputError(f"{folder.state} is damaged ({error}); start the experiment in a new folder") from error


def check_subjects(folder: Folder, state: State) -> None:
    """See that the copies are still what the runs so far were made of.

    Raises:
        InputError: one of them was changed; the text names it.
    """
    for name, digest in state.subjects.items():
        path = folder.path / name
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise InputError(
                f"{path} is not what the experiment began with, so its runs would not belong together; "
                "put the old file back, or start a new experiment"
            )


def write_state(folder: Folder, state: State) -> None:
    """Write ``state.json``, whole or not at all.

    Raises:
        InputError: the folder cannot be written.
    """
    data = {each.name: getattr(state, each.name) for each in fields(State)}
    write_whole(folder.state, jsontext.dumps(data, indent=True).encode() + b"\n")


def set_budget(folder: Folder, experiment: Experiment, budget: Budget) -> None:
    """Give an experiment another budget: the one thing of a design that changes no run.

    Raises:
        InputError: the folder cannot be written.
    """
    write_whole(folder.design, design_text(replace(experiment, budget=budget)).encode())


def fingerprint(experiment: Experiment, base: Path) -> str:
    """The same for two designs that ask for the same runs, wherever the files are that they name.

    The budget may differ.

    Raises:
        InputError: one of the files cannot be read.
    """
    moved, copies = _carried(experiment, base)
    moved = replace(moved, budget=Budget())
    parts = [design_text(moved).encode(), *(data for name in sorted(copies) for data in (name.encode(), copies[name]))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _carried(experiment: Experiment, base: Path) -> tuple[Experiment, dict[str, bytes]]:
    """The design with its files in the folder of the experiment, and these files by their paths there."""
    names: dict[Path, str] = {}
    copies: dict[str, bytes] = {}
    subjects = []
    for subject in experiment.subjects:
        if named := subject.script or subject.trace:
            path = (base / named).resolve()
            if path not in names:
                names[path] = _free_name(path.name, copies)
                copies[names[path]] = _content(subject, path)
            copy = names[path]
            subject = replace(subject, script=copy) if subject.script else replace(subject, trace=copy)
        subjects.append(subject)
    return replace(experiment, subjects=tuple(subjects)), copies


def _free_name(name: str, taken: dict[str, bytes]) -> str:
    number, free = 1, f"subjects/{name}"
    while free in taken:
        number += 1
        free = f"subjects/{number}-{name}"
    return free


def _content(subject: Subject, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the subject {subject.name!r}: {path} cannot be read: {error.strerror or error}; "
            "name a file that is there, relative to the design"
        ) from error


@cache
def _program() -> str:
    """A short hash of this program: two experiments with the same one were run by the same code."""
    found = hashlib.sha256()
    for part in _PROGRAM:
        for where, folders, files in os.walk(_ROOT / part):
            folders[:] = sorted(name for name in folders if Path(where, name) != _DATA)
            for path in (Path(where, name) for name in sorted(files) if name.endswith(_SOURCES)):
                found.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]
