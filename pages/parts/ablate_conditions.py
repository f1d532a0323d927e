"""The part of the design form in which one says what is taken away: the conditions, one of them in full, and a menu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from agent.errors import InputError
from agent.faults import FAULTS, Fault
from agent.interventions import KINDS, Intervention
from pages.parts import address, address_ablate
from pages.parts.ablate_condition_fields import condition_fields
from pages.parts.ablate_condition_words import condition_name, kind_title, sentence_of, what_differs
from pages.parts.ablate_design_draft import change, find, set_fields
from pages.parts.ablate_design_facts import facts_of
from pages.parts.ablate_design_parts import free_name, heading
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.words import t
from traces.experiments.design.experiment import BASELINE, ArmedFault, Condition, Experiment

MOST_ROWS = 7
"""Rows seen without scrolling inside the table."""
WHAT = "conditions"
"""What the session knows the chosen condition by."""
_TABLE = "ablate-conditions"
_FAULT = "fault:"


def conditions_part(design: str, experiment: Experiment) -> int:
    """Draw the conditions of a design; gives the position of the one that is looked at."""
    heading(t("What to take away"), t("Each line is a condition. Every one is tried as often as the baseline."))
    conditions = experiment.conditions
    at = address_ablate.chosen(design, WHAT, len(conditions), default=1)
    _menu(design, conditions[at])
    _table(design, conditions, at)
    with st.container(gap="xsmall", key="ablate-condition"):
        if conditions[at].name == BASELINE:
            st.caption(t("The baseline: nothing is changed. Everything is compared with it, so it cannot be removed."))
        else:
            condition_fields(design, experiment, at)
    return at


def _table(design: str, conditions: Sequence[Condition], at: int) -> None:
    shown = {"selection": {"rows": [at], "columns": [], "cells": []}}
    if address.setting(_TABLE) != shown:
        address.put(_TABLE, shown)

    def look() -> None:
        if (row := _pressed(at)) is not None:
            address_ablate.choose(design, WHAT, row)

    column = st.column_config
    st.dataframe(
        pd.DataFrame(
            {
                "name": pd.array([condition_name(each.name) for each in conditions], dtype="string"),
                "what": pd.array([what_differs(each) for each in conditions], dtype="string"),
            }
        ),
        key=_TABLE,
        hide_index=True,
        height=HEADER_PX + ROW_PX * min(MOST_ROWS, max(3, len(conditions))),
        row_height=ROW_PX,
        column_config={
            "name": column.TextColumn(t("Condition"), width=210),
            "what": column.TextColumn(t("What is different"), width=400),
        },
        on_select=look,
        selection_mode=("single-row", "single-cell"),  # a press anywhere in a line means it
        alt=t("Conditions of the experiment"),
    )


def _pressed(at: int) -> int | None:
    """The row that was pressed in the table, in which the one at this position was selected."""
    chosen = (address.setting(_TABLE) or {}).get("selection", {})
    rows = [*chosen.get("rows", ()), *(cell[0] for cell in chosen.get("cells", ()))]
    return next((int(row) for row in rows if row != at), None)


def _menu(design: str, looked_at: Condition) -> None:
    """The menu of everything that can be taken away or made to go wrong."""
    kinds = [*KINDS, *(f"{_FAULT}{kind}" for kind in FAULTS)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="ablate-menu"):
        kind = st.selectbox(
            t("Take away, or let go wrong"),
            kinds,
            format_func=kind_title,
            key=address_ablate.ADD,
            persist_state="session",
            label_visibility="collapsed",
        )
        st.button(t("Add"), icon=":material/add:", key="ablate-add-new", on_click=_add, args=(design,))
        st.button(
            t("Add to the chosen"),
            icon=":material/playlist_add:",
            type="tertiary",
            key="ablate-add-to",
            disabled=looked_at.name == BASELINE,
            help=t("Both at once, in one condition."),
            on_click=_add_to,
            args=(design,),
        )
    st.caption(sentence_of(kind))


# ---- what the buttons do ----


def _add(design: str) -> None:
    """Another condition with what the menu says."""
    draft = find(design)
    if draft is None:
        return
    conditions = draft.experiment.conditions
    kind = str(address.setting(address_ablate.ADD) or next(iter(KINDS)))
    name = free_name(kind.removeprefix(_FAULT), [each.name for each in conditions])
    added = _with_change(draft.experiment, Condition(name=name), kind)
    if added is not None:
        set_fields(design, conditions=(*conditions, added))
        address_ablate.choose(design, WHAT, len(conditions))


def _add_to(design: str) -> None:
    """What the menu says, in the condition that is looked at."""
    kind = str(address.setting(address_ablate.ADD) or next(iter(KINDS)))

    def make(experiment: Experiment) -> Experiment:
        conditions = experiment.conditions
        at = address_ablate.chosen(design, WHAT, len(conditions), default=1)
        changed = _with_change(experiment, replace(conditions[at], sweep="", value=None), kind)
        if changed is None or conditions[at].name == BASELINE:
            return experiment
        return replace(experiment, conditions=(*conditions[:at], changed, *conditions[at + 1 :]))

    change(design, make)


def _with_change(experiment: Experiment, condition: Condition, kind: str) -> Condition | None:
    """The condition with one more change; None where that cannot be, which is told."""
    try:
        if kind.startswith(_FAULT):
            armed = ArmedFault(Fault(kind.removeprefix(_FAULT)))
            return replace(condition, faults=(*condition.faults, armed))
        made = Intervention(kind, _needed(experiment, kind))
        return replace(condition, interventions=(*condition.interventions, made))
    except InputError as error:
        address.tell(str(error))
        return None


def _needed(experiment: Experiment, kind: str) -> dict[str, str]:
    """The parameters that a kind cannot do without, with something of the first subject in them to begin with."""
    needed = [name for name, param in KINDS[kind].params.items() if param.needed]
    if not needed:
        return {}
    facts = facts_of(experiment.subjects[0])
    guess = {"tool": facts.tools[0] if facts.tools else "tool", "find": facts.word or "BANANA"}
    return {name: guess.get(name, name) for name in needed}
