"""What a notebook is made of: the run or the trace that the address names, and the lesson that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.events import Phase
from agent.trace import Trace
from pages.parts import address, address_notebook
from pages.parts.chosen_script import lesson_of
from pages.parts.data import data_folder, private, store
from pages.parts.learner import learner
from pages.parts.player_source import named_reel
from pages.parts.runs import SETUP, OpenRun, registry
from traces.lessons.answers import Answers
from traces.lessons.course import course
from traces.lessons.lesson import Lesson, Variant
from traces.notebook.cells import Notebook, Own


@dataclass(frozen=True, slots=True)
class Source:
    """A notebook to show."""

    notebook: Notebook
    spoken: str
    """The language that the lesson's script speaks."""
    run: OpenRun | None
    """The run, where it is open in this server."""
    keeps_notes: bool
    """Whether notes may be kept with it: not with what everybody on a server shares."""


def named_source() -> Source | None:
    """The notebook that the address names; None where it names nothing.

    Raises:
        InputError: what it names is not here.
        OSError: the file is not there any more.
    """
    trace_id = address.trace_id()
    run = None if trace_id is None else registry().find(trace_id)
    if run is not None:
        with run.lock:  # no move begins meanwhile, so trace and phase belong together
            return _source(run.trace(), None if run.done else run.loop.phase, run)
    reel = named_reel()
    return None if reel is None else _source(reel.trace, None, None)


def keeps_notes(trace_id: str) -> bool:
    """Whether notes may be kept with a trace. The id of a run is a secret; bundled traces belong to everybody."""
    if private():
        return True
    info = store().find(trace_id)
    return info is None or info.kind != "bundled"


def _source(trace: Trace, now: Phase | None, run: OpenRun | None) -> Source:
    name, variant, spoken = _played(trace)
    asked = address_notebook.lesson()
    lesson = course(data_folder()).find(asked or name) if asked or name else None
    shown = None if lesson is None else lesson.variant(variant if lesson.name == name else "")
    language = address.language()
    own = Own() if lesson is None or shown is None or lesson.name != name else _own(lesson, shown)
    notebook = Notebook(trace, now, lesson, shown, language, own)
    return Source(notebook, spoken or language, run, keeps_notes(trace.trace_id))


def _own(lesson: Lesson, variant: Variant) -> Own:
    """What the learner of this session predicted in a lesson and wrote to its task."""
    answers, who = Answers(data_folder()), learner()
    task = answers.task(who.id, lesson.name)
    return Own(answers.given(who.id, lesson.name, variant.name), task.words, task.looked)


def _played(trace: Trace) -> tuple[str, str, str]:
    """The lesson, variant and language that a run was started with; three empty texts where with none."""
    setup: Any = trace.extra.get(SETUP)
    scenario = setup.get("scenario") if isinstance(setup, Mapping) else None
    found = lesson_of(scenario) if isinstance(scenario, str) else None
    return found or ("", "", "")
