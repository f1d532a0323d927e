"""The files that a command line names: files, folders, patterns and standard input, opened one after another."""

from __future__ import annotations

import glob
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agent.console import FAILED, printable, tell
from agent.errors import InputError
from traces.commands.names import PROG
from traces.container import MAX_UNPACKED
from traces.decoding import as_utf8
from traces.detect import formats
from traces.opening import read_file
from traces.report import ImportReport
from traces.summary import FileSummary

STDIN = "-"
STDIN_NAME = "standard input"
_HEAD = 256
_BEGINS = (b"{", b"[", b"\x1f\x8b", b"PK\x03\x04", b"data:", b"event:")
"""How JSON, archives and event streams begin. In a folder, what begins otherwise is some other file."""
_SHOWN = 5


def add_files(parser: ArgumentParser) -> None:
    """Add the names of the files and how to read them."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a trace file of any supported format, a folder of them, a pattern such as 'runs/*.json', or - for "
        "standard input; write a name that begins with - as ./-name",
    )
    add_format(parser)


def add_format(parser: ArgumentParser) -> None:
    """Add the choice of the format where detection should not decide."""
    parser.add_argument(
        "--format", metavar="IN", choices=formats(), help=f"the format of what is read: {', '.join(formats())}"
    )


def for_each(names: Sequence[str], format: str | None, look: Callable[[FileSummary], int]) -> int:
    """Open all files in order and look at each; gives the worst exit code.

    A file that was found in a folder and holds no trace is left out and told on standard error. One that is broken, or
    that was named itself, is looked at with its error.

    Args:
        names: as a user typed them.
        format: the format, where detection should not decide.
        look: what to do with an open file; it gives an exit code. Nothing of a file is kept after it.
    """
    code = 0
    for name in names:
        if name.strip() and Path(name).is_dir():
            code = max(code, _in_folder(name, format, look))
        else:
            for path in _matching(name):
                code = max(code, look(_opened(path, format)))
    return code


def read_named(name: str, format: str | None) -> ImportReport:
    """The conversations of one file or of standard input.

    Raises:
        InputError: it cannot be opened; the text says what is wrong and where.
    """
    if name == STDIN:
        if sys.stdin is None:  # closed by the caller
            raise InputError(f"{STDIN_NAME} is closed")
        return read_file(sys.stdin.buffer.read(MAX_UNPACKED + 1), STDIN_NAME, format=format)
    return read_file(Path(name), name, format=format)


def _opened(name: str, format: str | None) -> FileSummary:
    """What a file gave. Never raises: what cannot be opened says why."""
    if not name.strip():
        return FileSummary(name, None, "the name of the file is empty")
    label = STDIN_NAME if name == STDIN else name
    try:
        report = read_named(name, format)
    except InputError as error:
        return FileSummary(label, None, str(error))
    if report.format is None:
        sentence = next(iter(report.unread), "it holds nothing that could be read")
        return FileSummary(label, report, sentence if sentence.startswith(label) else f"{label}: {sentence}")
    return FileSummary(label, report)


def _matching(name: str) -> list[str]:
    """The files that a pattern stands for, where the shell did not say it; the name itself where there is none."""
    if glob.has_magic(name) and not os.path.lexists(name):
        found = glob.glob(name, recursive=True)  # noqa: PTH207 - a Path takes no absolute pattern
        return sorted(path for path in found if not Path(path).is_dir()) or [name]
    return [name]


def _in_folder(folder: str, format: str | None, look: Callable[[FileSummary], int]) -> int:
    code, found, others = 0, 0, list[str]()
    for path in _files_of(folder):
        file = _opened(path, format) if _may_be_trace(path) else None
        if file is None or (file.report is not None and file.error is not None):  # JSON, but of something else
            others.append(os.path.relpath(path, folder))
            continue
        found += 1
        code = max(code, look(file))
        del file  # before the next one is opened
    if others:
        more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        tell(printable(f"{PROG}: {folder}: left out, for they hold no trace: {', '.join(others[:_SHOWN])}{more}"))
    if not found:
        tell(printable(f"{PROG}: {folder} is a folder without a trace in it"))
        return FAILED
    return code


def _files_of(folder: str) -> Iterator[str]:
    """All files below a folder in the order of their names, without hidden ones."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (str(Path(where, name)) for name in sorted(files) if not name.startswith("."))


def _may_be_trace(path: str) -> bool:
    """By its first bytes. What cannot be read is: the reason is told when it is opened."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return True
    try:
        return head.startswith(_BEGINS) or as_utf8(head).lstrip().startswith(_BEGINS)
    except (InputError, ValueError):
        return False
