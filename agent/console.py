"""The two streams of a command line, and how a command ends: with one sentence for what went wrong, never a traceback.

Results go to standard output, everything said about them to standard error, so that both can be piped.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TextIO

from agent import jsontext
from agent.errors import AgentError, InputError, ModelError
from agent.startup import INTERRUPTED

DONE, FAILED, BAD_INPUT = 0, 1, 2
"""Exit codes beside :data:`~agent.startup.INTERRUPTED`."""

MOST_SHOWN = 300
"""Characters of the words of a stranger, such as a server that answers with a whole page, that one sentence takes."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Parser(argparse.ArgumentParser):
    """Bad usage is bad input: one sentence, no page of help."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line."""
        raise InputError(f"{message} (see {self.prog} --help)")

    def print_help(self, file: object = None) -> NoReturn:
        """End the command with the help as its result."""
        raise _HelpWanted(self.format_help().rstrip())


class _HelpWanted(Exception):
    """The text of the help."""


def command(prog: str, run: Callable[[], int]) -> int:
    """Run a command and give its exit code.

    Args:
        prog: what sentences about errors begin with.
        run: the command; it gives an exit code. An :class:`InputError` that it raises means 2, a
            :class:`ModelError` 1.
    """
    if sys.stderr is None:  # closed by the caller: what is said is lost, and no file may take its place
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    try:
        if sys.stdout is None:
            raise InputError("standard output is closed, so nothing can be shown")
        _use_utf8(sys.stdout)
        _use_utf8(sys.stderr)
        code = _code_of(run)
    except AgentError as error:
        failed = isinstance(error, ModelError)
        tell(f"{prog}: {one_line(str(error), MOST_SHOWN if failed else None)}")
        return FAILED if failed else BAD_INPUT
    except BrokenPipeError:
        _drop(sys.stdout)  # the reader has had enough (``| head``)
        return DONE
    except OSError as error:
        tell(f"{prog}: {error.filename or 'a file'}: {error.strerror or error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
    return code


def say(text: str) -> None:
    """Print a result.

    Raises:
        InputError: standard output cannot be written.
    """
    with _written():
        sys.stdout.write(jsontext.clean(text) + "\n")
        sys.stdout.flush()


def say_bytes(data: bytes) -> None:
    """Write a result that is a file of its own.

    Raises:
        InputError: standard output cannot be written.
    """
    with _written():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def tell(text: str) -> None:
    """Say something about the results. That nobody can hear it is no error."""
    try:
        sys.stderr.write(jsontext.clean(text) + "\n")
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def printable(text: str) -> str:
    """Text of a model or a tool without the control characters that would command a terminal."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def one_line(text: str, length: int | None = None) -> str:
    """The text as one printable line, cut to ``length`` characters where one is given."""
    line = printable(" ".join(text.split()))
    return line if length is None or len(line) <= length else f"{line[:length]}…"


def _code_of(run: Callable[[], int]) -> int:
    try:
        return run()
    except _HelpWanted as wanted:
        say(str(wanted))
        return DONE


@contextmanager
def _written() -> Iterator[None]:
    """Standard output that cannot be written is bad input; a reader that has had enough is not."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop(sys.stdout)
        raise InputError(f"standard output: {error.strerror}") from error


def _drop(stream: TextIO) -> None:
    """What still waits to be written is forgotten, so that the interpreter does not try again at its exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _use_utf8(stream: TextIO) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")
