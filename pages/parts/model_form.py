"""The part of the side bar in which the model is chosen: a script or a live one, where it is, and its options."""

from __future__ import annotations

import os

import streamlit as st

from pages.parts import address
from pages.parts.class_lent import can_borrow, share_words
from pages.parts.setup import (
    JSON_ACTION,
    LENT,
    LIVE,
    MOST_HEAT,
    NATIVE,
    OWN_TASK,
    SCRIPTED,
    Changed,
    default_protocol,
)
from pages.parts.words import t


def model_form(scenario: str, *, busy: bool, changed: Changed) -> None:
    """Draw the settings of the model.

    Args:
        scenario: the chosen one; a task of one's own has no script.
        busy: a run is moving; nothing can be changed meanwhile.
        changed: what is called when a setting changes.
    """
    kind = _kind(scenario, busy, changed)
    live = scenario == OWN_TASK or kind != SCRIPTED
    if kind == LENT:
        _share()
    elif live:
        _place(busy, changed)
    with st.expander(t("Model options"), key="model_options", type="compact"):
        if live:
            _sampling(busy, changed)
            _protocol(scenario, busy, changed)
        else:
            st.caption(_script_words(default_protocol(scenario)))
        _parallel(live, busy, changed)


def _kind(scenario: str, busy: bool, changed: Changed) -> str:
    """Scripted, live, or the model of the class where one is lent. A task of one's own has no script to choose."""
    now = address.setting(address.MODEL_KIND)
    lent = now == LENT or can_borrow()
    if scenario == OWN_TASK and not lent:
        return LIVE
    kinds = {SCRIPTED: t("Scripted"), LIVE: t("Live")} | ({LENT: t("Model of the class")} if lent else {})
    if scenario == OWN_TASK:  # what was chosen for scenarios is kept until something else is
        kinds = {SCRIPTED if now == SCRIPTED else LIVE: t("Live"), LENT: kinds[LENT]}
    about = t("A script of ours plays the model: no key, no network, the same every time. Or a real one answers.")
    return _choice(address.MODEL_KIND, t("Model"), kinds, next(iter(kinds)), about, busy, changed)


def _share() -> None:
    """What of the model of the class is left for this student. Its name may come out of a file, so it is plain text."""
    if (words := share_words()) is not None:
        st.text(words)


def _choice(key: str, label: str, words: dict[str, str], usual: str, about: str, busy: bool, changed: Changed) -> str:
    """One of a few values, which the URL keeps.

    Args:
        key: of the widget and in the URL.
        label: of the widget.
        words: what the page says for each value.
        usual: the value to begin with.
        about: what the values mean.
        busy: it cannot be changed now.
        changed: as for the whole form.
    """
    address.seed(key, usual, lambda text: text if text in words else None)
    value: str = st.radio(
        label,
        list(words),
        format_func=words.__getitem__,
        horizontal=True,
        key=key,
        persist_state="session",
        help=about,
        disabled=busy,
        on_change=changed.task,
    )
    address.share(key, usual)
    return value


def _place(busy: bool, changed: Changed) -> None:
    """Which live model, where it is served, and the key for it."""
    address.seed(address.MODEL_NAME, os.environ.get("OPENAI_MODEL", ""))
    address.seed(address.BASE_URL, os.environ.get("OPENAI_BASE_URL", ""))
    st.text_input(
        t("Model name"),
        key=address.MODEL_NAME,
        persist_state="session",
        disabled=busy,
        on_change=changed.model,
    )
    st.text_input(
        t("Base URL"),
        key=address.BASE_URL,
        persist_state="session",
        placeholder="https://api.openai.com/v1",
        help=t("Any server that speaks the OpenAI Chat API."),
        disabled=busy,
        on_change=changed.model,
    )
    st.text_input(
        t("API key"),
        key=address.API_KEY,
        type="password",
        autocomplete="off",
        placeholder=t("from the environment, or none"),
        help=t("Used for this run only; never saved, logged or put into a link."),
        disabled=busy,
        on_change=changed.key,
    )


def _sampling(busy: bool, changed: Changed) -> None:
    """Numbers that go into each request. Their bounds are told by the page, which also explains them."""
    address.seed(address.TEMPERATURE, None, _temperature)
    st.number_input(
        t("Temperature"),
        value=None,
        step=0.1,
        format="%.2f",
        key=address.TEMPERATURE,
        persist_state="session",
        placeholder=t("the server's"),
        help=t("0 gives nearly the same reply each time; more gives other words. Empty leaves it to the server."),
        disabled=busy,
        on_change=changed.task,
    )
    address.share(address.TEMPERATURE, None, lambda value: f"{value:g}")
    address.seed(address.MAX_TOKENS, None, _tokens)
    st.number_input(
        t("Longest reply (tokens)"),
        value=None,
        step=100,
        key=address.MAX_TOKENS,
        persist_state="session",
        placeholder=t("the server's"),
        help=t("A reply that reaches this length is cut off. Empty leaves it to the server."),
        disabled=busy,
        on_change=changed.task,
    )
    address.share(address.MAX_TOKENS, None)


def _protocol(scenario: str, busy: bool, changed: Changed) -> None:
    usual = default_protocol(scenario)
    words = {NATIVE: t("Native"), JSON_ACTION: t("JSON action")}
    about = t("Native: the tool calls of the API. JSON action: for models without them, a JSON object in the text.")
    protocol = _choice(address.PROTOCOL, t("Protocol"), words, usual, about, busy, changed)
    address.seed(address.TEXT_CALLS, False, lambda text: text == "on")
    st.toggle(
        t("Text calls as real calls"),
        key=address.TEXT_CALLS,
        persist_state="session",
        help=t("Some servers leave a tool call in the text; a text that is nothing but calls is then run as such."),
        disabled=busy or protocol == JSON_ACTION,
        on_change=changed.task,
    )
    address.share(address.TEXT_CALLS, False, lambda on: "on" if on else "off")


def _parallel(live: bool, busy: bool, changed: Changed) -> None:
    """A run can take this up on its way, but not what a live model is asked for."""
    address.seed(address.PARALLEL, True, lambda text: text != "off")
    st.toggle(
        t("Parallel calls"),
        key=address.PARALLEL,
        persist_state="session",
        help=t("Off: a live model is asked for one call at a time, and several calls run one after the other."),
        disabled=busy,
        on_change=changed.task if live else changed.limits,
    )
    address.share(address.PARALLEL, True, lambda on: "on" if on else "off")


def _script_words(protocol: str) -> str:
    """What of a script cannot be chosen."""
    if protocol == JSON_ACTION:
        return t("The script speaks JSON actions. Temperature and length mean nothing to it.")
    return t("The script speaks native tool calls. Temperature and length mean nothing to it.")


def _temperature(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= MOST_HEAT else None


def _tokens(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) < 2**31 else None
