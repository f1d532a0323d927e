"""The first moments of a command, before anything of it is loaded. Imports next to nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""Exit code of a command that was interrupted: 128 and the number of the signal, as shells have it."""


@contextmanager
def loading() -> Iterator[None]:
    """While the program is being loaded, Ctrl-C ends it at once and without a word: there is nothing to keep yet.

    An exception would be raised inside some import, which may swallow it or print where it was.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler:  # ignored, for a command in the background
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
