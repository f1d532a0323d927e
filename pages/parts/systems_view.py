"""The five systems side by side: one task, five ways to run it, and which lines of our loop are which idea."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts import address, address_learn, address_systems
from pages.parts.data import data_folder
from pages.parts.lesson_words import label, system_words, told
from pages.parts.message_view import decision_word
from pages.parts.outcome import reason_words
from pages.parts.roles import maker_badge, maker_look
from pages.parts.source import code_block
from pages.parts.words import loop_words, t
from traces.lessons.course import course
from traces.lessons.systems import Idea, Produced, RunOf, SystemInfo, common_task, produce, systems


def systems_view() -> None:
    """Draw them: all in one table, then one at a time."""
    st.html(Path(__file__).with_name("systems.css"))
    _head()
    st.html(_table())
    names = {info.name: system_words(info.name) for info in systems()}
    here = address_systems.chosen()
    address.put(address_systems.CHOICE, here)
    st.segmented_control(
        t("One of them"),
        list(names),
        format_func=names.__getitem__,
        key=address_systems.CHOICE,
        required=True,
        on_change=address_systems.choose,
        label_visibility="collapsed",
    )
    _one(next(info for info in systems() if info.name is here))


def _head() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            t("The course"),
            key="systems-close",
            icon=":material/arrow_back:",
            type="tertiary",
            on_click=address_learn.close,
        )
        st.subheader(t("The five systems side by side"), anchor=False, width="content")
    st.text(
        t(
            "Five small programs, one idea each. Here all of them run on the same loop, with the same task: {task}",
            task=told(common_task()),
        )
    )


def _table() -> str:
    """The comparison as HTML, of our own words alone; on a narrow screen each row becomes a block."""
    heads = (t("System"), t("What only it shows"), t("What it lacks"), t("What was added here"))
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in heads)
    rows = "".join(_row(info, heads) for info in systems())
    caption = f"<caption>{escape(t('The five systems compared'))}</caption>"
    return f'<table class="systems">{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(info: SystemInfo, heads: tuple[str, ...]) -> str:
    name = f"{escape(system_words(info.name))}<small>{escape(told(info.origin))}</small>"
    texts = (info.shows, info.lacks, info.added)
    cells = "".join(
        f'<td data-head="{escape(t("{head}:", head=head))}">{escape(told(text))}</td>'
        for head, text in zip(heads[1:], texts, strict=True)
    )
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'


def _one(info: SystemInfo) -> None:
    """One system: what it is about, what its runs show, and which lines are which idea."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="systems-point"):
        st.text(told(info.point), width="stretch")
        _lesson(info)
    for number, run in enumerate(info.runs):
        _run(info, number, run)
    _duties(info)
    st.markdown(f"#### {t('Which lines of the loop are which idea')}")
    for number, idea in enumerate(info.ideas):
        _idea(idea, first=number == 0)


def _lesson(info: SystemInfo) -> None:
    lesson = course(data_folder()).find(info.lesson)
    if lesson is not None:
        st.button(
            t("Lesson: {title}", title=label(told(lesson.title))),
            key="systems-lesson",
            icon=":material/school:",
            on_click=address_learn.open_lesson,
            args=(lesson.name,),
        )


def _run(info: SystemInfo, number: int, run: RunOf) -> None:
    """What a run of the task, in the manner of the system, left to see."""
    produced = produce(info.name, number, address_learn.language())
    heads = {
        "lines": t("What it prints"),
        "events": t("The events, in their order"),
        "records": t("The log: one record for each step"),
        "chat": t("What the model is really sent, and what it writes"),
        "rounds": t("The rounds"),
    }
    title = "" if run.title is None else f" · {label(told(run.title))}"
    st.markdown(f"#### {heads[produced.kind]}{title}")
    if produced.lines:
        st.code("\n".join(produced.lines), language=None, wrap_lines=True)
    else:
        _rows(produced, key=f"systems-rows-{info.name}-{number}")
    _ending(produced)


def _rows(produced: Produced, *, key: str) -> None:
    frame = pd.DataFrame([_in_words(row) for row in produced.rows])
    st.dataframe(frame, key=key, hide_index=True, column_config=_columns(), height="content")


def _in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the words for what is a word of ours: who made it, what was decided."""
    told_row = dict(row)
    if "maker" in row:
        told_row["maker"] = maker_look(row["maker"]).label
    if "act" in row:
        told_row["act"] = decision_word(row["act"]) if row["act"] else ""
    return told_row


def _columns() -> dict[str, Any]:
    """What the columns of all the tables are called. Fields of events and records keep the names that they have."""
    column = st.column_config
    return {
        "event": column.TextColumn(t("Event"), width=150),
        "maker": column.TextColumn(t("Made by"), width=130),
        "payload": column.TextColumn(t("Fields"), width=520),
        "round": column.NumberColumn(t("Round"), width=70, format="%d"),
        "plan": column.TextColumn(t("Plan: what the model wants"), width=260),
        "act": column.TextColumn(t("Act: what code decides"), width=200),
        "observe": column.TextColumn(t("Observe: what the environment says"), width=260),
        "tokens": column.NumberColumn(t("Tokens"), width=90, format="%d"),
    }


def _ending(produced: Produced) -> None:
    """Why the run ended and what it took: one quiet line."""
    outcome = produced.outcome
    tone, _ = reason_words(outcome.reason)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":{tone}-badge[{outcome.reason}]", width="content")
        detail = loop_words(outcome.detail)
        used = t("{n} tokens in all calls together", n=produced.tokens)
        st.text(f"{detail} · {used}" if detail else used, width="stretch")


def _duties(info: SystemInfo) -> None:
    """Who is responsible for what."""
    if not info.duties:
        return
    st.markdown(f"#### {t('Who is responsible for what')}")
    columns = st.columns(len(info.duties))
    for column, (maker, words) in zip(columns, info.duties.items(), strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(maker_badge(maker))
            st.text(told(words))


def _idea(idea: Idea, *, first: bool) -> None:
    name = idea.at.partition(":")[2]
    with st.expander(f"{label(told(idea.text))} · `{name}`", expanded=first):
        code_block(idea.code)
