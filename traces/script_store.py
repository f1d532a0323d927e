"""The scripts of a data folder: one file each in ``scripts/``, under names that cannot be guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent.errors import InputError
from agent.ids import new_trace_id
from agent.scripts import Script, parse_script, source
from agent.tools import Tool
from traces.keeping import write_new, write_whole
from traces.trash import Deleted, Trash

FOLDER = "scripts"
SAFE_ID = re.compile(r"[\w-]{1,80}")
"""The whole of an id, which is the stem of a file name and part of an address."""
_SUFFIXES = (".yaml", ".json")
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A kept script, in the few words of a list."""

    id: str
    title: str
    summary: str
    path: Path
    changed: float
    """Seconds since 1970."""
    size: int
    """Bytes."""
    turns: int = 0
    tools: tuple[str, ...] = ()
    rules: bool = False
    """Whether a rule decides what is said."""
    recorded: str | None = None
    """The id of the trace that it was recorded from."""
    problem: str = ""
    """Why it cannot be played, in a sentence; empty where it can."""


class ScriptStore:
    """The scripts of one data folder.

    Args:
        folder: the data folder.
        own: tools of one's own, which the scripts may name.
    """

    def __init__(self, folder: Path | str, own: Iterable[Tool] = ()) -> None:
        self._own = tuple(own)
        self._data = Path(folder)
        self._folder = self._data / FOLDER

    def list(self) -> list[ScriptFile]:
        """All of them, the last changed first."""
        paths = [path for path in self._folder.glob("*.*") if path.suffix in _SUFFIXES and path.is_file()]
        infos = []
        for path in paths:
            with suppress(FileNotFoundError):  # deleted meanwhile, by another session
                infos.append(_info(path, self._own))
        return sorted(infos, key=lambda info: info.changed, reverse=True)

    def find(self, id: str) -> Path | None:
        """The file of a script; None where there is none."""
        if not SAFE_ID.fullmatch(id):
            return None
        paths = (self._folder / f"{id}{suffix}" for suffix in _SUFFIXES)
        return next((path for path in paths if path.is_file()), None)

    def read(self, id: str) -> str:
        """The text of a script.

        Raises:
            InputError: there is none, or it cannot be read.
        """
        return source.text_of(self._there(id))

    def save(self, name: str, text: str, id: str | None = None) -> str:
        """Keep a script; gives its id.

        Args:
            name: a few words that its file is named after.
            text: YAML, or JSON where it begins with ``{``. It need not be right: half a script is worth keeping.
            id: of the script whose place it takes; None: a new one.

        Raises:
            InputError: there is no such script, or the folder cannot be written.
        """
        data = text.encode("utf-8", "surrogatepass")
        if id is not None:
            write_whole(self._there(id), data)
            return id
        words = re.sub(r"[\W_]+", "-", name)[:_LONGEST_NAME].strip("-").lower() or "script"
        new = f"{words}-{new_trace_id()}"
        suffix = ".json" if text.lstrip().startswith("{") else ".yaml"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_new(self._folder / f"{new}{suffix}", data)
        except OSError as error:
            raise InputError(f"the folder of the scripts cannot be written: {error.strerror}") from error
        return new

    def delete(self, id: str) -> Deleted:
        """Move a script into the trash, from where :meth:`restore` brings it back.

        Raises:
            InputError: it is not there, or cannot be moved.
        """
        return Trash(self._data).delete([self._there(id)])

    def restore(self, deleted: Deleted) -> None:
        """Bring back what was deleted.

        Raises:
            InputError: it is gone, or its name is taken.
        """
        Trash(self._data).restore(deleted.id)

    def recorded_from(self, trace_id: str) -> str | None:
        """The id of the newest script that was recorded from a trace; None where there is none."""
        return next((info.id for info in self.list() if info.recorded == trace_id and not info.problem), None)

    def _there(self, id: str) -> Path:
        path = self.find(id)
        if path is None:
            raise InputError(f"there is no script {id!r} here")
        return path


_Stamp = tuple[int, int, tuple[str, ...]]
_known: dict[Path, tuple[_Stamp, ScriptFile]] = {}
"""What was read of each file, under its size, its time and the tools there were: a list is drawn at every press."""


def _info(path: Path, own: tuple[Tool, ...]) -> ScriptFile:
    status = path.stat()
    stamp = (status.st_size, status.st_mtime_ns, tuple(tool.name for tool in own))
    known = _known.get(path)
    if known is None or known[0] != stamp:
        info = ScriptFile(path.stem, path.stem, "", path, status.st_mtime, status.st_size)
        try:
            info = _described(info, parse_script(source.text_of(path), path.name, own))
        except InputError as error:
            info = replace(info, problem=str(error))
        known = _known[path] = (stamp, info)
    return known[1]


def _described(info: ScriptFile, script: Script) -> ScriptFile:
    return replace(
        info,
        title=script.title,
        summary=script.summary,
        turns=1 if script.always else len(script.turns),
        tools=script.tools,
        rules=script.rules,
        recorded=script.recorded.trace_id if script.recorded else None,
    )
