"""One condition in full: its name, and the parameters of everything that it changes as fitting fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from agent.errors import InputError
from agent.faults import Fault
from agent.interventions import Intervention
from agent.interventions.kinds import Param
from pages.parts import address
from pages.parts.ablate_condition_words import fault_title, kind_title, number_words
from pages.parts.ablate_design_draft import change
from pages.parts.ablate_design_facts import facts_of
from pages.parts.ablate_design_parts import field
from pages.parts.intervention_words import param_words
from pages.parts.words import t
from traces.experiments.design.experiment import ArmedFault, Condition, Experiment

MOST_VALUES = 20
"""Points of one curve."""


def condition_fields(design: str, experiment: Experiment, at: int) -> None:
    """Draw the condition at this position, which is not the baseline.

    Args:
        design: its id.
        experiment: what it says.
        at: the position of the condition.
    """
    condition = experiment.conditions[at]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            t("Name of the condition"),
            max_chars=80,
            width=260,
            **field("ablate-name", condition.name, lambda name: _rename(design, at, name)),
        )
        st.button(
            t("Remove the condition"), icon=":material/delete:", type="tertiary", key="ablate-condition-remove",
            on_click=_remove, args=(design, at),
        )  # fmt: skip
    tools = list(dict.fromkeys(name for subject in experiment.subjects for name in facts_of(subject).tools))
    lone = len(condition.interventions) + len(condition.faults) == 1
    for number, intervention in enumerate(condition.interventions):
        _title(design, at, "interventions", number, kind_title(intervention.kind), lone=lone)
        if intervention.breaks_protocol:
            st.markdown(f":orange-badge[▲ {t('breaks the protocol: strict servers refuse it')}]", width="content")
        _intervention(design, at, number, intervention, tools)
    for number, armed in enumerate(condition.faults):
        _title(design, at, "faults", number, fault_title(armed.fault), lone=lone)
        _fault(design, at, number, armed)


def _intervention(design: str, at: int, number: int, intervention: Intervention, tools: list[str]) -> None:
    about = intervention.about

    def draw(params: Mapping[str, Param]) -> None:
        for name, param in params.items():
            value = intervention.params.get(name, param.usual)
            _param(
                f"ablate-{number}-{intervention.kind}-{name}",
                name,
                param,
                value,
                tools,
                partial(_set_param, design, at, number, name),
            )

    if about.takes:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            draw(about.takes)
            _sweep(design, at, number, intervention)
    if about.selects:
        chosen = [name for name in about.selects if name in intervention.params]
        label = t("Only some: {what}", what=t(", ").join(map(param_words, chosen))) if chosen else t("Only some…")
        with (
            st.expander(label, type="compact", key=f"ablate-only-{number}"),
            st.container(horizontal=True, vertical_alignment="bottom", gap="small"),
        ):
            draw(about.selects)


def _fault(design: str, at: int, number: int, armed: ArmedFault) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            t("Armed at step"),
            1,
            width=130,
            **field(f"ablate-fault-{number}-step", armed.step, lambda step: _set_step(design, at, number, int(step))),
        )
        for name, (usual, least, most) in armed.fault.about.takes.items():
            value = float(armed.fault.params.get(name, usual))
            st.number_input(
                number_words(name),
                float(least),
                float(most),
                format="%g",
                width=160,
                **field(f"ablate-fault-{number}-{name}", value, partial(_set_number, design, at, number, name)),
            )


def _title(design: str, at: int, what: str, number: int, title: str, *, lone: bool) -> None:
    """What is changed, with the way to leave it out where something else remains."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{title}**", width="content")
        if not lone:
            st.button(
                t("Leave out"),
                icon=":material/close:",
                type="tertiary",
                key=f"ablate-{what}-{number}-out",
                on_click=_leave_out,
                args=(design, at, what, number),
            )


def _param(key: str, name: str, param: Param, value: Any, tools: list[str], changed: Callable[[Any], None]) -> None:
    """The field that fits a parameter."""
    label = param_words(name)
    if name == "tool":
        known = [*tools, *([value] if value not in tools else [])]
        st.selectbox(label, known, width=220, **field(key, value, changed))
    elif param.type is list:
        known = [*tools, *(each for each in value if each not in tools)]
        st.multiselect(label, known, placeholder=t("all"), width=260, **field(key, list(value), changed))
    elif param.choices:
        st.selectbox(label, param.choices, format_func=param_words, width=210, **field(key, value, changed))
    elif param.type is int:
        st.number_input(
            label,
            param.least,
            value=None,
            placeholder=t("none") if param.usual is None else str(param.usual),
            width=130,
            **field(key, value, changed),
        )
    else:
        st.text_input(label, placeholder=t("nothing"), width=240, **field(key, value, changed))


# ---- a curve ----


def _sweep(design: str, at: int, number: int, intervention: Intervention) -> None:
    """One condition for each of several values of a number: a curve."""
    numbers = [name for name, param in intervention.about.takes.items() if param.type is int]
    if not numbers:
        return
    key = f"ablate-values-{number}"
    with st.popover(t("A curve"), icon=":material/show_chart:", key=f"ablate-curve-{number}"):
        st.caption(t("One condition for each value, so that the results make a curve."))
        st.text_input(
            t("Values of {what}", what=param_words(numbers[0])), key=key, placeholder="0, 1, 2, 4", max_chars=200
        )
        st.button(
            t("Make the conditions"),
            key=f"ablate-curve-make-{number}",
            on_click=_make_curve,
            args=(design, at, number, numbers[0], key),
        )


def _make_curve(design: str, at: int, number: int, name: str, key: str) -> None:
    values = numbers_in(str(address.setting(key) or ""))
    if not values:
        address.tell(t("The values of a curve are whole numbers with commas between them, such as 0, 1, 2, 4."))
        return

    def make(experiment: Experiment) -> Experiment:
        before = experiment.conditions[at]
        points = [_point(before, number, name, value) for value in values]
        conditions = experiment.conditions
        return replace(experiment, conditions=(*conditions[:at], *points, *conditions[at + 1 :]))

    change(design, make)


def numbers_in(text: str) -> list[int]:
    """The whole numbers of a text with commas, each once; empty where it holds anything else, or too many."""
    parts = [part.strip() for part in text.replace("，", ",").split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return []
    values = list(dict.fromkeys(map(int, parts)))
    return values if len(values) <= MOST_VALUES else []


def _point(condition: Condition, number: int, name: str, value: int) -> Condition:
    sweep = condition.sweep or condition.name
    old = condition.interventions[number]
    new = Intervention(old.kind, {**old.params, name: value})
    interventions = (*condition.interventions[:number], new, *condition.interventions[number + 1 :])
    return replace(condition, name=f"{sweep} {value}", interventions=interventions, sweep=sweep, value=float(value))


# ---- what the fields do ----


def _change(design: str, at: int, make: Callable[[Condition], Condition]) -> None:
    """Change one condition; it is no point of a curve any more."""

    def changed(experiment: Experiment) -> Experiment:
        conditions = experiment.conditions
        new = make(replace(conditions[at], sweep="", value=None))
        return replace(experiment, conditions=(*conditions[:at], new, *conditions[at + 1 :]))

    change(design, changed)


def _set_param(design: str, at: int, number: int, name: str, value: Any) -> None:
    def make(condition: Condition) -> Condition:
        old = condition.interventions[number]
        usual = old.about.params[name].usual
        value_now = usual if value is None else value
        params = {**old.params, name: value_now}
        if value_now == usual and not old.about.params[name].needed:
            del params[name]
        new = Intervention(old.kind, params)
        return replace(
            condition, interventions=(*condition.interventions[:number], new, *condition.interventions[number + 1 :])
        )

    _change(design, at, make)


def _set_step(design: str, at: int, number: int, step: int) -> None:
    _change(design, at, lambda condition: _with_fault(condition, number, condition.faults[number].fault, step))


def _set_number(design: str, at: int, number: int, name: str, value: float) -> None:
    """Another number of a fault: seconds, or how many."""

    def make(condition: Condition) -> Condition:
        old = condition.faults[number]
        fault = Fault(old.fault.kind, {**old.fault.params, name: value})
        return _with_fault(condition, number, fault, old.step)

    _change(design, at, make)


def _with_fault(condition: Condition, number: int, fault: Fault, step: int) -> Condition:
    faults = condition.faults
    return replace(condition, faults=(*faults[:number], ArmedFault(fault, step), *faults[number + 1 :]))


def _leave_out(design: str, at: int, what: str, number: int) -> None:
    def make(condition: Condition) -> Condition:
        items = getattr(condition, what)
        rest = {what: items[:number] + items[number + 1 :]}
        return replace(condition, **rest)

    _change(design, at, make)


def _rename(design: str, at: int, name: str) -> None:
    words = " ".join(name.replace("/", " ").split())
    if not words:
        address.tell(t("A condition needs a name."))
        return

    def make(condition: Condition) -> Condition:
        return replace(condition, name=words)

    _change(design, at, make)


def _remove(design: str, at: int) -> None:
    def make(experiment: Experiment) -> Experiment:
        if at == 0:
            raise InputError(t("The baseline cannot be removed."))
        return replace(experiment, conditions=experiment.conditions[:at] + experiment.conditions[at + 1 :])

    change(design, make)
