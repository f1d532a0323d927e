"""The exercises of the course, in their order."""

from __future__ import annotations

from dataclasses import dataclass

from traces.lessons.exercises import map_fields, order_messages, react, repair, stop_rule, write_tool
from traces.lessons.exercises.exercise import Exercise
from traces.lessons.lesson import Text

_EXERCISES = (
    order_messages.EXERCISE,
    repair.EXERCISE,
    react.EXERCISE,
    map_fields.EXERCISE,
    stop_rule.EXERCISE,
    write_tool.EXERCISE,
)


@dataclass(frozen=True, slots=True)
class ExerciseInfo:
    """An exercise in the few words of a list."""

    name: str
    """In addresses, in lessons and in the kept answers."""
    title: Text
    summary: Text
    """One sentence: what there is to do."""


def catalogue() -> tuple[ExerciseInfo, ...]:
    """All exercises."""
    return tuple(ExerciseInfo(each.name, each.title, each.summary) for each in _EXERCISES)


def find(name: str) -> Exercise | None:
    """The exercise of this name."""
    return next((each for each in _EXERCISES if each.name == name), None)
