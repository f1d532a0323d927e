"""One process at a time runs an experiment: it holds the folder, and a second one is told who does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from agent.errors import InputError
from traces.experiments.folder import Folder
from traces.keeping import InHands, exclusive


@contextmanager
def held(folder: Folder) -> Iterator[None]:
    """Hold the folder of an experiment. Whoever is killed lets go of it, whatever it left in the folder.

    Raises:
        InputError: another process, or another session of this one, holds it; or it cannot be written.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive(folder.path, wait_s=0))
        except InHands as error:
            raise InputError(
                f"{folder.path}: {_whose(folder)} is running this experiment; wait until it ends"
            ) from error
        with suppress(OSError):  # it only makes a sentence better
            folder.holder.write_text(str(os.getpid()), encoding="ascii")
        try:
            yield
        finally:
            with suppress(OSError):
                folder.holder.unlink()


def _whose(folder: Folder) -> str:
    try:
        number = int(folder.holder.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return "another process"
    return "this program" if number == os.getpid() else f"another process (number {number})"
