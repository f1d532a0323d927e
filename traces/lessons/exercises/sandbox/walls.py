"""The second wall: what the process of a learner's program can no longer do once it has begun."""

from __future__ import annotations

import os
import sys
import threading
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
    *("builtins.input", "builtins.breakpoint", "cpython.run_", "sys.set", "sys._current", "sys.remote"),
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
    folders = [Path(path) for path in {*sys.path, sys.prefix, sys.base_prefix} if path]
    roots = (*folders, *(folder.resolve() for folder in folders))

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            allowed = _reads(mode, flags) and _inside(path, roots) and str(path).endswith(_LIBRARY)
        elif event in _LOOKED_AT:
            allowed = _inside(args[0], roots)
        else:
            allowed = not event.startswith(_REFUSED)
        if not allowed:
            raise PermissionError(f"a program of an exercise cannot do this ({event})")

    sys.addaudithook(refuse)


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


def _reads(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str) and set(mode) & set("wax+"):
        return False
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    return not (isinstance(flags, int) and flags & writes)


def _inside(path: Any, roots: tuple[Path, ...]) -> bool:
    """Whether a path lies in a library. Nothing is looked up on the disk, which would be an event of its own."""
    if not isinstance(path, str) or ".." in Path(path).parts:
        return False
    return any(Path(path).is_relative_to(root) for root in roots)
