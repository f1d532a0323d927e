"""One message in full. Trace text reaches the screen only as plain text or code, never as Markdown or HTML."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import streamlit as st

from agent import jsontext
from agent.messages import Message, ToolCall
from agent.trace import Entry, TraceStep
from agent.usage import Usage
from pages.parts.images import thumbnails
from pages.parts.roles import maker_badge, role_badge
from pages.parts.words import t
from traces.carry import Carried
from traces.reading import Reading
from traces.repair import TOOL_ROLES
from traces.text import message_text, size_words, unfolded_json

PREVIEW = 20_000
"""Characters shown of one text; the rest is a download away."""

_PARSED = 1_000_000
"""Characters up to which a text is tried as JSON; reading more of it would keep the page waiting."""


def message_view(reading: Reading, position: int, *, key: str, choose: Callable[[int], None]) -> None:
    """Draw a message with everything that is known about it.

    Args:
        reading: the trace.
        position: of the message.
        key: names the widgets.
        choose: called with the position of a message that a button leads to.
    """
    trace = reading.trace
    message, entry = trace.messages[position], trace.entries[position]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{t('Message {n}', n=position + 1)}**", width="content")
        st.markdown(_badges(message, entry), width="content")
        if entry.agent:
            st.text(entry.agent, width="content")
    text = message_text(message)
    if text:
        text_block(text, key=f"{key}-text", file_name=f"message-{position + 1}.txt", unfold=True)
    elif not message.tool_calls:
        st.caption(t("This message has no text."))
    thumbnails(message)
    if message.reasoning:
        with st.expander(t("Reasoning sent with the answer"), type="compact"):
            text_block(message.reasoning, key=f"{key}-reasoning", file_name=f"reasoning-{position + 1}.txt")
    step = reading.step_made(position)
    for number, call in enumerate(message.tool_calls):
        _call(call, step, number, key=f"{key}-call-{number}", choose=choose)
    if message.role in TOOL_ROLES:
        _result(reading, position, key=key, choose=choose)
    _numbers(reading, position, step)
    _rest(message, entry, key)


def text_block(text: str, *, key: str, file_name: str, unfold: bool = False) -> None:
    """A text with a copy button; a long one as a preview with its size and a download of the whole.

    Args:
        text: what is shown, as text.
        key: names the widgets.
        file_name: of the download.
        unfold: show JSON that stands inside the strings of JSON unfolded, with the text as it stands beside it.
    """
    shown, language = pretty(text) if len(text) <= _PARSED else (text, None)
    unfolded = unfolded_json(text) if unfold and len(text) <= _PARSED else None
    long = len(text) > PREVIEW
    if unfolded is None:
        st.code(jsontext.clean(shown[:PREVIEW] if long else shown), language=language, wrap_lines=True)
    else:
        inside, raw = st.tabs([t("Unfolded"), t("As it stands")])
        inside.code(jsontext.clean(unfolded[:PREVIEW] if long else unfolded), language="json", wrap_lines=True)
        raw.code(jsontext.clean(text[:PREVIEW]), language=None, wrap_lines=True)
    if long:
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


def _call(call: ToolCall, step: TraceStep | None, number: int, *, key: str, choose: Callable[[int], None]) -> None:
    """One call. Ids may repeat, so its run is the one at its place in the step where that has its id."""
    runs = step.tools if step is not None else []
    same = [run for run in runs if run.tool_call_id == call.id]
    run = runs[number] if number < len(runs) and runs[number] in same else next(iter(same), None)
    st.caption(t("The model asks for this tool; asking runs nothing."))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{call.name}   {call.id}", width="content")
        if run is not None and run.message is not None:
            _lead(t("Its result: message {n}", n=run.message + 1), run.message, f"{key}-lead", choose)
        elif step is not None:
            st.markdown(f":orange-badge[{t('no result')}]", width="content")
    text_block(call.arguments_text(), key=key, file_name="arguments.json", unfold=True)
    if call.problem:
        st.warning(t("The arguments could not be read; the call is answered with an error."))
    if run is not None and run.decision not in (None, "run"):
        st.markdown(f"{t('What the program did with it')}: :orange-badge[{decision_word(run.decision)}]")
        if run.decision == "edited":
            text_block(jsontext.dumps(run.arguments), key=f"{key}-used", file_name="arguments-used.json")


def _lead(label: str, position: int, key: str, choose: Callable[[int], None]) -> None:
    """A button that selects the partner of a call or a result."""
    st.button(label, icon=":material/link:", type="tertiary", key=key, on_click=choose, args=(position,))


def _result(reading: Reading, position: int, *, key: str, choose: Callable[[int], None]) -> None:
    message = reading.trace.messages[position]
    step, run = reading.answered(position)
    facts: list[tuple[str, str]] = [(t("Answers the call"), message.tool_call_id or t("not reported"))]
    if run is not None:
        latency = t("not reported") if run.latency_ms is None else f"{run.latency_ms:,.1f} ms"
        state = t("unknown") if run.ok is None else t("worked") if run.ok else t("failed")
        facts += [(t("Tool"), run.name), (t("Took"), latency), (t("Outcome"), state)]
        if run.decision is not None:
            facts += [(t("Decision"), decision_word(run.decision))]
    _facts_block(facts)
    if step is not None and step.reply is not None:
        _lead(t("The call: message {n}", n=step.reply + 1), step.reply, f"{key}-asked", choose)
    elif run is None:
        st.markdown(f":red-badge[{t('orphan result')}]")


def _numbers(reading: Reading, position: int, step: TraceStep | None) -> None:
    """Tokens, time and cost: of the model call that made the message, and of the requests that held it."""
    unknown = t("not reported")
    facts: list[tuple[str, str]] = []
    if step is not None:
        usage = step.usage or Usage()
        about = "≈ " if usage.estimated else ""
        counts = {
            t("Prompt tokens"): usage.prompt_tokens,
            t("Prompt, cached"): usage.cached_tokens,
            t("Answer tokens"): usage.completion_tokens,
            t("Reasoning tokens"): usage.reasoning_tokens,
        }
        facts += [(word, f"{about}{count:,}") for word, count in counts.items() if count is not None]
        facts += [(t("Took"), unknown if step.latency_ms is None else f"{step.latency_ms / 1000:,.2f} s")]
        if step.first_token_ms is not None:
            facts += [(t("First token"), f"{step.first_token_ms / 1000:,.2f} s")]
        facts += [(t("Finish reason"), step.finish_reason or unknown)]
        facts += [(t("Model"), step.model or reading.trace.model.name or unknown)]
    carried = reading.carried[position]
    if carried.sent:
        facts += [(t("In later requests"), _carried_words(carried))]
    if facts:
        _facts_block(facts)


def _carried_words(carried: Carried) -> str:
    about = "" if carried.measured else "≈ "
    return t(
        "{about}{tokens} tokens × {n} requests = {cost} prompt tokens",
        about=about,
        tokens=f"{carried.tokens:,}",
        n=carried.sent,
        cost=f"{carried.cost:,}",
    )


def _facts_block(facts: Iterable[tuple[str, str]]) -> None:
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
    whole = st.expander(t("The message as JSON"), type="compact", key=f"{key}-whole", on_change="rerun")
    if whole.open:  # it may be megabytes
        with whole:
            text_block(jsontext.dumps(message.to_dict(), indent=True), key=f"{key}-json", file_name="message.json")
    if entry.raw is not None:
        with st.expander(t("As it came, before it was repaired"), type="compact"):
            text_block(jsontext.dumps(entry.raw), key=f"{key}-raw", file_name="raw.json")
