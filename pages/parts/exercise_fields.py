"""A provider's response beside the fields of ``ModelReply``, each with the choice of a path in it."""

from __future__ import annotations

import json

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import address, exercise_state
from pages.parts.exercise_remarks import Standing, check_button, remarks_box
from pages.parts.words import t
from traces.lessons.exercises.map_fields import (
    EXERCISE,
    FIELDS,
    Provider,
    answers,
    check,
    paths_of,
    provider_named,
    providers,
    shown,
    value_at,
)

NAME = EXERCISE.name
_RESPONSE_PX = 420


def work(beside: DeltaGenerator) -> Standing:
    """Draw the choice of a provider and its response, and beside them the fields."""
    name = st.selectbox(
        t("Provider"),
        [each.name for each in providers()],
        format_func=lambda name: provider_named(name).title,
        key=exercise_state.key(NAME, "provider"),
        persist_state="session",
        on_change=_other_provider,
    )
    provider = provider_named(name)
    with st.container(height=_RESPONSE_PX, border=False, key="exercise-response"):
        st.code(json.dumps(provider.response, ensure_ascii=False, indent=2), language="json", wrap_lines=True)
    with beside.container(gap="xsmall", key="exercise-choices"):
        chosen = {field: _field(provider, field) for field in FIELDS}
    with beside:
        check_button(NAME)
    if not exercise_state.progress(NAME).checked:
        return Standing(None)
    found = check(provider, {field: path for field, path in chosen.items() if path})
    return Standing(found, solved=not found)


def remarks(standing: Standing) -> None:
    """Draw what the check says."""
    if standing.remarks is not None:
        remarks_box(standing.remarks, right=t("Our reader finds each field just there. Try another provider."))


def answer() -> None:
    """Draw the right paths for the provider that is shown."""
    name = address.setting(exercise_state.key(NAME, "provider"), providers()[0].name)
    for field, paths in answers(name).items():
        st.text(t("{thing}: {what}", thing=field, what=" / ".join(paths)))


def _other_provider() -> None:
    exercise_state.change(NAME, checked=False)


def _field(provider: Provider, field: str) -> str | None:
    path: str | None = st.selectbox(
        field,
        paths_of(provider.response),
        index=None,
        format_func=lambda path: f"{path} = {shown(value_at(provider.response, path))}",
        placeholder=t("Where does it stand?"),
        key=exercise_state.key(NAME, f"{provider.name}-{field}"),
        persist_state="session",
    )
    return path
