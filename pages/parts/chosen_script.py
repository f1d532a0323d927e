"""The scripts that a run can be started with: the scenarios of the project, those kept in the data folder, lessons.

A scenario is named by its name, a kept script by its id behind ``script:``, the script of a lesson by lesson, variant
and language behind ``lesson:``. A name out of a file or an address is looked up in these lists alone and never taken
for a path.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from agent.errors import InputError
from agent.scripts import Script, load_script, scenarios
from pages.parts import address
from pages.parts.data import data_folder, private
from pages.parts.options import options
from pages.parts.words import t
from traces.lessons.course import course
from traces.lessons.lesson import LANGUAGES, Lesson
from traces.lessons.scripts import lesson_script
from traces.script_store import ScriptStore

_KEPT = "script:"
_LESSON = "lesson:"


def scripts() -> ScriptStore:
    """The scripts of the data folder."""
    return ScriptStore(data_folder(), options().tools)


def kept_name(script_id: str) -> str:
    """How a kept script is named among the scenarios."""
    return f"{_KEPT}{script_id}"


def kept_id(scenario: str) -> str | None:
    """The id of a kept script; None for a scenario, and for a task of one's own."""
    return scenario.removeprefix(_KEPT) if scenario.startswith(_KEPT) else None


def lesson_scenario(lesson: str, variant: str, language: str) -> str:
    """How the script of a lesson is named among the scenarios."""
    return f"{_LESSON}{lesson}:{variant}:{language}"


def lesson_of(scenario: str) -> tuple[str, str, str] | None:
    """Lesson, variant and language that a scenario names; None for any other scenario."""
    lesson, variant, language = (*scenario.removeprefix(_LESSON).split(":"), "", "", "")[:3]
    return (lesson, variant, language) if scenario.startswith(_LESSON) else None


def is_scenario(name: str) -> bool:
    """Whether it is the name of one of the project's scenarios, or of none at all, and not of a script or a lesson."""
    return kept_id(name) is None and lesson_of(name) is None


def kept_titles() -> dict[str, str]:
    """The kept scripts that can be played, by their name among the scenarios, the last changed first.

    On a server that others can reach only those that this browser made or was given a link to.
    """
    own = address.opened()
    infos = [info for info in scripts().list() if not info.problem and (private() or info.id in own)]
    return {kept_name(info.id): info.title for info in infos}


def find_script(scenario: str) -> Script:
    """The script of this name.

    Raises:
        InputError: there is none, or it is wrong; the text says what to do.
    """
    if (named := lesson_of(scenario)) is not None:
        return _of_lesson(*named)
    if (script_id := kept_id(scenario)) is None:
        return _scenario(scenario)
    path = scripts().find(script_id)
    if path is None:
        lost = t("The script of this run is not here any more: {id}", id=script_id)
        raise InputError(f"{lost}. {t('Replay the trace and continue from there: that records a script anew.')}")
    status = path.stat()
    return _loaded(path, status.st_size, status.st_mtime_ns)


@cache
def _scenario(name: str) -> Script:
    for info in scenarios():
        if info.name == name:
            return load_script(info.path)
    raise InputError(f"there is no scenario {name!r}")


def _of_lesson(name: str, variant: str, language: str) -> Script:
    lesson = course(data_folder()).find(name)
    if lesson is None:
        raise InputError(t("There is no lesson {name} here.", name=repr(name)))
    spoken = language if language in LANGUAGES else LANGUAGES[0]  # an address may name anything
    return _of_variant(lesson, lesson.variant(variant).name, spoken)


_LESSONS: dict[tuple[str, str, str], tuple[Lesson, Script]] = {}


def _of_variant(lesson: Lesson, variant: str, language: str) -> Script:
    """Read once as long as the lesson is the same one."""
    place = (lesson.name, variant, language)
    kept = _LESSONS.get(place)
    if kept is None or kept[0] is not lesson:
        kept = _LESSONS[place] = (lesson, lesson_script(lesson, variant, language, options().tools))
    return kept[1]


@lru_cache(maxsize=32)
def _loaded(path: Path, size: int, changed_ns: int) -> Script:
    """A kept script, read once as long as its file stays the same."""
    return load_script(path, options().tools)
