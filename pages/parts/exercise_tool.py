"""A tool of the learner's own: the program, its schema, calls of it, and a run in which a model uses it."""

from __future__ import annotations

import json
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent import jsontext
from agent.messages import Message, read_arguments
from pages.parts import address, exercise_code, exercise_state
from pages.parts.exercise_remarks import Standing, line, remarks_box
from pages.parts.roles import role_badge
from pages.parts.words import loop_words, t
from traces.lessons.exercises.remark import UNREADABLE
from traces.lessons.exercises.write_tool import EXERCISE, SOLUTION, STARTER, Called, Verdict, try_tool
from traces.lessons.exercises.write_tool import NAME as TOOL

NAME = EXERCISE.name
_FIRST_CALL = '{"weight_kg": 5}'


def work(_beside: DeltaGenerator) -> Standing:
    """Draw the program and what came of it."""
    busy, known = exercise_code.busy(), _verdict()
    marks = known.remarks if known else ()
    exercise_code.program(NAME, STARTER, marks, _prepared, words=t("Your tool"), busy=busy)
    if known is None:
        return Standing(None)
    if known.schema is not None:
        _shown(known)
    exercise_code.printed_box(known.printed)
    return Standing(known.remarks, solved=known.schema is not None and not known.remarks)


def remarks(standing: Standing) -> None:
    """Draw what the check says."""
    if standing.remarks is not None:
        remarks_box(standing.remarks, right=t("A model can work with this tool"))


def answer() -> None:
    """Draw a tool that will do."""
    st.code(SOLUTION, language="python", wrap_lines=True)


def reset() -> None:
    """Forget the program."""
    exercise_code.reset(NAME)


def _prepared(code: str) -> Callable[[], Verdict]:
    language, own = address.language(), _own_call()
    return lambda: try_tool(code, language, own)


def _verdict() -> Verdict | None:
    """What came of the last run; None before the first is over."""
    found: Verdict | None = exercise_code.last_result(NAME)
    job = exercise_state.progress(NAME).job
    return Verdict(remarks=(UNREADABLE,)) if found is None and job is not None and job.done else found


def _own_call() -> dict[str, object] | None:
    """The arguments of the learner's own call; None where they are none."""
    text = address.setting(_own_key(), _FIRST_CALL) or ""
    arguments, problem = read_arguments(text)
    return None if problem else arguments


def _own_key() -> str:
    return exercise_state.key(NAME, "call")


def _shown(verdict: Verdict) -> None:
    schema, calls, run = st.tabs(
        [t("What the model sees"), t("Calls"), t("A run")], key=exercise_state.key(NAME, "tabs"), on_change="rerun"
    )
    if schema.open:
        with schema:
            st.code(json.dumps(verdict.schema, ensure_ascii=False, indent=2), language="json", wrap_lines=True)
    if calls.open:
        with calls:
            _calls(verdict)
    if run.open:
        with run:
            for number, data in enumerate(verdict.messages):
                _message(number, Message.from_dict(data))


def _calls(verdict: Verdict) -> None:
    for number, call in enumerate(verdict.calls):
        _call(f"call-{number}", call)
    address.seed(_own_key(), _FIRST_CALL)
    text = st.text_input(
        t("The arguments of a call of your own, as JSON"), key=_own_key(), persist_state="session", max_chars=500
    )
    if problem := read_arguments(text)[1]:
        st.text(loop_words(problem))
    elif verdict.own is not None and verdict.own.arguments == read_arguments(text)[0]:
        _call("own", verdict.own)
    else:
        st.caption(t("Run it to see what comes back."))


def _call(key: str, call: Called) -> None:
    badge = f":green-badge[✔ {t('result')}]" if call.ok else f":orange-badge[▲ {t('error')}]"
    line(key, badge, f"{TOOL}({jsontext.dumps(call.arguments)})\n→ {call.text}")


def _message(number: int, message: Message) -> None:
    asked = [f"{call.name}({call.arguments_text()})  id {call.id}" for call in message.tool_calls]
    said = "\n".join([*([message.text] if message.text else []), *asked])
    line(f"message-{number}", role_badge(message.role), said)
