"""Tools that look at files, confined to one folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.errors import ToolFailure
from agent.tools import Tool, tool

_LARGEST = 200_000
"""Bytes; a larger file is refused, for its text would go into the message list."""


def _inside(root: Path, path: str) -> Path:
    """The file that ``path`` names inside ``root``, symbolic links followed.

    Raises:
        ToolFailure: the path is absolute, or leads out of the folder by ``..`` or by a link. The text never tells where
            the folder lies.
    """
    if "\0" in path:
        raise ToolFailure("a path cannot hold a null character")
    if path.startswith(("/", "\\", "~")) or Path(path).drive:
        raise ToolFailure(f"{path!r} is not a path inside the folder: give it relative to the folder", retryable=False)
    base = root.resolve()
    target = (base / path).resolve()
    if not target.is_relative_to(base):
        raise ToolFailure(f"{path!r} leads out of the folder, and only files inside it may be used", retryable=False)
    return target


@contextmanager
def _in_words(path: str) -> Iterator[None]:
    """Errors of the system in words for the model: they would tell where the folder lies."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ToolFailure(f"{path!r} is not a UTF-8 text file") from error
    except OSError as error:
        raise ToolFailure(f"{path[:100]!r} cannot be opened: {error.strerror}") from error
    except RuntimeError as error:
        raise ToolFailure(f"{path!r} cannot be opened: its links run in a circle") from error


def file_tools(root: Path) -> tuple[Tool, ...]:
    """``list_files``, ``count_lines`` and ``read_file`` for the files inside ``root``."""

    def text_of(path: str) -> str:
        with _in_words(path):
            target = _inside(root, path)
            if target.is_dir():
                raise ToolFailure(f"{path!r} is a folder, not a file")
            if not target.is_file():
                raise ToolFailure(f"there is no file {path!r}")
            if target.stat().st_size > _LARGEST:
                raise ToolFailure(f"{path!r} is larger than {_LARGEST:,} bytes")
            return target.read_text(encoding="utf-8")

    @tool
    def list_files(folder: str = ".") -> list[str]:
        """List the files of a folder; the names of folders end with a slash.

        Args:
            folder: the folder to list, relative to the shared folder
        """
        with _in_words(folder):
            target = _inside(root, folder)
            if not target.is_dir():
                raise ToolFailure(f"there is no folder {folder!r}")
            base = root.resolve()
            shown = [path for path in target.iterdir() if path.exists() and path.resolve().is_relative_to(base)]
            return sorted(path.name + "/" * path.is_dir() for path in shown if not path.name.startswith("."))

    @tool
    def count_lines(path: str) -> dict[str, Any]:
        """Count the lines of a text file: all of them, those with text, and the blank ones.

        Args:
            path: the file, relative to the shared folder
        """
        lines = text_of(path).removesuffix("\n").split("\n")
        blank = sum(not line.strip() for line in lines)
        return {"path": path, "lines": len(lines), "with_text": len(lines) - blank, "blank": blank}

    @tool
    def read_file(path: str) -> str:
        """Read a text file.

        Args:
            path: the file, relative to the shared folder
        """
        return text_of(path)

    return (list_files, count_lines, read_file)
