"""The five systems side by side: one task, five ways to run it, and which lines of our loop are which idea."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import pandas as pd
import streamlit as st

from pages.parts import address, address_learn, address_systems
from pages.parts.data import data_folder
from pages.parts.lesson_words import label, system_words, told
from pages.parts.message_view import decision_word
from pages.parts.outcome import reason_words
from pages.parts.projector import scaled
from pages.parts.roles import maker_badge, maker_look
from pages.parts.source import code_block
from pages.parts.words import loop_words, t
from traces.lessons.course import course
from traces.lessons.systems import Idea, Produced, SystemInfo, common_task, produce, systems


def systems_view() -> None:
    """Draw them: all in one table, the outputs of some beside each other, then the first of these in detail."""
    st.html(Path(__file__).with_name("systems.css"))
    _head()
    st.html(_table())
    here = address_systems.chosen()
    address.put(address_systems.CHOICE, list(here))
    st.segmented_control(
        t("Beside each other"),
        [info.name for info in systems()],
        selection_mode="multi",
        format_func=system_words,
        key=address_systems.CHOICE,
        help=t("Up to three. The first is told in detail below."),
        on_change=address_systems.choose,
    )
    infos = [next(info for info in systems() if info.name is name) for name in here]
    _beside(infos)
    _detail(infos[0])


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


def _beside(infos: list[SystemInfo]) -> None:
    """What each left to see of the same task, in columns."""
    with st.container(key="systems-beside"):
        for column, info in zip(st.columns(len(infos)), infos, strict=True):
            with column:
                st.markdown(f"#### {system_words(info.name)}")
                _run(info, 0)


def _detail(info: SystemInfo) -> None:
    """One system: what it is about, what else its runs show, and which lines are which idea."""
    st.markdown(f"#### {t('{system} in detail', system=system_words(info.name))}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="systems-point"):
        st.text(told(info.point), width="stretch")
        _lesson(info)
    for number, run in enumerate(info.runs[1:], start=1):
        st.markdown(f"**{label(told(run.title or common_task()))}**")
        _run(info, number)
    _duties(info)
    st.markdown(f"**{t('Which lines of the loop are which idea')}**")
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


def _run(info: SystemInfo, number: int) -> None:
    """What a run in the manner of the system left to see."""
    produced = produce(info.name, number, address_learn.language())
    heads = {
        "lines": t("What it prints"),
        "events": t("The events, in their order"),
        "records": t("The log: one record for each step"),
        "chat": t("What the model is really sent, and what it writes"),
        "rounds": t("The rounds"),
    }
    st.text(heads[produced.kind])
    key = f"systems-rows-{info.name}-{number}"
    match produced.kind:
        case "lines" | "chat":
            _lines(produced.lines)
        case "events":
            _lines([f"{row['event']} · {maker_look(row['maker']).label} · {row['payload']}" for row in produced.rows])
        case "records":
            _records(produced, key=key)
        case "rounds":
            _rounds(produced, key=key)
    _ending(produced)


def _lines(lines: Sequence[str]) -> None:
    st.code("\n".join(lines), language=None, wrap_lines=True)


def _records(produced: Produced, *, key: str) -> None:
    """The records beside each other, one field a line: there are more fields than steps."""
    records = {str(row["step"]): {name: str(row[name]) for name in row if name != "step"} for row in produced.rows}
    frame = pd.DataFrame(records)
    frame.index.name = "step"
    st.dataframe(frame, key=key, height="content", row_height=scaled(30))


def _rounds(produced: Produced, *, key: str) -> None:
    rounds = [{**row, "act": decision_word(row["act"]) if row["act"] else ""} for row in produced.rows]
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    columns = {
        "round": number(t("Round"), width=scaled(56), format="%d"),
        "plan": text(t("Plan"), help=t("What the model wants"), width=scaled(165)),
        "act": text(t("Act"), help=t("What code decides"), width=scaled(95)),
        "observe": text(t("Observe"), help=t("What the environment says"), width=scaled(80)),
        "tokens": number(t("Tokens"), width=scaled(66), format="%d"),
    }
    st.dataframe(
        pd.DataFrame(rounds),
        key=key,
        hide_index=True,
        column_config=columns,
        height="content",
        row_height=scaled(35),
    )


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
    st.markdown(f"**{t('Who is responsible for what')}**")
    columns = st.columns(len(info.duties))
    for column, (maker, words) in zip(columns, info.duties.items(), strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(maker_badge(maker))
            st.text(told(words))


def _idea(idea: Idea, *, first: bool) -> None:
    name = idea.at.partition(":")[2]
    with st.expander(f"{label(told(idea.text))} · `{name}`", expanded=first):
        code_block(idea.code)
