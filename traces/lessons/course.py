"""The course: the lessons that come with the project, and those that a teacher added."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from agent.errors import InputError
from traces.lessons.file import read_lesson
from traces.lessons.lesson import Lesson

COURSE = Path(__file__).with_name("course")
"""The files of the lessons; their order is that of the names."""
FOLDER = "lessons"
"""Of the data folder: where a teacher puts files of the same kind."""
_ENDINGS = (".yaml", ".yml", ".json")


class Course(NamedTuple):
    """All lessons, in their order."""

    lessons: tuple[Lesson, ...]
    problems: tuple[str, ...] = ()
    """What of a teacher's files cannot be taught, and why, one sentence each."""

    def find(self, name: str) -> Lesson | None:
        """The lesson of this name."""
        return next((lesson for lesson in self.lessons if lesson.name == name), None)


@cache
def bundled() -> tuple[Lesson, ...]:
    """The lessons that come with the project."""
    return tuple(read_lesson(path) for path in sorted(COURSE.glob("*.yaml")))


def course(data: Path | None = None) -> Course:
    """All lessons. One of a teacher's with the name of another is left out, and told.

    Args:
        data: the data folder, in which :data:`FOLDER` may lie.
    """
    lessons, problems = list(bundled()), list[str]()
    for path in _files(data):
        try:
            status = path.stat()
            lesson = _read(path, (status.st_mtime_ns, status.st_ctime_ns, status.st_size))
        except OSError as error:
            lesson = str(error)
        if isinstance(lesson, str):
            problems.append(lesson)
        elif any(lesson.name == other.name for other in lessons):
            problems.append(f"{path.name}: there is already a lesson called {lesson.name!r}")
        else:
            lessons.append(lesson)
    return Course(tuple(lessons), tuple(problems))


def _files(data: Path | None) -> list[Path]:
    folder = None if data is None else data / FOLDER
    if folder is None or not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in _ENDINGS)


@lru_cache(maxsize=256)
def _read(path: Path, state: tuple[int, int, int]) -> Lesson | str:
    """A lesson, or what is wrong with it, read once for as long as the file and its rights do not change."""
    try:
        return read_lesson(path, own=True)
    except InputError as error:
        return str(error)
