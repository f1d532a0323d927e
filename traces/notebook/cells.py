"""A notebook: a run as a sequence of cells. What stands in a cell is told in :mod:`traces.notebook.telling`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from agent.events import STATE_OF, AgentState, Phase
from agent.moments import Moment, moments
from agent.trace import Trace, TraceStep
from traces.lessons.lesson import Ask, Lesson, Variant
from traces.lessons.questions import asks_at, notices_at, truth

TRACE = "trace"
"""The place of notes on the run as a whole."""
END = "end"
"""The place of notes after the end."""

Kind = Literal["idea", "start", "phase", "lesson", "end", "task"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the lesson, with what the run answers to it."""

    ask: Ask
    answer: str | None
    """One of :func:`traces.lessons.questions.choices`; None while the run has not gone on."""
    said: str | None = None
    """What the learner predicted, as one of them; empty: passed over; None: was not asked."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a notebook."""

    kind: Kind
    """``idea`` and ``task``: the words of the lesson before and after the run. ``start``: the messages that it begins
    with. ``phase``: what a phase did. ``lesson``: what to predict and to notice where the run stands. ``end``: how the
    run ended, or where it stands."""
    place: str
    """Where notes are kept that were written after this cell."""
    moment: int = 0
    """Place among the moments of the run, from 0: where the run stands, or stood before the phase."""
    step: int = 1
    phase: Phase | None = None
    """The phase that acted; in cells of kind ``start``, ``lesson`` and ``end`` the one that comes next."""
    messages: range = range(0)
    """Positions of the messages that it added."""
    texts: tuple[str, ...] = ()
    """What the lesson says to notice."""
    questions: tuple[Asked, ...] = ()

    @property
    def state(self) -> AgentState:
        """The state that the picture shows."""
        return STATE_OF[self.phase]


@dataclass(frozen=True, slots=True)
class Own:
    """The learner's own part in a lesson."""

    predicted: Mapping[str, str] = field(default_factory=dict)
    """See :meth:`traces.lessons.answers.Answers.given`."""
    words: str = ""
    """What was written to the task of the lesson."""
    looked: bool = False
    """Whether the lesson's answer to the task was looked at."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A run, and the lesson that it belongs to, ready to be shown and handed out."""

    trace: Trace
    now: Phase | None = None
    """The phase that comes next in a run that goes on; None: it is over."""
    lesson: Lesson | None = None
    variant: Variant | None = None
    language: str = "en"
    """Of the words, ours and those of the lesson."""
    own: Own = Own()
    """Of whoever reads it."""

    @property
    def title(self) -> str:
        """That of the lesson, else that of the trace."""
        if self.lesson is not None:
            return self.lesson.title.of(self.language)
        return self.trace.title or self.trace.task or self.trace.trace_id


def cells(notebook: Notebook) -> list[Cell]:
    """The cells of a notebook, in order: the moments at which something came to be, and what the lesson says there."""
    return list(_cells(notebook))


def place_of(note: str, made: list[Cell]) -> int:
    """After which cell a note belongs that was written at a place: its position; -1: above all of them.

    A place that is no cell of its own, as a message in the middle of one, belongs to the cell that holds it.

    Args:
        note: the place, as :attr:`Cell.place` names them.
        made: the cells.
    """
    if note == TRACE:
        return -1
    kind, _, number = note.partition("-")
    if kind == "message" and number.isdecimal():
        found = [at for at, cell in enumerate(made) if int(number) in cell.messages]
    else:
        found = [at for at, cell in enumerate(made) if cell.place == note]
        if not found and kind in ("moment", "lesson") and number.isdecimal():
            earlier = [at for at, cell in enumerate(made) if cell.kind != "task" and cell.moment <= int(number)]
            found = earlier[-1:]
    return next(iter(found), len(made) - 1)


def _cells(notebook: Notebook) -> Iterator[Cell]:
    trace, lesson = notebook.trace, notebook.lesson
    found = moments(trace, notebook.now)
    steps = {step.index: step for step in trace.steps}
    if lesson is not None:
        yield Cell("idea", "idea")
    first = found[0]
    yield _placed(Cell("start", "", 0, first.step, first.phase, range(first.messages)))
    for at, (moment, after) in enumerate(pairwise(found)):
        yield from _of_lesson(notebook, moment)
        added = range(moment.messages, after.messages)
        if added or _matters(moment, steps.get(moment.step)):
            yield _placed(Cell("phase", "", at, moment.step, moment.phase, added))
    last = found[-1]
    if last.messages < len(trace.messages):  # a file may hold messages that no step leads to
        rest = range(last.messages, len(trace.messages))
        yield _placed(Cell("phase", "", last.number, last.step, None, rest))
    yield from _of_lesson(notebook, last)
    yield Cell("end", END, len(found) - 1, last.step, last.phase)
    if lesson is not None and (lesson.task or lesson.takeaway):
        yield Cell("task", "task", len(found) - 1, last.step, last.phase)


def _placed(cell: Cell) -> Cell:
    """The cell with its place: its last message, else its moment."""
    place = f"message-{cell.messages[-1]}" if cell.messages else f"moment-{cell.moment}"
    return Cell(cell.kind, place, cell.moment, cell.step, cell.phase, cell.messages)


def _matters(moment: Moment, step: TraceStep | None) -> bool:
    """Whether a phase that added no message did something worth a cell."""
    if step is None:
        return False
    match moment.phase:
        case Phase.PREPARE:
            return step.request is not None and bool(step.request.edits)
        case Phase.CALL:
            return step.reply is None
        case Phase.APPROVE:
            return any(run.decision not in (None, "run") for run in step.tools)
    return False


def _of_lesson(notebook: Notebook, moment: Moment) -> Iterator[Cell]:
    lesson, variant = notebook.lesson, notebook.variant
    if lesson is None or variant is None:
        return
    asks = asks_at(lesson, variant, moment)
    texts = tuple(each.text.of(notebook.language) for each in notices_at(lesson, variant, moment))
    if not asks and not texts:
        return
    predicted = notebook.own.predicted
    questions = tuple(Asked(ask, truth(ask, notebook.trace, notebook.now), predicted.get(ask.id)) for ask in asks)
    yield Cell(
        "lesson", f"lesson-{moment.number}", moment.number, moment.step, moment.phase, range(0), texts, questions
    )
