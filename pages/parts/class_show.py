"""What a teacher shows to the class: a lesson, or a run to look at; and what the class answers just now."""

from __future__ import annotations

import streamlit as st

from agent.errors import InputError
from pages.parts import address, address_class
from pages.parts.class_rooms import rooms, wake
from pages.parts.class_table import POLL_S
from pages.parts.class_tally import bars
from pages.parts.data import data_folder
from pages.parts.lesson_words import ask_words
from pages.parts.polling import of_this_drawing
from pages.parts.runs import registry
from pages.parts.setup_form import scenario_title
from pages.parts.view_links import view_id
from pages.parts.words import loop_words, t
from traces.classroom.klass import Klass, Showing
from traces.lessons.answers import Answers, Question
from traces.lessons.course import course
from traces.lessons.questions import asks_of

_MOST_RUNS = 12


def show_panel(klass: Klass) -> None:
    """Draw the choice of what is shown. What the teacher last looked at stands first.

    Args:
        klass: the class.
    """
    things = _things()
    names = list(things)
    st.caption(
        t("The students get one line with a link to it, wherever they are. A run is shown for looking alone, live.")
    )
    if address.setting(address_class.SHOW, names[0]) not in names:
        address.put(address_class.SHOW, names[0])
    st.selectbox(t("Show"), names, format_func=things.__getitem__, key=address_class.SHOW, label_visibility="collapsed")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            t("Show it to the class"),
            key="class-show-it",
            icon=":material/cast_for_education:",
            on_click=_show,
            args=(klass,),
        )
        if klass.showing is not None:
            st.button(t("Show nothing"), key="class-show-no", type="tertiary", on_click=_show_nothing, args=(klass,))
            st.text(t("Shown now: {what}", what=_words(klass.showing)), width="content")


def answers_panel(klass: Klass) -> None:
    """Draw what the class answers to the question that somebody answered last; hidden until the teacher shows it.

    Args:
        klass: the class.
    """

    @st.fragment(run_every=POLL_S)
    @of_this_drawing
    def watch() -> None:
        answers = Answers(data_folder())
        question = answers.latest(klass.id)
        lesson = course(data_folder()).find(question.lesson) if question is not None else None
        asks = asks_of(lesson, lesson.variant(question.variant)) if lesson is not None and question is not None else []
        ask = next((each for each in asks if question and each.id == question.ask), None)
        if question is None or lesson is None or ask is None:
            st.caption(t("Nobody has answered a question of a lesson yet."))
            return
        tally = answers.tally(klass.id, question)
        st.text(f"{lesson.title.of(address.language())} · {ask_words(ask)}")
        seats = len(rooms().classes.seats(klass.id))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(t("Answers: {n} of {m}", n=sum(tally.values()), m=seats), width="content")
            shown = st.toggle(t("Show the answers"), key=_reveal_key(klass, question))
        if shown:
            bars(ask, tally)

    watch()


def _reveal_key(klass: Klass, question: Question) -> str:
    """Each question begins hidden."""
    return f"{address_class.REVEAL}-{klass.id}-{question.key}"


def _things() -> dict[str, str]:
    """What can be shown: ``lesson:name:variant`` or ``run:id`` -> title, what was last looked at first."""
    look = address_class.look()
    spoken = address.language()
    lessons = {
        f"lesson:{each.name}:": t("Lesson: {title}", title=each.title.of(spoken))
        for each in course(data_folder()).lessons
    }
    runs = {}
    for run in [run for run in registry().listed() if run.id in address.opened()][:_MOST_RUNS]:
        title = scenario_title(run.setup.scenario)
        runs[f"run:{run.id}"] = t("Run: {title}, {n} messages", title=title, n=len(run.loop.messages))
    first = {}
    if look is not None and f"lesson:{look.what}:" in lessons:
        first[f"lesson:{look.what}:{look.variant}"] = lessons.pop(f"lesson:{look.what}:")
    if look is not None and f"run:{look.run}" in runs:
        first = {f"run:{look.run}": runs.pop(f"run:{look.run}")} | first if not look.what else first
    return first | runs | lessons


def _show(klass: Klass) -> None:
    chosen = str(address.setting(address_class.SHOW) or "")
    kind, _, rest = chosen.partition(":")
    if kind == "run":
        _set(klass, Showing("run", view_id(rest)))
    elif kind == "lesson":
        name, _, variant = rest.partition(":")
        _set(klass, Showing("lesson", name, variant))


def _show_nothing(klass: Klass) -> None:
    _set(klass, None)


def _set(klass: Klass, showing: Showing | None) -> None:
    try:
        rooms().classes.show(klass.id, showing)
    except InputError as error:
        address.tell(loop_words(str(error)))
        return
    wake(klass)


def _words(showing: Showing) -> str:
    """What is shown, in words."""
    if showing.kind == "run":
        return t("a run")
    lesson = course(data_folder()).find(showing.name)
    return lesson.title.of(address.language()) if lesson is not None else showing.name
