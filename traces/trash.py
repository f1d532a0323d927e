"""Deleting with a way back: files move into ``.trash/`` of the data folder and stay there for thirty days."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent import jsontext
from agent.errors import InputError
from agent.ids import new_trace_id
from agent.journal import SAFE_ID
from traces.annotations import FOLDER as NOTES
from traces.keeping import exclusive, write_whole

FOLDER = ".trash"
KEPT_DAYS = 30
_LIST = "deleted.json"


@dataclass(frozen=True, slots=True)
class Deleted:
    """What one press of the button took away."""

    id: str
    """For :meth:`Trash.restore`."""
    files: tuple[str, ...]
    """Paths within the data folder, those of notes included."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the traces' files, without their folders."""
        return tuple(Path(file).name for file in self.files if Path(file).parts[0] != NOTES)


class Trash:
    """The deleted files of a data folder.

    Args:
        folder: the data folder.
    """

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder).absolute()
        self._trash = self._folder / FOLDER

    def delete(self, files: Iterable[Path | str], *, folders: bool = False) -> Deleted:
        """Move files of the data folder away: all of them, or none.

        Args:
            files: those of traces, and of the notes on them.
            folders: they are whole folders instead, such as those of experiments.

        Raises:
            InputError: one of them is not a file of the data folder, or cannot be moved; the sentence names it.
        """
        paths = [self._inside(Path(file)) for file in files]
        deleted = Deleted(new_trace_id(), tuple(dict.fromkeys(path.as_posix() for path in paths)))
        place = self._trash / deleted.id
        with exclusive(self._folder):
            there = Path.is_dir if folders else Path.is_file
            missing = next((file for file in deleted.files if not there(self._folder / file)), None)
            if missing or not deleted.files:
                raise InputError(f"{missing or 'the file'} is not there any more")
            write_whole(place / _LIST, jsontext.dump_bytes({"files": deleted.files, "at": time.time()}))
            _move_all([(self._folder / file, place / str(n)) for n, file in enumerate(deleted.files)])
        return deleted

    def restore(self, deleted_id: str) -> Deleted:
        """Bring files back under the names that they had. What has taken such a name meanwhile is never overwritten.

        Raises:
            InputError: they are not in the trash any more, or a name is taken.
        """
        place = self._trash / deleted_id
        with exclusive(self._folder):
            files = _listed(place) if SAFE_ID.fullmatch(deleted_id) else ()
            if not files:
                raise InputError("these files are not in the trash any more")
            _move_all([(place / str(n), self._folder / file) for n, file in enumerate(files)])
            shutil.rmtree(place, ignore_errors=True)
        return Deleted(deleted_id, files)

    def empty(self, older_than_days: float = KEPT_DAYS) -> int:
        """Take away for good what was deleted so many days ago or earlier; gives how many deletions that were."""
        limit, gone = time.time() - older_than_days * 86_400, 0
        if not self._trash.is_dir():
            return 0
        with exclusive(self._folder):
            for place in list(self._trash.iterdir()):
                with contextlib.suppress(OSError):
                    if place.stat().st_mtime <= limit:
                        shutil.rmtree(place)
                        gone += 1
        return gone

    def _inside(self, path: Path) -> Path:
        """A path relative to the data folder; links on the way do not lead out of it."""
        try:
            folder = path.absolute().parent.resolve().relative_to(self._folder.resolve())
        except (ValueError, OSError) as error:
            raise InputError(f"{path} is not in the data folder, so it is not deleted here") from error
        inside = folder / path.name
        if inside.parts[0].startswith(".") and inside.parts[0] != NOTES:
            raise InputError(f"{path} is not the file of a trace")
        return inside


def _listed(place: Path) -> tuple[str, ...]:
    try:
        return tuple(json.loads((place / _LIST).read_bytes())["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _move_all(moves: list[tuple[Path, Path]]) -> None:
    """Move every file to a name that is free, or none of them."""
    done: list[tuple[Path, Path]] = []
    try:
        for here, there in moves:
            there.parent.mkdir(parents=True, exist_ok=True)
            _move(here, there)
            done.append((here, there))
    except OSError as error:
        for here, there in reversed(done):
            _move(there, here)
        taken = isinstance(error, FileExistsError)
        what = "there is another file of that name now" if taken else error.strerror
        raise InputError(f"{moves[len(done)][1 if taken else 0]}: {what}") from error


def _move(here: Path, there: Path) -> None:
    """Give a file another name that nothing has yet; a second name at first, since a plain move would overwrite."""
    try:
        os.link(here, there, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links
        if os.path.lexists(there):
            raise FileExistsError(17, "File exists", str(there)) from None
        here.rename(there)
    else:
        here.unlink()
