"""Store: the folder in which traces are kept, together with the bundled samples."""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent import jsontext
from agent.errors import InputError
from agent.trace import SCHEMA, Trace
from traces.glance import Glance, glance
from traces.index import FILE_NAME, Index, Stamp, TraceInfo
from traces.lineage import fork_point
from traces.opening import paused_gc, read_file
from traces.readers import journal
from traces.summary import summarise

SAMPLES = Path(__file__).parent / "samples"
DEFAULT_FOLDER = Path(__file__).parent / "saved"
INTERRUPTED = "interrupted"
_NOT_TRACES = (".md", ".tmp", ".sqlite")
_BATCH = 500
_LARGEST = 2**63 - 1
_DEEPEST = 8
_LONGEST_NAME = 180
_GLANCED_AT = 64 * 1024 * 1024

Lines = list[TraceInfo]
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
        for stamp, info in self._index.rows():
            if found.get(info.path) == stamp and info.kind != INTERRUPTED:
                rows.setdefault(info.path, []).append(info)
            else:
                gone.add(info.path)
        changed = [path for path in found if path not in rows]
        if changed or gone:
            self._read_changed(changed, found, rows, gone, progress)
        shown = [info for infos in _without_doubles(rows, found).values() for info in infos]
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

    # -- reading -------------------------------------------------------------------------------------------------

    def _scan(self) -> Iterator[tuple[str, Stamp]]:
        yield from _files(self._samples, _DEEPEST)
        if self.folder != self._samples:
            yield from _files(self.folder, _DEEPEST)

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
        """The lines of one file. No file, however odd, keeps the others from being listed."""
        kind = "bundled" if path.startswith(self._bundled) else "saved"
        try:
            return _infos_of(path, stamp, kind)
        except InputError as error:
            return [_no_trace(path, stamp, kind, None, str(error))]
        except Exception as error:
            return [_no_trace(path, stamp, kind, None, f"it could not be read ({type(error).__name__}: {error})")]

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
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(data)
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


def _files(folder: Path | str, levels: int) -> Iterator[tuple[str, Stamp]]:
    """All files that may be traces, in sub-folders too."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name.endswith(_NOT_TRACES):
                    continue
                with contextlib.suppress(OSError):
                    if entry.is_file():
                        status = entry.stat()
                        yield entry.path, Stamp(status.st_size, status.st_mtime_ns)
                    elif levels and entry.is_dir(follow_symlinks=False):
                        yield from _files(entry.path, levels - 1)
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


# -- lines of the list ---------------------------------------------------------------------------------------------


def _infos_of(path: str, stamp: Stamp, kind: str) -> Lines:
    if stamp.size <= _GLANCED_AT and (seen := glance(Path(path).read_bytes())):
        return [_info(seen, SCHEMA, 0, path, stamp, kind)]
    report = read_file(path)
    if not report.traces:
        reason = report.unread[0] if report.unread else "there is no conversation in it"
        return [_no_trace(path, stamp, kind, report.format, reason, report.id)]
    if report.format == journal.NAME:
        kind = INTERRUPTED
    return [
        _info(_glance_of(trace), report.format, number, path, stamp, kind) for number, trace in enumerate(report.traces)
    ]


def _glance_of(trace: Trace) -> Glance:
    summary = summarise(trace)
    parent, at = fork_point(trace.source.parent, trace.source.at)
    return Glance(
        trace_id=trace.trace_id,
        title=trace.title,
        created=trace.created,
        models=summary.models,
        steps=summary.steps,
        messages=summary.messages,
        tokens=summary.tokens.total,
        cost=summary.cost,
        duration_s=summary.duration_s,
        outcome=summary.outcome,
        parent=parent,
        at=at,
    )


def _info(seen: Glance, format: str | None, number: int, path: str, stamp: Stamp, kind: str) -> TraceInfo:
    return TraceInfo(
        id=seen.trace_id,
        title=jsontext.clean(seen.title),
        format=format,
        model=jsontext.clean(", ".join(seen.models)) or None,
        steps=seen.steps,
        messages=seen.messages,
        tokens=seen.tokens if seen.tokens is None or seen.tokens <= _LARGEST else None,
        cost=seen.cost,
        duration_s=seen.duration_s,
        outcome=seen.outcome and jsontext.clean(seen.outcome),
        created=jsontext.clean(seen.created) if seen.created else _time(stamp),
        parent=seen.parent,
        at=seen.at,
        path=jsontext.clean(path),
        number=number,
        kind=kind,
        error=None,
    )


def _no_trace(path: str, stamp: Stamp, kind: str, format: str | None, reason: str, file_id: str = "") -> TraceInfo:
    return TraceInfo(
        id=file_id,
        title=jsontext.clean(Path(path).name),
        format=format,
        model=None,
        steps=0,
        messages=0,
        tokens=None,
        cost=None,
        duration_s=None,
        outcome=None,
        created=_time(stamp),
        parent=None,
        at=None,
        path=jsontext.clean(path),
        number=-1,
        kind=kind,
        error=jsontext.clean(reason),
    )


def _time(stamp: Stamp) -> str | None:
    try:
        return datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC).isoformat(timespec="seconds")[:-6] + "Z"
    except (OverflowError, ValueError, OSError):
        return None
