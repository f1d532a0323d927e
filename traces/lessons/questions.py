"""Predict, then reveal: which question is open where a run stands, and what the run itself answers to it."""

from __future__ import annotations

from collections.abc import Collection

from agent.events import Phase
from agent.moments import Moment, moments
from agent.trace import Trace
from traces.lessons.lesson import Ask, AskKind, Lesson, Notice, Place, Variant

CHOICES: dict[AskKind, tuple[str, ...]] = {
    "maker": ("user", "model", "code", "environment"),
    "role": ("system", "user", "assistant", "tool"),
    "reply": ("tools", "text"),
    "stop": ("stops", "goes_on"),
}
"""What can be answered to the questions that have no words of their own. Of kind ``choice`` it is the place of the
option, from 0."""


def choices(ask: Ask) -> tuple[str, ...]:
    """What can be answered to a question."""
    return CHOICES.get(ask.kind) or tuple(str(place) for place in range(len(ask.options)))


def place_of(moment: Moment) -> Place:
    """The place that a moment of a run is."""
    return Place(moment.step, moment.phase)


def stands_at(place: Place, moment: Moment) -> bool:
    """Whether a run at this moment stands at that place; the end is the end in whichever step."""
    return moment.phase is place.phase and (place.phase is None or moment.step == place.step)


def asks_at(lesson: Lesson, variant: Variant, moment: Moment) -> list[Ask]:
    """The questions that are asked before the run goes on from this moment."""
    return [ask for ask in asks_of(lesson, variant) if stands_at(ask.at, moment)]


def asks_of(lesson: Lesson, variant: Variant) -> list[Ask]:
    """All questions of a variant of a lesson."""
    return [ask for ask in lesson.asks if _belongs(ask, variant)]


def notices_at(lesson: Lesson, variant: Variant, moment: Moment) -> list[Notice]:
    """What there is to see at this moment in a variant of a lesson."""
    return [each for each in notices_of(lesson, variant) if stands_at(each.at, moment)]


def notices_of(lesson: Lesson, variant: Variant) -> list[Notice]:
    """All notices of a variant of a lesson."""
    return [notice for notice in lesson.notices if _belongs(notice, variant)]


def _belongs(told: Ask | Notice, variant: Variant) -> bool:
    return told.variant == variant.name if told.variant else variant.asks


def open_ask(lesson: Lesson, variant: Variant, moment: Moment, answered: Collection[str]) -> Ask | None:
    """The first question at this moment that has no answer yet.

    Args:
        lesson: the lesson.
        variant: of which the run is.
        moment: where it stands.
        answered: the ids of the questions that were answered or passed over.
    """
    return next((ask for ask in asks_at(lesson, variant, moment) if ask.id not in answered), None)


def truth(ask: Ask, trace: Trace, now: Phase | None) -> str | None:
    """What the run answers to a question, as one of :func:`choices`; None while it has not gone on from there.

    Args:
        ask: the question.
        trace: of the run, up to now.
        now: the phase that comes next in it; None: it is over.
    """
    found = moments(trace, now)
    at = next((number for number, moment in enumerate(found) if stands_at(ask.at, moment)), None)
    if at is None:
        return None
    if ask.kind == "choice":
        right = next(place for place, option in enumerate(ask.options) if option.right)
        return str(right) if len(found) > at + 1 or found[at].phase is None else None
    match ask.kind:
        case "maker" | "role":
            position = found[at].messages
            if position >= len(trace.messages):
                return None
            entry = trace.entries[position].maker if ask.kind == "maker" else trace.messages[position].role
            return str(entry)
        case "reply":
            return _reply(trace, found[at])
        case "stop":
            later = found[at + 1 :]
            after = next((each for each in later if each.phase is None or each.phase is Phase.PREPARE), None)
            return None if after is None else ("stops" if after.phase is None else "goes_on")


def _reply(trace: Trace, moment: Moment) -> str | None:
    """Whether the next message that the model makes asks for tools."""
    for message in trace.messages[moment.messages :]:
        if message.role == "assistant":
            return "tools" if message.tool_calls else "text"
    return None
