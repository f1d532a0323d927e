"""What a press does in a lesson: it moves the run as on the Run page, but first comes the question that is open."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from agent.errors import AgentError
from agent.moments import moments
from pages.parts import address, address_learn
from pages.parts.chosen_script import lesson_of, lesson_scenario
from pages.parts.data import data_folder
from pages.parts.keys import Action, Control, controls
from pages.parts.learner import learner
from pages.parts.lesson_progress import is_over, question, rests_at, what_waits
from pages.parts.opening import current_run, problem, started
from pages.parts.runs import OpenRun
from pages.parts.setup import Setup, default_guards, default_steps
from pages.parts.transport import GOES_ON, move
from pages.parts.words import loop_words, t
from traces.lessons.answers import Answers
from traces.lessons.course import course
from traces.lessons.lesson import Ask, Lesson, Variant

SKIP, NEXT = "K", "L"
"""Keys of a lesson beside those of a run."""


def lesson_controls() -> dict[Action, Control]:
    """The controls of the run of a lesson."""
    again = Control(
        t("Begin again"), "X", ":material/restart_alt:", t("Leave this run; the next press begins a new one")
    )
    return controls() | {"reset": again}


def lesson_keys() -> list[Control]:
    """All keys of a lesson, for the list of them."""
    answer = Control(t("Answer"), "1 … 6", "", t("Choose this answer to the question that is open"))
    skip = Control(t("Skip"), SKIP, "", t("Go on without an answer"))
    following = Control(t("Next lesson"), NEXT, "", t("At the end of a lesson"))
    return [answer, skip, *lesson_controls().values(), following]


def named_lesson() -> tuple[Lesson, Variant] | None:
    """The lesson that the address names and its variant; None where there is no such lesson."""
    name = address_learn.lesson()
    lesson = None if name is None else course(data_folder()).find(name)
    return None if lesson is None else (lesson, lesson.variant(address_learn.variant()))


def in_address(lesson: Lesson, variant: Variant) -> str:
    """How the address names a variant: not at all for the first."""
    return "" if variant is lesson.variants[0] else variant.name


def run_of_lesson(lesson: Lesson) -> OpenRun | None:
    """The run that the address names, or that this session had here; None, with the reason told, if of another."""
    run = current_run(form=False)
    if run is None:
        return None
    named = lesson_of(run.setup.scenario)
    if named is None or named[0] != lesson.name:
        address.tell(t("The run in the address does not belong to this lesson."))
        address.close_run()
        return None
    return run


def variant_of(lesson: Lesson, run: OpenRun) -> Variant:
    """The variant of the lesson that a run of it plays."""
    named = lesson_of(run.setup.scenario)
    return lesson.variant("" if named is None else named[1])


def lesson_setup(lesson: Lesson, variant: Variant) -> Setup:
    """What a run of a lesson is started with: just what its script says.

    Raises:
        InputError: the script is wrong.
    """
    scenario = lesson_scenario(lesson.name, variant.name, address_learn.language())
    script = Setup(scenario).script()
    return Setup(
        scenario,
        max_steps=default_steps(scenario),
        guards=default_guards(scenario),
        parallel=script is None or script.parallel,
    )


def press(action: Action, seen: int | None) -> None:
    """What a press of a button does. The first one makes the run; none moves it past an open question.

    Args:
        action: what was pressed.
        seen: how many moments of the run the page had drawn then.
    """
    here = named_lesson()
    if here is None:
        return  # the page says so
    lesson, variant = here
    # The press may have broken a drawing off that had not come to say so itself.
    address_learn.show_place(lesson.name, in_address(lesson, variant))
    run = run_of_lesson(lesson)
    if run is not None:
        variant = variant_of(lesson, run)
    if action in GOES_ON:
        if (obstacle := _obstacle(lesson, variant, run)) is not None:
            st.toast(obstacle, icon=":material/front_hand:")
            return
        if run is None:
            run = _begun(lesson, variant)
        elif run.asleep:
            address.tell(problem(run, run.setup) or t("This run cannot go on here."))
            return
    if run is not None:
        move(run, action, seen, rests=rests_at(lesson, variant, run.runner))


def answer(lesson: Lesson, variant: Variant, ask: Ask, choice: str) -> None:
    """Keep an answer; an empty choice passes the question over."""
    who = learner()
    try:
        Answers(data_folder()).put(who.id, question(lesson, variant, ask), choice, None, klass=who.klass)
    except AgentError as error:
        address.tell(loop_words(str(error)))


def forget(lesson: Lesson, variant: Variant) -> None:
    """Let the learner answer this lesson anew: the answers are taken back, and the next press begins a new run."""
    try:
        Answers(data_folder()).forget(learner().id, lesson.name, variant.name)
    except AgentError as error:
        address.tell(loop_words(str(error)))
        return
    address_learn.unsettle()
    press("reset", None)


def _obstacle(lesson: Lesson, variant: Variant, run: OpenRun | None) -> str | None:
    """Why the run does not go on now, kindly; None where nothing keeps it."""
    if what_waits(lesson, variant, run) is not None:
        return t("There is a question first. Answer it with a number key, or press {key} to skip it.", key=SKIP)
    if run is not None and not run.done and is_over(lesson, run, moments(run.held(), run.loop.phase)[-1]):
        return t("The lesson ends here on purpose. Open the run on the Run page to go on with it.")
    return None


def _begun(lesson: Lesson, variant: Variant) -> OpenRun | None:
    with suppress(AgentError):  # what is wrong with the script is told on the page
        return started(lesson_setup(lesson, variant), bare=True)
    return None
