"""The preview of a condition: the request of a step as the baseline sends it, beside what the condition makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from agent import jsontext
from agent.errors import AgentError
from agent.interventions import KINDS
from agent.request import Placed
from pages.parts import address, address_ablate, selection
from pages.parts.ablate_condition_words import condition_name
from pages.parts.ablate_design_draft import base, stamp
from pages.parts.ablate_design_facts import facts_of
from pages.parts.message_table import HEADER_PX, PAGE_ROWS, ROW_PX
from pages.parts.message_view import text_block
from pages.parts.options import options
from pages.parts.paging import page_of
from pages.parts.request_words import who
from pages.parts.roles import Look, role_look
from pages.parts.words import loop_words, t
from traces.experiments.before.preview import Pair, Preview, preview
from traces.experiments.design.experiment import BASELINE, Condition, Experiment, Subject
from traces.experiments.subjects.task import Task, load_subject
from traces.requests import body_text
from traces.tables import calls_cell
from traces.text import cell, message_text

ROWS = 5
"""Rows seen without scrolling inside the table; of more only those that differ are shown at first."""
_DETAIL_PX = 210
"""Room for the message in full, always the same: what stands below does not jump."""
_TABLE = "ablate-preview-rows"


def preview_part(design: str, experiment: Experiment, at: int) -> None:
    """Draw the request of a step under the condition at this position.

    Args:
        design: its id.
        experiment: what it says.
        at: the position of the condition.
    """
    subject = experiment.subjects[address_ablate.chosen(design, "subjects", len(experiment.subjects))]
    condition = experiment.conditions[at]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{t('Preview: what the model is given')}**", width="content")
        st.space("stretch")
        st.text(t("Request of step"), width="content")
        step = _step(design, subject)
    try:
        found = _preview(repr(subject), stamp(subject), repr(condition), step, _own(), subject, condition)
    except (AgentError, OSError) as error:
        st.text(loop_words(str(error)))
        return
    _facts(found, condition)
    _rows(found, key=f"{_TABLE}-{at}-{step}")


def _step(design: str, subject: Subject) -> int:
    """The step whose request is shown: at first the one that follows the first tool results."""
    first = subject.step if subject.trace else 1
    usual = min(first + 1, facts_of(subject).steps) if subject.trace else first + 1
    usual = first if subject.reruns_decision else max(usual, first)
    asked = address_ablate.chosen(design, f"step-{subject.name}", 10_000, default=usual)
    key = address_ablate.PREVIEW_STEP
    address.put(key, max(asked, first))

    def choose() -> None:
        address_ablate.choose(design, f"step-{subject.name}", int(address.setting(key) or usual))

    return int(
        st.number_input(
            t("Request of step"),
            first,
            key=key,
            width=110,
            disabled=subject.reruns_decision,
            on_change=choose,
            label_visibility="collapsed",
        )
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _task(subject: str, stamp: object, own: tuple[str, ...], _subject: Subject) -> Task:
    """A subject, read once for as long as its file stays as it is."""
    return load_subject(_subject, base(), options().tools)


@st.cache_resource(max_entries=32, show_spinner=False)
def _preview(
    subject: str, stamp: object, condition: str, step: int, own: tuple[str, ...], _subject: Subject,
    _condition: Condition,
) -> Preview:  # fmt: skip
    """Worked out once for a subject, a condition and a step."""
    return preview(_task(subject, stamp, own, _subject), _condition, step)


def _own() -> tuple[str, ...]:
    return tuple(tool.name for tool in options().tools)


def _facts(found: Preview, condition: Condition) -> None:
    """Whether the request is valid, what it costs, and what is changed besides its messages."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(condition_name(condition.name), width="content")
        if found.problems and found.broken:
            st.markdown(f":orange-badge[▲ {t('broken on purpose: strict servers refuse it')}]", width="content")
        elif found.problems:
            st.markdown(f":red-badge[✖ {t('cannot be sent')}]", width="content")
        else:
            st.markdown(f":green-badge[✔ {t('valid')}]", width="content")
        if found.same and condition.name != BASELINE:
            st.markdown(f":gray-badge[= {t('the same request as in the baseline')}]", width="content")
        st.text(_token_words(found), width="content")
    said = [*map(loop_words, found.problems), *map(loop_words, found.notes)]
    if found.hidden:
        said.append(t("not on offer: {names}", names=t(", ").join(sorted(found.hidden))))
    if said:
        st.text("\n".join(said))  # it may quote names of a file


def _token_words(found: Preview) -> str:
    difference = found.tokens_after - found.tokens_before
    if not difference:
        return t("≈ {n} prompt tokens", n=f"{found.tokens_after:,}")
    return t(
        "≈ {before} → {after} prompt tokens ({difference})",
        before=f"{found.tokens_before:,}",
        after=f"{found.tokens_after:,}",
        difference=f"{difference:+,}".replace("-", "−"),
    )


# ---- the two requests, row by row ----


def _rows(found: Preview, *, key: str) -> None:
    pairs: Sequence[Pair] = found.pairs
    changed = [pair for pair in pairs if pair.changed]
    if len(pairs) > ROWS and changed:
        label = t("Only what differs ({n})", n=f"{len(changed):,}")
        if st.toggle(label, value=True, key="ablate-preview-fold"):
            pairs = changed
    shown = page_of(pairs, PAGE_ROWS, key="ablate-preview-page")
    selected = _table(shown, key=key) or next((pair for pair in shown if pair.changed), None)
    with st.container(height=_DETAIL_PX, border=False):
        if selected is not None:
            _detail(selected, key=key)
        elif shown:
            st.caption(t("A press on a row shows its message in full."))


def _table(pairs: Sequence[Pair], *, key: str) -> Pair | None:
    """Draw these rows and give the selected one."""
    looks = [_look(pair) for pair in pairs]
    roles = [role_look(placed.message.role) for pair in pairs if (placed := pair.after or pair.before)]
    column = st.column_config
    st.dataframe(
        pd.DataFrame(
            {
                "state": [[look.label] for look in looks],
                "role": [[role.label] for role in roles],
                "before": pd.array([_said(pair.before) for pair in pairs], dtype="string"),
                "after": pd.array([_said(pair.after) for pair in pairs], dtype="string"),
            }
        ),
        key=key,
        hide_index=True,
        height=HEADER_PX + ROW_PX * ROWS,  # always: what stands below does not jump
        row_height=ROW_PX,
        column_config={
            "state": _badges(t("State"), 108, looks),
            "role": _badges(t("Role"), 92, roles),
            "before": column.TextColumn(t("In the baseline"), width=170),
            "after": column.TextColumn(t("Under this condition"), width=170),
        },
        on_select="rerun",
        selection_mode="single-cell",
        placeholder="",
        alt=t("The request in the baseline and under the condition"),
    )
    row = selection.selected_row(key)
    return pairs[row] if row is not None and row < len(pairs) else None


def _badges(label: str, width: int, looks: Sequence[Look]) -> Any:
    colours = {look.label: look.colour for look in looks}
    return st.column_config.MultiselectColumn(label, width=width, options=list(colours), color=list(colours.values()))


def _look(pair: Pair) -> Look:
    """What the condition does to a message. Who else changed it, such as the context budget, is named."""
    before, after = pair
    if after is None:
        return Look(t("not inserted"), "✕", "red")
    if before is None:
        own = t("inserted"), t("inserted by {who}", who=who(after.by))
        return Look(own[after.by not in KINDS], "↳", "violet")
    if not pair.changed:
        return Look(t("unchanged"), "=", "gray")
    if after.op == "drop":
        own = t("left out"), t("left out by {who}", who=who(after.by))
        return Look(own[after.by not in KINDS], "−", "red")
    own = t("changed"), t("changed by {who}", who=who(after.by))
    return Look(own[after.by not in KINDS], "✎", "orange")


def _said(placed: Placed | None) -> str | None:
    """The text and the calls of a message in a cell; None where it is not sent."""
    if placed is None or placed.op == "drop":
        return None
    parts = (cell(message_text(placed.message)), calls_cell(placed.message))
    return jsontext.clean(" ".join(filter(None, parts))) or t("(empty)")


def _detail(pair: Pair, *, key: str) -> None:
    """One message in full, as it is sent in both."""
    titles = (t("In the baseline"), t("Under this condition"))
    for column, title, placed in zip(st.columns(2, gap="small"), titles, pair, strict=True):
        with column:
            st.caption(title)
            if placed is None or placed.op == "drop":
                st.markdown(f":gray-badge[− {t('not sent')}]")
            else:
                text_block(body_text(placed.message.to_dict()), key=f"{key}-{title}", file_name="message.json")
