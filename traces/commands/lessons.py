"""``python -m traces lessons [FILE...]``: list the lessons of the course, or check lessons that a teacher wrote.

A lesson is checked as the course itself is: its file is read strictly, and it is played in every variant and both
languages to see whether it shows what it claims. Exit code 0: nothing is wrong. 1: something is, and standard error
says what and where.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from agent.console import DONE, FAILED, printable, say, tell
from agent.errors import InputError
from agent.scripts import source
from traces.commands.aligned import aligned
from traces.commands.names import PROG
from traces.lessons.course import FOLDER, bundled
from traces.lessons.file import lesson_problems, parse_lesson
from traces.lessons.lesson import LANGUAGES
from traces.lessons.shows import check_lesson

_COLUMNS = ("name", "system", "variants", "questions", "title")


def add(commands: Any) -> None:
    """Add the command to the parser's sub-commands."""
    parser = commands.add_parser(
        "lessons",
        help="list the lessons of the course, or check lessons of your own",
        description="List the lessons of the course; with files: check these lessons, also by playing them. A lesson "
        f"of your own is taught when its file lies in the folder {FOLDER!r} of the data folder; "
        "traces/lessons/FORMAT.md tells every key. Exit code 1: something is wrong with a file.",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="a lesson to check, YAML or JSON")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """List or check; gives the exit code."""
    if options.files:
        return max(_check(Path(name)) for name in options.files)
    rows = [
        (lesson.name, str(lesson.system), str(len(lesson.variants)), str(len(lesson.asks)), lesson.title.en)
        for lesson in bundled()
    ]
    say(printable("\n".join(aligned([_COLUMNS, *rows]))))
    return DONE


def _check(path: Path) -> int:
    try:
        wrong = _wrong(path)
    except InputError as error:
        wrong = [str(error)]
    for sentence in wrong:
        tell(printable(f"{PROG}: {sentence}"))
    if not wrong:
        say(printable(f"{path}: nothing is wrong with it"))
    return FAILED if wrong else DONE


def _wrong(path: Path) -> list[str]:
    """Everything that is wrong with a lesson; what it shows is looked at only where it can be read."""
    text = source.text_of(path, "lesson")
    if problems := lesson_problems(text, path.name):
        return [problem.told(path.name) for problem in problems]
    lesson = parse_lesson(text, path.name, own=True)
    return [f"{path.name}: {sentence}" for language in LANGUAGES for sentence in check_lesson(lesson, language)]
