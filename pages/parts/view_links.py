"""The view link of a run: an id that leads to the run for looking alone, and from which nobody gets to the run's own.

It is a hash of the run's id with a key of this data folder. Without the key nobody can try out all ids of runs, however
fast a machine of theirs is. The way back is a search through the runs that are open here or saved in the folder.
"""

from __future__ import annotations

import base64
import hmac
import re
import secrets
import threading
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import streamlit as st

from agent.errors import AgentError
from pages.parts.data import data_folder
from pages.parts.resuming import revived
from pages.parts.runs import OpenRun, registry
from traces.keeping import write_new

KEY_FILE = ".view-key"
"""Of the data folder. Its name begins with a dot, so the list of traces passes it by."""
_KEY_BYTES = 32
_TRIES, _TRY_S = 20, 0.02
"""How often, and after how many seconds each time, a key is looked for that another server is about to write."""
_ID_BYTES = 15
"""Bytes of the hash that a view id holds: 24 characters, and nothing to guess."""
_VIEW_ID = re.compile(r"[a-z2-7]{24}")
_SAVED = re.compile(r"([0-9a-f]{12})\.jsonl?")


def view_id(run_id: str) -> str:
    """The id by which a run can be looked at; it says nothing about the run's own. The first one makes the key."""
    return _views(data_folder()).id_of(run_id)


def find_viewed(view: str) -> OpenRun | None:
    """The run that a view id leads to: open in this server, or found on its disk. None: there is none any more."""
    run_id = _views(data_folder()).find(view) if _VIEW_ID.fullmatch(view) else None
    if run_id is None:
        return None
    if (run := registry().find(run_id)) is not None:
        return run
    with suppress(AgentError, OSError):  # what is wrong may name the file, and with it the run's id
        return revived(run_id)
    return None


class _Views:
    """The view ids of a data folder. Every method may be called from any session's thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key: bytes | None = None
        self._runs: dict[str, str] = {}
        self._changed_ns = -1
        self._lock = threading.Lock()

    def id_of(self, run_id: str) -> str:
        with self._lock:
            if self._key is None:
                self._key = _read_key(self._folder) or _new_key(self._folder)
            return self._hash(self._key, run_id)

    def find(self, view: str) -> str | None:
        """The id of the run; what is not known yet is looked for among the open ones, then in the folder."""
        with self._lock:
            if self._key is None and (found := _read_key(self._folder)) is not None:
                self._key = found
            if self._key is None:
                return None
            if view not in self._runs:
                self._note(self._key, [run.id for run in registry().listed()])
            if view not in self._runs:
                self._note(self._key, self._saved())
            return self._runs.get(view)

    def _note(self, key: bytes, run_ids: list[str]) -> None:
        self._runs |= {self._hash(key, run_id): run_id for run_id in run_ids}

    def _saved(self) -> list[str]:
        """The ids of the runs in the folder; none where nothing has come since the last time."""
        try:
            changed_ns = self._folder.stat().st_mtime_ns
            if changed_ns == self._changed_ns:
                return []
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        self._changed_ns = changed_ns
        return [saved[1] for name in names if (saved := _SAVED.fullmatch(name))]

    @staticmethod
    def _hash(key: bytes, run_id: str) -> str:
        digest = hmac.new(key, run_id.encode(), sha256).digest()[:_ID_BYTES]
        return base64.b32encode(digest).decode().lower()


@st.cache_resource(max_entries=4, show_spinner=False)
def _views(folder: Path) -> _Views:
    return _Views(folder)


def _read_key(folder: Path) -> bytes | None:
    with suppress(OSError):
        key = (folder / KEY_FILE).read_bytes()
        return key if len(key) == _KEY_BYTES else None
    return None


def _new_key(folder: Path) -> bytes:
    """A key that the folder keeps; where it cannot be written, the links hold until this server ends."""
    key = secrets.token_bytes(_KEY_BYTES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_new(folder / KEY_FILE, key)
    except FileExistsError:  # another server on the same folder was quicker, and may not have written it yet
        return _soon_read(folder) or key
    except OSError:
        return key
    return key


def _soon_read(folder: Path) -> bytes | None:
    for _ in range(_TRIES):
        if (key := _read_key(folder)) is not None:
            return key
        time.sleep(_TRY_S)
    return None
