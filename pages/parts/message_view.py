"""One message in full. Trace text reaches the screen only as plain text or code, never as Markdown or HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable

import streamlit as st

from agent import jsontext
from agent.messages import Message, ToolCall
from agent.trace import Entry, ToolRun, Trace
from pages.parts.roles import maker_badge, role_badge
from pages.parts.words import t
from traces.text import message_text, size_words

PREVIEW = 20_000
"""Characters shown of one text; the rest is a download away."""


def message_view(trace: Trace, position: int, *, key: str) -> None:
    """Draw the message at ``position`` of ``trace`` with everything that is known about it."""
    message, entry = trace.messages[position], trace.entries[position]
    runs = [run for step in trace.steps for run in step.tools]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{t('Message {n}', n=position + 1)}**", width="content")
        st.markdown(_badges(message, entry), width="content")
    text = message_text(message)
    if text:
        text_block(text, key=f"{key}-text", file_name=f"message-{position + 1}.txt")
    elif not message.tool_calls:
        st.caption(t("This message has no text."))
    if message.reasoning:
        with st.expander(t("Reasoning sent with the answer"), type="compact"):
            text_block(message.reasoning, key=f"{key}-reasoning", file_name=f"reasoning-{position + 1}.txt")
    for number, call in enumerate(message.tool_calls):
        _call(call, _executed(call, position, trace), key=f"{key}-call-{number}")
    if message.role == "tool":
        _result(message, next((run for run in runs if run.message == position), None))
    _rest(message, entry, key)


def text_block(text: str, *, key: str, file_name: str) -> None:
    """A text with a copy button; a long one as a preview with its size and a download of the whole."""
    shown, language = pretty(text) if len(text) <= PREVIEW else (text[:PREVIEW], None)
    st.code(jsontext.clean(shown), language=language, wrap_lines=True)
    if len(text) > PREVIEW:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                t("The first {shown} of {size}.", shown=size_words(PREVIEW), size=size_words(len(text))),
                width="content",
            )
            st.download_button(
                t("Download the whole text"),
                jsontext.clean(text),
                file_name=file_name,
                mime="text/plain",
                key=f"{key}-download",
                on_click="ignore",
            )


def pretty(text: str) -> tuple[str, str | None]:
    """``(text, language)``: JSON objects and lists are indented, every digit of a number kept; the rest is as it is."""
    if not text.lstrip().startswith(("{", "[")):
        return text, None
    try:
        return jsontext.dumps(json.loads(text), indent=True), "json"
    except (ValueError, RecursionError):
        return text, None


def _badges(message: Message, entry: Entry) -> str:
    step = f":gray-badge[{t('step {n}', n=entry.step)}]" if isinstance(entry.step, int) else ""
    return f"{role_badge(message.role)} {t('made by')} {maker_badge(entry.maker)} {step}"


def _executed(call: ToolCall, position: int, trace: Trace) -> ToolRun | None:
    """What was done about a call: the run of the step whose reply this message is."""
    for step in trace.steps:
        if step.reply == position:
            return next((run for run in step.tools if run.tool_call_id == call.id), None)
    return None


def _call(call: ToolCall, run: ToolRun | None, *, key: str) -> None:
    st.caption(t("The model asks for this tool; asking runs nothing."))
    st.text(f"{call.name}   {call.id}")
    text_block(call.arguments_text(), key=key, file_name="arguments.json")
    if call.problem:
        st.warning(t("The arguments could not be read; the call is answered with an error."))
    if run is not None and run.decision != "run":
        st.markdown(f"{t('What the program did with it')}: :orange-badge[{decision_word(run.decision)}]")
        if run.decision == "edited":
            text_block(jsontext.dumps(run.arguments), key=f"{key}-used", file_name="arguments-used.json")


def _result(message: Message, run: ToolRun | None) -> None:
    facts: list[tuple[str, str]] = [(t("Answers the call"), message.tool_call_id or t("not reported"))]
    if run is not None:
        latency = t("not reported") if run.latency_ms is None else f"{run.latency_ms:,.1f} ms"
        state = t("unknown") if run.ok is None else t("worked") if run.ok else t("failed")
        facts += [(t("Tool"), run.name), (t("Took"), latency), (t("Outcome"), state)]
        facts += [(t("Decision"), decision_word(run.decision))]
    facts_block(facts)


def facts_block(facts: Iterable[tuple[str, str]]) -> None:
    """Names and values as plain text, one a line."""
    st.text("\n".join(f"{name}: {value}" for name, value in facts))


def decision_word(decision: str | None) -> str:
    """What was done about a call, in the language of the session."""
    words = {
        None: t("nothing yet"),
        "run": t("run as asked"),
        "edited": t("run with edited arguments"),
        "mocked": t("answered with a given result"),
        "skipped": t("skipped"),
        "rejected": t("rejected by a person"),
        "denied": t("denied by the policy"),
        "timed_out": t("timed out"),
        "unknown": t("outcome unknown"),
    }
    return words.get(decision, t("unknown"))


def _rest(message: Message, entry: Entry, key: str) -> None:
    """What else the file holds: unknown keys, and the message as it came where reading changed it."""
    if message.extra:
        with st.expander(t("More fields of this message"), type="compact"):
            text_block(jsontext.dumps(message.extra), key=f"{key}-extra", file_name="fields.json")
    if entry.raw is not None:
        with st.expander(t("As it came, before it was repaired"), type="compact"):
            text_block(jsontext.dumps(entry.raw), key=f"{key}-raw", file_name="raw.json")
