"""Store: the folder in which traces are kept, together with the bundled samples."""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agent import jsontext
from agent.errors import InputError
from agent.trace import Trace
from traces.annotations import Annotations
from traces.experiments.folder import EXPERIMENTS, Folder
from traces.index import FILE_NAME, INTERRUPTED, Index, Stamp, TraceInfo
from traces.keeping import write_new
from traces.lint import Severity, lint
from traces.listing import Lines, lines_of
from traces.opening import paused_gc, read_file
from traces.script_store import FOLDER as SCRIPTS
from traces.trash import Deleted, Trash

SAMPLES = Path(__file__).parent / "samples"
DEFAULT_FOLDER = Path(__file__).parent / "saved"
_NOT_TRACES = (".md", ".tmp", ".sqlite")
_BATCH = 500
_DEEPEST = 8
_LONGEST_NAME = 180

Progress = Callable[[int, int], None]
"""Called with how many of how many new files are read."""


class Store:
    """The traces of a data folder and the bundled ones.

    Args:
        folder: the data folder; made when something is first kept in it.
        samples: the folder of the bundled traces.
    """

    def __init__(self, folder: Path | str = DEFAULT_FOLDER, *, samples: Path = SAMPLES) -> None:
        self.folder = Path(folder).absolute()
        self._samples = samples.absolute()
        self._bundled = f"{self._samples}{os.sep}"
        self._experiments = f"{self.folder / EXPERIMENTS}{os.sep}"
        self._index = Index(self.folder / FILE_NAME)

    def list(self, progress: Progress | None = None) -> Lines:
        """All traces, the newest first. Only files that are new or changed since the last time are opened.

        A file that cannot be read has one line that says why. A journal is listed as interrupted unless its trace file
        is there and at least as new; it is read each time, since it may grow without a change of its size or time.

        Args:
            progress: called while new files are read.
        """
        found = dict(self._scan())
        rows: dict[str, Lines] = {}
        gone: set[str] = set()
        with paused_gc():
            known = self._index.rows()
        for stamp, info in known:
            if found.get(info.path) == stamp and info.kind != INTERRUPTED:
                rows.setdefault(info.path, []).append(info)
            else:
                gone.add(info.path)
        changed = [path for path in found if path not in rows]
        if changed or gone:
            self._read_changed(changed, found, rows, gone, progress)
        shown = [info for infos in _without_doubles(rows, found).values() for info in infos]
        if changed or gone:  # the index gives them in this order; of equally old ones it should always be the same
            shown.sort(key=lambda info: (info.path, info.number))
        return sorted(shown, key=lambda info: info.created or "", reverse=True)

    def find(self, trace_id: str) -> TraceInfo | None:
        """The line of one trace; None where there is none of that id."""
        found = [info for stamp, info in self._index.find(trace_id) if _stamp(info.path) == stamp]
        if len(found) == 1 and not _sibling(found[0].path).exists():
            return found[0]
        return next((info for info in self.list() if info.id == trace_id), None)

    def load(self, trace_id: str) -> Trace:
        """Open one trace.

        Raises:
            InputError: there is none of that id, or its file cannot be read any more.
        """
        info = self.find(trace_id)
        if info is None:
            raise InputError(f"there is no trace {trace_id!r} here; it may have been moved or deleted")
        traces = read_file(info.path).traces
        for trace in traces[info.number : info.number + 1] + traces:
            if trace.trace_id == trace_id:
                return trace
        raise InputError(f"{info.path} has changed: trace {trace_id!r} is not in it any more")

    def experiment_of(self, info: TraceInfo) -> str | None:
        """The id of the experiment that a trace is a run of; None for any other trace."""
        if not info.path.startswith(self._experiments):
            return None
        return info.path[len(self._experiments) :].partition(os.sep)[0]

    def add_upload(self, data: bytes, name: str) -> Lines:
        """Keep a file as it is, under a safe form of its name, and give its lines of the list.

        Nothing is ever overwritten; the same bytes are kept once. JSON of an unknown shape is kept too: it can be
        looked at, and a later release may know it.

        Raises:
            InputError: the file cannot be opened, or the folder cannot be written.
        """
        report = read_file(data, name)
        for trace in report.traces[:1]:
            for _, info in self._index.find(trace.trace_id):
                if _holds(Path(info.path), data):
                    return self._rows_of(Path(info.path))
        try:
            return self._rows_of(self._keep(data, safe_name(name)))
        except OSError as error:
            raise InputError(f"{self.folder} cannot be written: {error.strerror}") from error

    # -- findings --------------------------------------------------------------------------------------------------

    def check(self, path: str) -> None:
        """Let the linter look at every trace of a file, and keep the counts with its lines until the file changes.

        A file that cannot be read any more, or not at all, is left alone: the next listing says why.
        """
        stamp = _stamp(path)
        if stamp is None:
            return
        with contextlib.suppress(Exception):  # no file, however odd, keeps the others from being checked
            found = [Counter(finding.severity for finding in lint(trace)) for trace in read_file(path).traces]
            self._index.note_findings(
                (stamp, path, number, (counts[Severity.ERROR], counts[Severity.WARNING], counts[Severity.NOTE]))
                for number, counts in enumerate(found)
            )

    # -- deleting --------------------------------------------------------------------------------------------------

    def delete(self, infos: Sequence[TraceInfo]) -> Deleted:
        """Move the files of these lines to the trash, with the notes on all their traces.

        A file goes with every conversation in it, a saved run with the journal that it may still have.

        Raises:
            InputError: one of the files is not in the data folder, or cannot be moved.
        """
        paths = list(dict.fromkeys(info.path for info in infos))
        wanted, ids, book = set(paths), set[str](), Annotations(self.folder)
        for _, info in self._index.rows():
            if info.path in wanted:
                ids.add(info.id)
        twins = [path for info in infos if info.id and (path := _sibling(info.path)).exists() and path.stem == info.id]
        notes = [path for trace_id in sorted(ids) if trace_id and (path := book.path_of(trace_id)).exists()]
        return Trash(self.folder).delete([*paths, *twins, *notes])

    # -- reading -------------------------------------------------------------------------------------------------

    def _scan(self) -> Iterator[tuple[str, Stamp]]:
        yield from _files(self._samples, _DEEPEST)
        if self.folder != self._samples:
            yield from _files(self.folder, _DEEPEST, (str(self.folder / SCRIPTS), str(self.folder / EXPERIMENTS)))
            with contextlib.suppress(OSError):
                for experiment in (self.folder / EXPERIMENTS).iterdir():
                    yield from _files(Folder(experiment).traces, 0)

    def _read_changed(
        self,
        changed: Sequence[str],
        found: dict[str, Stamp],
        rows: dict[str, Lines],
        gone: set[str],
        progress: Progress | None,
    ) -> None:
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
        for start in range(0, max(len(changed), 1), _BATCH):
            batch = changed[start : start + _BATCH]
            with paused_gc():
                rows.update((path, self._read(path, found[path])) for path in batch)
            self._index.update([(found[path], rows[path]) for path in batch], gone)
            gone = set()
            if progress:
                progress(start + len(batch), len(changed))

    def _read(self, path: str, stamp: Stamp) -> Lines:
        return lines_of(path, stamp, "bundled" if path.startswith(self._bundled) else "saved")

    def _rows_of(self, path: Path) -> Lines:
        stamp = _stamp(str(path)) or Stamp(0, 0)
        rows = self._read(str(path), stamp)
        self._index.update([(stamp, rows)])
        return rows

    # -- keeping -------------------------------------------------------------------------------------------------

    def _keep(self, data: bytes, name: str) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        stem, dot, suffix = name.partition(".")
        number = 1
        while True:
            path = self.folder / (name if number == 1 else f"{stem}-{number}{dot}{suffix}")
            try:
                write_new(path, data)
                return path
            except FileExistsError:
                if _holds(path, data):
                    return path
                number += 1


def safe_name(name: str) -> str:
    """A file name that cannot leave the folder, hide in it or be taken for something else there."""
    last = unicodedata.normalize("NFC", jsontext.clean(re.split(r"[/\\]", name)[-1]))
    plain = re.sub(r"[^\w.\- ]", "_", last).strip(" .") or "upload"
    if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", plain):
        plain = f"_{plain}"
    while len(plain.encode()) > _LONGEST_NAME:
        plain = plain[1:].lstrip(" .")
    return plain if "." in plain and not plain.endswith(_NOT_TRACES) else f"{plain}.json"


# -- files ---------------------------------------------------------------------------------------------------------


def _files(folder: Path | str, levels: int, but: Sequence[str] = ()) -> Iterator[tuple[str, Stamp]]:
    """All files that may be traces, in sub-folders too, but for those that hold other things."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name.endswith(_NOT_TRACES):
                    continue
                try:  # not contextlib.suppress: it would take a sixth of the time of a listing
                    if entry.is_file():
                        status = entry.stat()
                        yield entry.path, Stamp(status.st_size, status.st_mtime_ns)
                    elif levels and entry.path not in but and entry.is_dir(follow_symlinks=False):
                        yield from _files(entry.path, levels - 1)
                except OSError:
                    continue
    except OSError:
        return


def _stamp(path: str) -> Stamp | None:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


def _holds(path: Path, data: bytes) -> bool:
    stamp = _stamp(str(path))
    return stamp is not None and stamp.size == len(data) and path.read_bytes() == data


def _sibling(path: str) -> Path:
    """The journal of a trace file, or the trace file of a journal; both have the trace's id as their name."""
    return Path(path).with_suffix(".json" if path.endswith(".jsonl") else ".jsonl")


def _without_doubles(rows: dict[str, list[TraceInfo]], found: dict[str, Stamp]) -> dict[str, list[TraceInfo]]:
    """Of a trace file and a journal of the same run, the newer one."""
    journals = [path for path, infos in rows.items() if infos[0].kind == INTERRUPTED]
    for path in journals:
        trace = str(_sibling(path))
        if trace in rows and rows[trace][0].id == rows[path][0].id:
            del rows[path if found[trace].mtime_ns >= found[path].mtime_ns else trace]
    return rows
