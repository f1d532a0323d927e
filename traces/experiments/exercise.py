"""Exercises: designs that come with the project, each with a question and what an experiment answers to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from agent.scripts import source

EXERCISES = Path(__file__).parent / "exercises"
"""The folder that the designs, their scripts and ``index.yaml`` lie in; paths in the designs are relative to it."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """One design to run, and what to think about before and after."""

    name: str
    """The stem of its design."""
    title: str
    title_zh: str
    question: str
    question_zh: str
    solution: str
    """What the experiment shows and what it does not. Not to be shown before the learner has answered."""
    solution_zh: str
    conditions_zh: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Names of its conditions in English -> in Chinese."""

    @property
    def design(self) -> Path:
        """The file of its design."""
        return EXERCISES / f"{self.name}.yaml"


@cache
def exercises() -> tuple[Exercise, ...]:
    """All of them, from the easiest on."""
    index = EXERCISES / "index.yaml"
    return tuple(Exercise(**told) for told in source.read(source.text_of(index), index.name))
