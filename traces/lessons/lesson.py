"""What a lesson is: a script, a question before it, what to notice and to predict on the way, and a task after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from agent.events import Phase

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Text:
    """The same words in both languages."""

    en: str
    zh: str

    def of(self, language: str) -> str:
        """The words in this language; English where it is another one."""
        return self.zh if language == "zh" else self.en


class System(StrEnum):
    """Which of the five systems a lesson comes from; ``lab`` is what this project adds to them."""

    PLAIN = "plain"
    OBSERVABLE = "observable"
    STATE_MACHINE = "state_machine"
    JSON_ACTION = "json_action"
    BOUNDED = "bounded"
    LAB = "lab"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands: before a phase of a step, or at its end."""

    step: int
    """From 1."""
    phase: Phase | None
    """What comes next; None: the run is over, in whichever step."""

    @property
    def id(self) -> str:
        """``2-call``, or ``end``: names the place in a file, an address and the kept answers."""
        return "end" if self.phase is None else f"{self.step}-{self.phase}"


AskKind = Literal["maker", "role", "reply", "stop", "choice"]


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose from, of a question in words of its own."""

    text: Text
    right: bool = False
    why: Text | None = None
    """Shown when the answer is revealed."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question that is asked before the run goes on from a place; the run itself answers it."""

    at: Place
    kind: AskKind
    """``maker``: who makes the next message. ``role``: its role. ``reply``: does the model ask for a tool or answer.
    ``stop``: does the run end here. ``choice``: a question in words of its own."""
    text: Text | None = None
    """The question; only those of kind ``choice`` have words of their own."""
    options: tuple[Option, ...] = ()
    """Of kind ``choice``; exactly one of them is right."""
    why: Text | None = None
    """Why it is so; shown when the answer is revealed."""
    variant: str = ""
    """In which variant alone it is asked; empty: in all that have questions."""

    @property
    def id(self) -> str:
        """Names the question among those of its lesson: ``2-call.maker``."""
        return f"{self.at.id}.{self.kind}"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to see when the run has come to a place."""

    at: Place
    text: Text
    variant: str = ""
    """As of :class:`Ask`."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A claim that a run of the lesson shows, in words and so that a program can check it."""

    text: Text
    that: Mapping[str, Any]
    """What must hold, by name; :mod:`traces.lessons.shows` knows the names."""
    variant: str = ""
    """Of which variant; empty: of the first."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run the script of a lesson."""

    name: str
    title: Text
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the script that are other ones here."""
    asks: bool = True
    """Whether the questions and notices of the lesson belong to this variant too."""


@dataclass(frozen=True, slots=True)
class Hand:
    """What is decided about a call that waits for a person, where the course is played by itself."""

    action: Literal["run", "mock", "reject"] = "run"
    result: str = ""
    """Of ``mock``: what the tool answers. Of ``reject``: the reason."""
    stop: bool = False
    """Of ``reject``: the whole run ends with it."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson. Its script in a language and a variant is :func:`traces.lessons.scripts.lesson_script`."""

    name: str
    """From the name of its file, without the number in front: letters, digits and ``_``."""
    title: Text
    system: System
    idea: Text
    """What it is about, in two to four sentences."""
    question: Text
    """What to think about before the run."""
    script: str | Mapping[str, Any]
    """The name of a scenario, or the keys of a script, in which every text may be ``{en: ..., zh: ...}``."""
    variants: tuple[Variant, ...]
    """The first is shown at the beginning; there is always one."""
    asks: tuple[Ask, ...] = ()
    notices: tuple[Notice, ...] = ()
    shows: tuple[Shown, ...] = ()
    until: Place | None = None
    """Where the lesson is over; None: at the end of the run."""
    hand: Hand = Hand()
    chapter: Text | None = None
    """The part of the course that it belongs to; lessons of one chapter follow each other."""
    task: Text | None = None
    """What to do afterwards."""
    answer: Text | None = None
    """The answer to that, shown when asked for."""
    takeaway: Text | None = None
    """The one sentence to keep; a learning note begins with it."""
    exercise: str = ""
    """The name of an exercise that belongs to it."""
    ablation: str = ""
    """The name of an exercise of the laboratory (:mod:`traces.experiments.exercise`) that belongs to it."""
    own: bool = False
    """Added by a teacher, and no part of the course that comes with the project."""

    def variant(self, name: str) -> Variant:
        """The variant of this name; the first where there is none."""
        return next((each for each in self.variants if each.name == name), self.variants[0])
