"""The preview of a script: what happens when it is played, which rule speaks and why."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from agent.errors import AgentError
from agent.messages import Message
from agent.scripts import Script
from agent.scripts.harmless import NOT_RUN
from agent.trace import Trace
from pages.parts import address_scripts, selection
from pages.parts.message_table import HEADER_PX, ROW_PX
from pages.parts.outcome import outcome_panel
from pages.parts.paging import page_of
from pages.parts.roles import role_badge, role_look
from pages.parts.script_play import SECONDS, Held, Played, Spoke, has_chance
from pages.parts.script_reading import tried
from pages.parts.words import loop_words, t
from traces.tables import calls_cell
from traces.text import cell, message_text

MOST_ROWS = 9
"""Messages that are seen without scrolling."""
PAGE_ROWS = 2000
MOST_SPOKEN = 8
"""Rows of the table of rules that are seen without scrolling."""
MOST_WARNINGS = 20
MOST_SEED = 2**53 - 1
"""The largest whole number that a browser keeps."""
_LONGEST = 20_000


def by_hand_badge() -> None:
    """Say that rules decide: no model does, and whoever wrote them meant it so."""
    st.markdown(f":orange-badge[:material/edit_note: {t('The behaviour of this model is written by hand, by rules.')}]")


def preview(script_id: str, text: str, script: Script, *, stale: bool) -> Played | None:
    """Draw what the script does, and give it; None where it cannot be played.

    Args:
        script_id: names the widgets.
        text: of the script.
        script: what it was read as.
        stale: the text of the editor is another one by now, and cannot be read.
    """
    if stale:
        st.caption(f":material/history: {t('As of the last text without a mistake.')}")
    seed = _seed(script) if has_chance(script) else None
    try:
        played = tried(text, seed)
    except AgentError as error:
        st.text(str(error))
        return None
    trace = played.trace
    outcome_panel(trace.outcome, wide=False)
    counts = {
        t("Steps"): len(trace.steps),
        t("Tool calls"): sum(len(step.tools) for step in trace.steps),
        t("Messages"): len(trace.messages),
    }
    st.caption(" · ".join(f"{word}: {count:,}" for word, count in counts.items()))
    _limits(played)
    _message(played, _messages(trace, f"script-preview-{script_id}"))
    _warnings(played)
    return played


def _seed(script: Script) -> int | None:
    """The seed of the preview; None: that of the script."""
    seed: int | None = st.number_input(
        t("Seed of the preview"),
        min_value=0,
        max_value=MOST_SEED,
        value=None,
        key=address_scripts.SEED,
        placeholder=str(script.seed),
        help=t("Chances are drawn by it: the same seed, the same run. Empty: that of the script."),
    )
    return seed


def _limits(played: Played) -> None:
    """What of the preview is not as it would be."""
    if played.cut:
        st.markdown(f":orange-badge[{t('The preview was stopped after {n} seconds.', n=f'{SECONDS:g}')}]")
    if played.not_run:
        st.text(t("Tools of your own do not run here: {tools}", tools=", ".join(played.not_run)))
        st.caption(t("Their results are put down as {words}.", words=f"`{NOT_RUN}`"))


def _messages(trace: Trace, key: str) -> int | None:
    """The messages as a narrow table, words and calls in one cell; gives the position of the selected one."""
    rows = page_of(range(len(trace.messages)), PAGE_ROWS, key=f"{key}-page")
    looks = {role: role_look(role) for role in dict.fromkeys(message.role for message in trace.messages)}
    column = st.column_config
    st.dataframe(
        pd.DataFrame(
            {
                "step": pd.array([trace.entries[row].step for row in rows], dtype="Int64"),
                "role": [[looks[trace.messages[row].role].label] for row in rows],
                "says": pd.array([cell(_says(trace.messages[row])) for row in rows], dtype="string"),
            }
        ),
        key=key,
        hide_index=True,
        height=HEADER_PX + ROW_PX * max(1, min(MOST_ROWS, len(rows))),
        row_height=ROW_PX,
        column_config={
            "step": column.NumberColumn(t("Step #"), width=52, format="%d"),
            "role": column.MultiselectColumn(
                t("Role"),
                width=112,
                options=[look.label for look in looks.values()],
                color=[look.colour for look in looks.values()],
            ),
            "says": column.TextColumn(t("What it says"), width=400),
        },
        on_select="rerun",
        selection_mode="single-cell",
        placeholder="",
        alt=t("Message list"),
    )
    at = selection.selected_row(key)
    return rows[at] if at is not None and at < len(rows) else None


def _says(message: Message) -> str:
    """Words, calls and reasoning of a message."""
    parts = [message_text(message), calls_cell(message), message.reasoning or ""]
    return "\n".join(part for part in parts if part)


def _message(played: Played, position: int | None) -> None:
    """The selected message in full."""
    messages = played.trace.messages
    if position is None:
        return
    message = messages[position]
    st.markdown(f"**{t('Message {n}', n=position + 1)}** {role_badge(message.role)}")
    st.code(_says(message)[:_LONGEST], language=None, wrap_lines=True)


def _warnings(played: Played) -> None:
    told = [(step.index, warning) for step in played.trace.steps for warning in step.warnings]
    if not told:
        return
    st.markdown(f"**{t('Warnings')}**")
    lines = [f"{t('Step {n}', n=index)}: {loop_words(warning)}" for index, warning in told[:MOST_WARNINGS]]
    st.text("\n".join(lines))
    if len(told) > MOST_WARNINGS:
        st.caption(t("and {n} more", n=len(told) - MOST_WARNINGS))


# ---- rules ----


def rules_table(spoke: Sequence[Spoke]) -> None:
    """Draw which rule spoke at each model call that a rule decided, and what the request held."""
    st.markdown(f"**{t('Which rule spoke, and why')}**")
    column = st.column_config
    st.dataframe(
        pd.DataFrame(
            {
                "call": [each.call for each in spoke],
                "rule": [_rule(each) for each in spoke],
                "when": [each.when or t("no rule held") for each in spoke],
                "held": [_held(each) for each in spoke],
            }
        ),
        hide_index=True,
        height=HEADER_PX + ROW_PX * min(MOST_SPOKEN, len(spoke)),
        row_height=ROW_PX,
        column_config={
            "call": column.NumberColumn(t("Model call"), width=86),
            "rule": column.TextColumn(t("Who spoke"), width=170),
            "when": column.TextColumn(t("Because of"), width=330),
            "held": column.TextColumn(t("The request held"), width=430),
        },
        alt=t("Which rule spoke, and why"),
    )


def _rule(spoke: Spoke) -> str:
    said = t("default") if spoke.rule is None else t("rule {n} of {all}", n=spoke.rule, all=spoke.rules)
    return f"{t('turn {n}', n=spoke.turn)} · {said}" if spoke.turn else said


def _held(spoke: Spoke) -> str:
    """What the rules could see: the results they looked at, the calls, the size."""
    results = ", ".join(f"{held.tool}: {_state(held)}" for held in spoke.results) or t("no results")
    return f"{results} · {t('calls: {n}', n=spoke.calls)} · {t('≈ {n} tokens', n=f'{spoke.tokens:,}')}"


def _state(held: Held) -> str:
    words = {"present": t("present"), "missing": t("missing"), "blank": t("blank"), "error": t("an error")}
    return words[held.state]
