"""What a lesson claims to show, held against the learner's own run as far as that can be checked."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from agent.errors import AgentError
from agent.events import AgentEvent
from agent.moments import moments
from agent.trace import Trace
from pages.parts.runs import OpenRun
from pages.parts.words import t
from traces.lessons.lesson import Lesson, Shown, Variant
from traces.lessons.shows import Played, check_shown, play_lesson


class Claim(NamedTuple):
    """One claim of a lesson."""

    shown: Shown
    holds: bool | None
    """Whether the run shows it; None: it cannot be told from the run."""


def claims(lesson: Lesson, variant: Variant, run: OpenRun, language: str) -> list[Claim]:
    """What a lesson claims of this variant, held against a run of it.

    Args:
        lesson: the lesson.
        variant: of which the run is.
        run: it rests where the lesson ends.
        language: in which the run speaks.
    """
    trace = run.held()
    runs = _Runs(lesson, language)
    first = lesson.variants[0].name
    about = [shown for shown in lesson.shows if (shown.variant or first) == variant.name]
    events = _events(trace, runs, variant) if any("events" in shown.that for shown in about) else None
    runs[variant.name] = Played(run.loop, trace, events or [], moments(trace, run.loop.phase))
    return [Claim(shown, _holds(shown, lesson, variant, runs, heard=events is not None)) for shown in about]


def by_hand(lesson: Lesson, variant: Variant, language: str) -> str:
    """How to get a run that shows what the lesson claims, where a person has to decide for that; empty elsewhere.

    Args:
        lesson: the lesson.
        variant: of which the run is.
        language: in which the run speaks.
    """
    try:
        trace = _Runs(lesson, language)[variant.name].trace
    except AgentError:  # it cannot be played
        return ""
    decided = {call.decision for step in trace.steps for call in step.tools}
    if "mocked" in decided:
        return t("Begin again and give the call this result by hand: {result}", result=lesson.hand.result)
    if "rejected" not in decided:
        return ""
    if lesson.hand.stop:
        return t("Begin again, choose Reject, and tick End the run as well.")
    return t("Begin again and reject the call.")


def _events(trace: Trace, runs: _Runs, variant: Variant) -> list[AgentEvent] | None:
    """A run keeps no list of its events. Where it says what the lesson's own playing says, they are the same ones."""
    try:
        played = runs[variant.name]
    except AgentError:  # it cannot be played
        return None
    own, others = ([message.to_dict() for message in each.messages] for each in (trace, played.trace))
    return played.events if own == others else None


def _holds(shown: Shown, lesson: Lesson, variant: Variant, runs: _Runs, *, heard: bool) -> bool | None:
    if "events" in shown.that and not heard:
        return None
    try:
        return check_shown(shown, lesson, runs.language, variant.name, runs) is None
    except AgentError:  # another variant, which it compares with, cannot be played
        return None


class _Runs(dict[str, Played]):
    """The runs of all variants; those beside the learner's own are played by themselves when a claim asks for them."""

    def __init__(self, lesson: Lesson, language: str) -> None:
        super().__init__()
        self._lesson, self.language = lesson, language

    def __missing__(self, variant: str) -> Played:
        played = self[variant] = _played(self._lesson, (self._lesson.name, variant, self.language))
        return played


@st.cache_resource(max_entries=32, show_spinner=False)
def _kept(_lesson: Lesson, place: tuple[str, str, str], identity: int) -> tuple[Lesson, Played]:
    return _lesson, play_lesson(_lesson, place[1], place[2])


def _played(lesson: Lesson, place: tuple[str, str, str]) -> Played:
    """Played once as long as the lesson is the same one; it is kept beside, so that its identity stays its own."""
    return _kept(lesson, place, id(lesson))[1]
