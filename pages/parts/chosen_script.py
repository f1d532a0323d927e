"""The scripts that a run can be started with: the scenarios of the project, and those kept in the data folder.

A scenario is named by its name, a kept script by its id behind ``script:``. A name out of a file or an address is
looked up in these two lists alone and never taken for a path.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from agent.errors import InputError
from agent.scripts import Script, load_script, scenarios
from pages.parts import address
from pages.parts.data import data_folder, private
from pages.parts.options import options
from pages.parts.words import t
from traces.script_store import ScriptStore

_KEPT = "script:"


def scripts() -> ScriptStore:
    """The scripts of the data folder."""
    return ScriptStore(data_folder(), options().tools)


def kept_name(script_id: str) -> str:
    """How a kept script is named among the scenarios."""
    return f"{_KEPT}{script_id}"


def kept_id(scenario: str) -> str | None:
    """The id of a kept script; None for a scenario, and for a task of one's own."""
    return scenario.removeprefix(_KEPT) if scenario.startswith(_KEPT) else None


def kept_titles() -> dict[str, str]:
    """The kept scripts that can be played, by their name among the scenarios, the last changed first.

    On a server that others can reach only those that this browser made or was given a link to.
    """
    own = address.opened()
    infos = [info for info in scripts().list() if not info.problem and (private() or info.id in own)]
    return {kept_name(info.id): info.title for info in infos}


def find_script(scenario: str) -> Script:
    """The script of this name.

    Raises:
        InputError: there is none, or it is wrong; the text says what to do.
    """
    if (script_id := kept_id(scenario)) is None:
        return _scenario(scenario)
    path = scripts().find(script_id)
    if path is None:
        lost = t("The script of this run is not here any more: {id}", id=script_id)
        raise InputError(f"{lost}. {t('Replay the trace and continue from there: that records a script anew.')}")
    status = path.stat()
    return _loaded(path, status.st_size, status.st_mtime_ns)


@cache
def _scenario(name: str) -> Script:
    for info in scenarios():
        if info.name == name:
            return load_script(info.path)
    raise InputError(f"there is no scenario {name!r}")


@lru_cache(maxsize=32)
def _loaded(path: Path, size: int, changed_ns: int) -> Script:
    """A kept script, read once as long as its file stays the same."""
    return load_script(path, options().tools)
