"""The second wall: what the process of a learner's program can no longer do once it has begun."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

MEMORY_BYTES = 512 * 1024 * 1024
"""Of address space; what was loaded before counts too, some 70 MB."""
NICENESS = 10
"""Pages of other people come first."""

_LIBRARY = (".py", ".pyc", ".so", ".pyd", ".dll")
_REFUSED = (
    *("socket.", "subprocess.", "os.", "ctypes.", "shutil.", "tempfile.", "glob.", "pathlib.", "signal.", "resource."),
    *("fcntl.", "pty.", "mmap.", "syslog.", "winreg.", "_winapi.", "msvcrt.", "urllib.", "http.", "ftplib.", "poplib."),
    *("smtplib.", "imaplib.", "nntplib.", "telnetlib.", "webbrowser.", "sqlite3.", "gc.", "_thread.", "code."),
    *(
        "builtins.input",
        "builtins.breakpoint",
        "cpython.run_",
        "cpython.PyInterpreterState_New",
        "sys.set",
        "sys._current",
        "sys.remote",
    ),
)
"""Beginnings of the events that Python tells before it does something outside of itself."""
_LOOKED_AT = ("os.listdir", "os.scandir")
"""Python looks into the folders of its libraries before it imports from them."""


def end_after(seconds: float) -> None:
    """End this process after so long, also where who started it is gone by then. Comes before the walls are closed."""
    timer = threading.Timer(seconds, os._exit, (1,))
    timer.daemon = True
    timer.start()


def close(cpu_s: int) -> None:
    """From now on: little time and memory, no file but the libraries, no network, no other program.

    What a system does not know is left out; there is always the time limit of who started the process.

    Args:
        cpu_s: seconds of computing from now on.
    """
    with suppress(ImportError):
        _limit(cpu_s)
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(NICENESS)
    sys.addaudithook(_refusal(_roots()))


def _refusal(roots: tuple[str, ...]) -> Callable[[str, tuple[Any, ...]], None]:
    """What is called before everything that Python does outside of itself.

    All that it uses is bound here, and of the language itself: a program that is through the first wall finds no name
    of ours or of Python to put something else under.

    Args:
        roots: the folders of the libraries, each with a separator at its end.
    """

    def refuse(
        event: str,
        args: tuple[Any, ...],
        *,
        refused: tuple[str, ...] = _REFUSED,
        looked_at: tuple[str, ...] = _LOOKED_AT,
        library: tuple[str, ...] = _LIBRARY,
        roots: tuple[str, ...] = roots,
        up: tuple[str, ...] = ("/..", "\\.."),
        separator: str = os.sep,
        writes: int = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND,
        kind: Callable[[Any], Any] = type,
        text: type = str,
        number: type = int,
        error: type[Exception] = PermissionError,
    ) -> None:
        if event == "open" or event in looked_at:
            path = args[0]
            allowed = kind(path) is text and up[0] not in path and up[1] not in path
            allowed = allowed and (path + separator).startswith(roots)
            if allowed and event == "open":
                _, mode, flags = args
                allowed = path.endswith(library) and (kind(flags) is not number or not flags & writes)
                if kind(mode) is text:
                    allowed = allowed and not ("w" in mode or "a" in mode or "x" in mode or "+" in mode)
        else:
            allowed = not event.startswith(refused)
        if not allowed:
            raise error(f"a program of an exercise cannot do this ({event})")

    return refuse


def _roots() -> tuple[str, ...]:
    folders = [Path(path) for path in {*sys.path, sys.prefix, sys.base_prefix} if path]
    found = {str(each) for folder in folders for each in (folder, folder.resolve())}
    return tuple(each.rstrip(os.sep) + os.sep for each in found)


def _limit(cpu_s: int) -> None:
    import resource  # Windows has none

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + cpu_s
    for name, soft, hard in (
        ("RLIMIT_CPU", seconds, seconds + 1),
        ("RLIMIT_AS", MEMORY_BYTES, MEMORY_BYTES),
        ("RLIMIT_DATA", MEMORY_BYTES, MEMORY_BYTES),
        ("RLIMIT_FSIZE", 0, 0),
        ("RLIMIT_NPROC", 0, 0),
        ("RLIMIT_CORE", 0, 0),
    ):
        if (limit := getattr(resource, name, None)) is not None:
            with suppress(ValueError, OSError):
                resource.setrlimit(limit, (soft, hard))
