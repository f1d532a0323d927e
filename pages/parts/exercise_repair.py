"""A broken message list, as rows with their buttons or as JSON, and what the loop's own check says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.messages import Message
from pages.parts import address, exercise_state
from pages.parts.exercise_remarks import Standing, remarks_box
from pages.parts.lesson_words import told
from pages.parts.roles import role_badge
from pages.parts.words import t
from traces.lessons.exercises.repair import (
    CASES,
    EXERCISE,
    Case,
    added,
    broken_text,
    call_changed,
    case_named,
    changed,
    check,
    deleted,
    mended_text,
    moved,
    rows_of,
)

NAME = EXERCISE.name
_JSON_PX = 420


def work(_beside: DeltaGenerator) -> Standing:
    """Draw the choice of a list, and the list."""
    case = _case()
    titles = {case.name: told(case.title) for case in CASES}
    st.selectbox(
        t("List"),
        list(titles),
        format_func=titles.__getitem__,
        key=exercise_state.key(NAME, "case"),
        persist_state="session",
        on_change=_close_row,
    )
    rows, text = st.tabs([t("Rows"), "JSON"], key=exercise_state.key(NAME, "tabs"), on_change="rerun")
    if text.open:
        with text:
            _as_json(case)
    else:
        with rows:
            _as_rows(case)
    mended = [each for each in CASES if not check(each, _text(each), address.language())]
    st.text(t("{n} of {all} lists are mended.", n=len(mended), all=len(CASES)))
    return Standing(check(case, _text(case), address.language()), solved=len(mended) == len(CASES))


def remarks(standing: Standing) -> None:
    """Draw what the check says."""
    remarks_box(standing.remarks or (), right=t("The check accepts this list"))
    if standing.remarks or standing.solved:
        return
    following = next(each for each in CASES if check(each, _text(each), address.language()))
    st.button(
        t("Next list: {title}", title=told(following.title)),
        key=exercise_state.key(NAME, "next"),
        icon=":material/arrow_forward:",
        on_click=_open,
        args=(following,),
    )


def answer() -> None:
    """Draw a way to mend the list that is shown."""
    st.text(t("One way to mend this list:"))
    st.code(mended_text(_case(), address.language()), language="json", wrap_lines=True)


def _open(case: Case) -> None:
    address.put(exercise_state.key(NAME, "case"), case.name)
    _close_row()


def _case() -> Case:
    return case_named(address.setting(exercise_state.key(NAME, "case"), CASES[0].name))


# ---- the list, which is one text however it is shown ----


def _place(case: Case) -> str:
    return exercise_state.key(NAME, f"list-{case.name}-{address.language()}")


def _text(case: Case) -> str:
    return address.draft(_place(case), broken_text(case, address.language()))


def _keep(case: Case, text: str) -> None:
    address.keep_draft(_place(case), text)


def _json_key(case: Case) -> str:
    return f"{_place(case)}-json"


def _as_json(case: Case) -> None:
    address.put(_json_key(case), _text(case))
    with st.container(key="exercise-json"):
        st.text_area(
            t("The list as JSON"),
            key=_json_key(case),
            height=_JSON_PX,
            max_chars=20_000,
            on_change=_take_json,
            args=(case,),
        )


def _take_json(case: Case) -> None:
    address.keep_draft(_place(case), address.setting(_json_key(case)) or "")


# ---- rows ----


def _open_row(case: Case) -> int | None:
    at: int | None = address.draft(f"{_place(case)}-row", None)
    return at


def _choose_row(case: Case, at: int | None) -> None:
    address.keep_draft(f"{_place(case)}-row", at)


def _close_row() -> None:
    _choose_row(_case(), None)


def _as_rows(case: Case) -> None:
    rows = rows_of(_text(case))
    if rows is None:
        st.text(t("The list cannot be read. Mend it as JSON first."))
        return
    with st.container(gap="xsmall", key="exercise-rows"):
        for at, row in enumerate(rows):
            _row(case, at, Message.from_dict(row), last=at == len(rows) - 1)
            if _open_row(case) == at:
                _fields(case, at, Message.from_dict(row))
    st.button(
        t("Add a tool message at the end"),
        key="exercise-add",
        icon=":material/add:",
        type="tertiary",
        on_click=_add,
        args=(case, len(rows)),
    )


def _row(case: Case, at: int, message: Message, *, last: bool) -> None:
    with st.container(border=True, key=f"exercise-row-{at}"):
        st.text(str(at + 1))
        st.markdown(role_badge(message.role))
        st.text(_said(message))
        with st.container(horizontal=True, key=f"exercise-buttons-{at}"):
            _button(t("Change message {n}", n=at + 1), "edit", at, _toggle, case, at)
            _button(t("Move message {n} up", n=at + 1), "arrow_upward", at, _move, case, at, -1, disabled=at == 0)
            _button(t("Move message {n} down", n=at + 1), "arrow_downward", at, _move, case, at, 1, disabled=last)
            _button(t("Delete message {n}", n=at + 1), "delete", at, _delete, case, at)


def _button(words: str, icon: str, at: int, act: Callable[..., None], *args: Any, disabled: bool = False) -> None:
    """A button of which only the icon is seen; the style sheet leaves its words to screen readers."""
    st.button(
        words,
        icon=f":material/{icon}:",
        key=f"exercise-{icon}-{at}",
        type="tertiary",
        disabled=disabled,
        on_click=act,
        args=args,
    )


def _said(message: Message) -> str:
    lines = [message.text] if message.text else []
    lines += [f"{call.name}({call.text or '{}'})  id {call.id}" for call in message.tool_calls]
    lines += [f"tool_call_id {message.tool_call_id}"] if message.role == "tool" else []
    return "\n".join(lines)


def _toggle(case: Case, at: int) -> None:
    _choose_row(case, None if _open_row(case) == at else at)


def _move(case: Case, at: int, by: int) -> None:
    _keep(case, moved(_text(case), at, by))
    _choose_row(case, None)


def _delete(case: Case, at: int) -> None:
    _keep(case, deleted(_text(case), at))
    _choose_row(case, None)


def _add(case: Case, at: int) -> None:
    _keep(case, added(_text(case), at))
    _choose_row(case, at)


def _fields(case: Case, at: int, message: Message) -> None:
    """The fields of the row that is open."""
    with st.container(border=True, gap="xsmall", key="exercise-fields"):
        if not message.tool_calls:
            _field(case, at, "content", t("Content of message {n}", n=at + 1), message.text)
        if message.role == "tool":
            _field(case, at, "tool_call_id", "tool_call_id", message.tool_call_id or "")
        for number, call in enumerate(message.tool_calls):
            for what, value in (("id", call.id), ("arguments", call.text or "")):
                field = f"{_place(case)}-{at}-{number}-{what}"
                address.put(field, value)
                st.text_input(
                    f"{call.name}: {what}", key=field, max_chars=2_000, on_change=_take_call, args=(case, at, number)
                )


def _field(case: Case, at: int, what: str, words: str, value: str) -> None:
    field = f"{_place(case)}-{at}-{what}"
    address.put(field, value)
    st.text_input(words, key=field, max_chars=2_000, on_change=_take, args=(case, at, what))


def _take(case: Case, at: int, what: str) -> None:
    _keep(case, changed(_text(case), at, **{what: address.setting(f"{_place(case)}-{at}-{what}") or ""}))


def _take_call(case: Case, at: int, number: int) -> None:
    call_id, arguments = (address.setting(f"{_place(case)}-{at}-{number}-{what}") or "" for what in ("id", "arguments"))
    _keep(case, call_changed(_text(case), at, number, call_id=call_id, arguments=arguments))
