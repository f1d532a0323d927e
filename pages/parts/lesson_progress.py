"""How far a learner is in a lesson: what is asked now, what was answered and what the run says to it, what was seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from agent.errors import AgentError
from agent.events import Phase
from agent.moments import Moment, moments
from agent.runner import Runner
from agent.trace import Trace
from pages.parts import address_learn
from pages.parts.data import data_folder
from pages.parts.learner import learner
from pages.parts.runs import OpenRun
from traces.lessons.answers import Answers, Question
from traces.lessons.lesson import Ask, Lesson, Notice, Place, Variant
from traces.lessons.questions import asks_at, asks_of, notices_of, open_ask, stands_at, truth

_BEGINNING = Moment(step=1, phase=Phase.PREPARE, messages=0)
"""Where a lesson stands before its first press."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A question that was answered or passed over, and what the run has said to it since."""

    ask: Ask
    choice: str
    """One of :func:`traces.lessons.questions.choices`; empty: it was passed over."""
    truth: str
    """What the run says, in the same form."""
    fresh: bool
    """It belongs to the moment that is looked at."""

    @property
    def right(self) -> bool | None:
        """Whether the learner was right; None: the question was passed over."""
        return self.choice == self.truth if self.choice else None


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something to notice whose place the run has come to."""

    notice: Notice
    fresh: bool
    """It belongs to the moment that is looked at."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a learner is, for one drawing of the page."""

    open: Ask | None
    """What is asked before the run goes on."""
    waiting: tuple[tuple[Ask, str], ...]
    """What was answered at this moment, with the answer; the run has said nothing to it yet."""
    verdicts: tuple[Verdict, ...]
    noticed: tuple[Noticed, ...]
    over: bool
    """The run rests where the lesson ends."""


def progress(lesson: Lesson, variant: Variant, run: OpenRun | None, number: int, *, busy: bool) -> Progress:
    """How far the learner of this session is. What turned out right or wrong is kept with the answers.

    Args:
        lesson: the lesson.
        variant: of which the run is.
        run: the open run; None before the first press.
        number: place of the moment that is looked at among all of the run, from 1.
        busy: the run moves, so nothing is asked.
    """
    given = given_answers(lesson, variant)
    trace, phase = (Trace(), Phase.PREPARE) if run is None else (run.held(), run.loop.phase)
    found = [_BEGINNING] if run is None else moments(trace, phase)
    now = found[-1]
    asks = asks_of(lesson, variant)
    told = {ask.id: said for ask in asks if ask.id in given and (said := truth(ask, trace, phase)) is not None}
    places = {f"ask {ask.id}": _place(ask.at, found) + 1 for ask in asks if ask.id in told}
    reached = [notice for notice in notices_of(lesson, variant) if _place(notice.at, found) >= 0]
    places |= {_name(notice): _place(notice.at, found) for notice in reached}
    last = len(found) - 1
    seen = places if run is None else address_learn.first_seen(run.id, places, last)
    if run is not None:
        _settle(lesson, variant, given, told)
    past = number - 1 < last
    resting = not busy and not past
    asking = resting and address_learn.asks()
    return Progress(
        open=open_ask(lesson, variant, now, given) if asking else None,
        waiting=tuple(
            (ask, given[ask.id])
            for ask in (asks_at(lesson, variant, now) if resting else ())
            if given.get(ask.id) and ask.id not in told
        ),
        verdicts=tuple(
            Verdict(ask, given[ask.id], told[ask.id], fresh=min(seen[f"ask {ask.id}"], last) == number - 1)
            for ask in asks
            if ask.id in told
        ),
        noticed=tuple(Noticed(notice, fresh=seen[_name(notice)] == number - 1) for notice in reached),
        over=run is not None and not busy and is_over(lesson, run, now),
    )


def given_answers(lesson: Lesson, variant: Variant) -> dict[str, str]:
    """What the learner of this session answered in a variant."""
    return Answers(data_folder()).given(learner().id, lesson.name, variant.name)


def question(lesson: Lesson, variant: Variant, ask: Ask) -> Question:
    """How the kept answers know a question."""
    return Question(lesson.name, variant.name, ask.id)


def is_over(lesson: Lesson, run: OpenRun, now: Moment) -> bool:
    """Whether a lesson ends at this moment, the last one of its run."""
    return run.done or (lesson.until is not None and stands_at(lesson.until, now))


def what_waits(lesson: Lesson, variant: Variant, run: OpenRun | None) -> Ask | None:
    """The question that has to be answered before the run goes on, as things are now; for callbacks."""
    if not address_learn.asks():
        return None
    now = _BEGINNING if run is None else moments(run.held(), run.loop.phase)[-1]
    return open_ask(lesson, variant, now, given_answers(lesson, variant))


def rests_at(lesson: Lesson, variant: Variant, runner: Runner) -> Callable[[], bool]:
    """Where a run of the lesson stands still whatever its move is: at questions that are open now, and at its end.

    It is asked in the run's own thread before each phase, so it looks at nothing of the session.
    """
    asks = asks_of(lesson, variant) if address_learn.asks() else []
    given = given_answers(lesson, variant)
    places = {ask.at for ask in asks if ask.id not in given} | ({lesson.until} if lesson.until is not None else set())

    def rests() -> bool:
        loop = runner.loop
        if not any(place.phase is loop.phase for place in places):
            return False
        now = moments(loop.trace, loop.phase)[-1]
        return any(stands_at(place, now) for place in places)

    return rests


def _place(at: Place, found: list[Moment]) -> int:
    """The number of the moment at which a run stood at a place; -1 where it never did."""
    return next((number for number, moment in enumerate(found) if stands_at(at, moment)), -1)


def _name(notice: Notice) -> str:
    return f"notice {notice.at.id} {notice.text.en}"


def _settle(lesson: Lesson, variant: Variant, given: Mapping[str, str], told: Mapping[str, str]) -> None:
    """Keep whether answers were right, as soon as the run has said so."""
    who = learner()
    for ask, choice in given.items():
        if choice and ask in told and address_learn.settle((who.id, lesson.name, variant.name, ask)):
            place = Question(lesson.name, variant.name, ask)
            with suppress(AgentError):  # a file that cannot be written was told when the answer was given
                Answers(data_folder()).put(who.id, place, choice, choice == told[ask], klass=who.klass)
