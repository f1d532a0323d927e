"""The Learn page in the URL: which lesson and variant, which exercise, or the five systems side by side."""

from __future__ import annotations

import streamlit as st

from pages.parts import address

_LESSON = "lesson"
_VARIANT = "variant"
_EXERCISE = "exercise"
_SYSTEMS = "systems"
_KEPT = ("lang", "projector", "seat")
"""What stays in the URL wherever the page leads."""


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
    """Show this lesson from now on, in the variant."""
    _show({_LESSON: name} | ({_VARIANT: variant} if variant else {}))


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
    return _kept() | {_LESSON: name} | ({_VARIANT: variant} if variant else {})


def exercise_link(name: str) -> dict[str, str]:
    """The parameters of a link to an exercise."""
    return _kept() | {_EXERCISE: name}


def _show(where: dict[str, str]) -> None:
    st.query_params.from_dict(_kept() | where)


def _kept() -> dict[str, str]:
    return {key: value for key, value in st.query_params.to_dict().items() if key in _KEPT}


def place(lesson: str, variant: str, language: str) -> str:
    """Names the runs of a lesson for :func:`pages.parts.address.show_runs_of`; each language has its own."""
    return f"{lesson}:{variant}:{language}"


def language() -> str:
    """The language in which lessons are told."""
    return address.language()
