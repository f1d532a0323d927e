"""The Learn page in the URL: which lesson and variant, which exercise, or the five systems side by side."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.parts import address
from traces.lessons.lesson import LANGUAGES

PAGE = "pages/learn.py"
"""The file of the page."""

_LESSON = "lesson"
_VARIANT = "variant"
_EXERCISE = "exercise"
_SYSTEMS = "systems"
_ASK = "ask"
_KEPT = ("lang", "projector", "seat", _ASK)
"""What stays in the URL wherever the page leads."""
_RUN, _AT = "run", "at"
_DRAWN = "lesson-drawn"
_SEEN = "lesson-seen"
_SETTLED = "lesson-settled"

ASKS = "lesson-asks"
"""The switch of the questions."""


def what_is_open() -> str:
    """What of the course the URL names; empty for the course as a whole."""
    params = st.query_params
    return params.get(_LESSON) or params.get(_EXERCISE) or params.get(_SYSTEMS) or ""


def lesson() -> str | None:
    """The lesson that the URL names."""
    return st.query_params.get(_LESSON) or None


def variant() -> str:
    """The variant of it that the URL names; empty for the first."""
    return str(st.query_params.get(_VARIANT, ""))


def exercise() -> str | None:
    """The exercise that the URL names."""
    return st.query_params.get(_EXERCISE) or None


def systems() -> bool:
    """Whether the URL asks for the five systems side by side."""
    return _SYSTEMS in st.query_params


def open_lesson(name: str, variant: str = "") -> None:
    """Show this lesson from now on, in the variant, with the run that this session had there."""
    _show(_where(name, variant) | _run_of(name, variant))


def open_exercise(name: str) -> None:
    """Show this exercise from now on."""
    _show({_EXERCISE: name})


def open_systems() -> None:
    """Show the five systems from now on."""
    _show({_SYSTEMS: "1"})


def close() -> None:
    """Show the course as a whole from now on."""
    _show({})


def lesson_link(name: str, variant: str = "") -> dict[str, str]:
    """The parameters of a link to a lesson."""
    return kept() | _where(name, variant)


def course_link() -> dict[str, str]:
    """The parameters of a link to the course as a whole."""
    return kept()


def run_link(run: str) -> dict[str, str]:
    """The parameters of a link to the Run page that shows this run, at the moment that is shown here."""
    at = st.query_params.get(_AT)
    return address.run_link(run) | ({_AT: at} if at else {})


def asks() -> bool:
    """Whether questions are asked on the way."""
    return st.query_params.get(_ASK) != "0"


def choose_asks() -> None:
    """Take over what the switch of the questions says."""
    if st.session_state[ASKS]:
        st.query_params.pop(_ASK, None)
    else:
        st.query_params[_ASK] = "0"


def show_place(lesson: str, variant: str) -> None:
    """From now on the run of this session is that of the lesson in this variant and the language of the page.

    A run in another language stays where it is when the language is switched, and its own one comes back.
    """
    here, before = place(lesson, variant, language()), st.session_state.get(_DRAWN)
    address.show_runs_of(here)
    st.session_state[_DRAWN] = here
    if before != here and before in [place(lesson, variant, other) for other in LANGUAGES]:
        now = {
            key: value for key, value in st.query_params.to_dict().items() if key not in (_RUN, _AT, address.LANGUAGE)
        }
        chosen = {address.LANGUAGE: language()} if language() != address.default_language() else {}
        st.query_params.from_dict(now | chosen | _run_of(lesson, variant))


def runs_elsewhere(lesson: str, variant: str) -> list[str]:
    """The runs that this session had in this variant of a lesson in languages other than that of the page."""
    others = [each for each in LANGUAGES if each != language()]
    return [run for each in others if (run := address.kept_run(place(lesson, variant, each)))]


def name_variant(lesson: str, variant: str) -> None:
    """The run in the address is one of another variant than the address says: let it say so from now on."""
    now = st.query_params.to_dict()
    now.pop(_VARIANT, None)
    address.close_run()
    st.query_params.from_dict(now | _where(lesson, variant))


def first_seen(run: str, at: Mapping[str, int], now: int) -> Mapping[str, int]:
    """At which moment this session first saw what can be seen of a run by now.

    Args:
        run: the id of the run.
        at: what can be seen, and the moment that it belongs to; it counts for what was there when the session came.
        now: the last moment of the run.
    """
    known: dict[str, dict[str, int]] = st.session_state.setdefault(_SEEN, {})
    seen = known.get(run)
    if seen is None:
        seen = known[run] = dict(at)
    for name in at.keys() - seen.keys():
        seen[name] = now
    return seen


def settle(question: object) -> bool:
    """True once in a session for each question whose answer has turned out right or wrong."""
    settled: set[object] = st.session_state.setdefault(_SETTLED, set())
    new = question not in settled
    settled.add(question)
    return new


def unsettle() -> None:
    """Answers were taken back."""
    st.session_state.pop(_SETTLED, None)
    st.session_state.pop(_SEEN, None)


def _where(name: str, variant: str) -> dict[str, str]:
    return {_LESSON: name} | ({_VARIANT: variant} if variant else {})


def _run_of(name: str, variant: str) -> dict[str, str]:
    run = address.kept_run(place(name, variant, language()))
    return {_RUN: run} if run else {}


def _show(where: dict[str, str]) -> None:
    st.query_params.from_dict(kept() | where)


def kept() -> dict[str, str]:
    """What stays in the URL wherever a learner goes, for the parameters of a link."""
    return {key: value for key, value in st.query_params.to_dict().items() if key in _KEPT}


def place(lesson: str, variant: str, language: str) -> str:
    """Names the runs of a lesson for :func:`pages.parts.address.show_runs_of`; each language has its own."""
    return f"{lesson}:{variant}:{language}"


def language() -> str:
    """The language in which lessons are told."""
    return address.language()
