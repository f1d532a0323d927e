"""The breakpoints of a run: one list of all of them in the side bar, and a small form for a new one.

Before there is a run, the list belongs to the session, and goes over to the run that is started. From then on the run
has the list, whichever tab changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from agent.breakpoints import KINDS, Breakpoint, BreakpointKind, with_breakpoint, without_breakpoint
from agent.cutting import head
from agent.errors import InputError
from agent.events import Phase
from agent.redact import redact_text
from agent.stops import StopReason
from pages.parts import address, address_next
from pages.parts.phases import phase_words
from pages.parts.runs import OpenRun
from pages.parts.setup_form import chosen
from pages.parts.tabs import tabs
from pages.parts.words import loop_words, t

_KIND = "breakpoint-kind"
_STOPS = ("", *(reason for reason in StopReason if reason is not StopReason.STOPPED_BY_USER))
"""What can be known before it happens, and nothing for any but the final answer."""
_TOKENS = 1000
"""Prompt tokens that the field begins with."""

_SHOWN = 100
"""Characters of a breakpoint's words that the list shows."""

_Listed = tuple[Breakpoint, ...]


def breakpoints_panel(run: OpenRun | None) -> None:
    """Draw the list and the form; the caller says where. Both may be used while the run moves.

    Args:
        run: the open run; None before there is one.
    """
    listed = _listed(run)
    with st.expander(t("Breakpoints: {n}", n=len(listed)), type="compact", key="breakpoints"):
        with st.container(gap="xxsmall"):
            for number, each in enumerate(listed, start=1):
                _row(run, number, each)
        kinds = {kind: _kind_words(kind) for kind in KINDS}
        kind = st.selectbox(t("Stand still at"), KINDS, format_func=kinds.__getitem__, key=_KIND)
        _value_field(kind, run)
        st.button(t("Add breakpoint"), icon=":material/add:", key="breakpoint-add", on_click=_add, args=(run,))


def hit_line(run: OpenRun) -> str:
    """The breakpoint that the run came to and what was seen there, or nothing. It is data: draw it as plain text."""
    hit = run.runner.hit
    return "" if hit is None else f"{t('Breakpoint')}: {loop_words(redact_text(hit.text, run.unsaid))}"


def hand_over(run: OpenRun) -> None:
    """Give the list of this session to the run that it has made, before its first move."""
    if listed := address_next.next_breakpoints():
        run.runner.breakpoints = listed


def breakpoint_words(breakpoint: Breakpoint) -> str:
    """Kind and value of a breakpoint in words. They hold what a person typed, so they are data."""
    value = breakpoint.value
    match breakpoint.kind:
        case "tool":
            return t("a call of {tool}", tool=value)
        case "phase":
            return t("before {phase}", phase=phase_words(Phase(str(value))).word)
        case "error":
            return t("a tool gives an error")
        case "stop":
            return t("the stop rule {reason} is about to fire", reason=value) if value else t("any stop but final")
        case "text":
            return t("the text “{wanted}” in a message", wanted=value)
        case "tokens":
            return t("a request of more than {n} tokens", n=value)


def _listed(run: OpenRun | None) -> _Listed:
    return address_next.next_breakpoints() if run is None else run.runner.breakpoints


def _row(run: OpenRun | None, number: int, each: Breakpoint) -> None:
    """One breakpoint. Its switch shows what the list says, whichever tab changed it last."""
    switch = f"breakpoint-on-{number}"
    address.put(switch, each.enabled)
    words = redact_text(breakpoint_words(each), run.loop.secrets if run is not None else ())
    on, told, remove = st.columns([4, 10, 6], gap="xxsmall", vertical_alignment="center")
    on.toggle(
        t("Breakpoint {n}", n=number),
        key=switch,
        label_visibility="collapsed",
        on_change=_switch,
        args=(run, each.id, switch),
    )
    told.text(head(words, _SHOWN) + ("…" if len(words) > _SHOWN else ""))
    remove.button(
        t("Remove"),
        key=f"breakpoint-remove-{number}",
        type="tertiary",
        on_click=_change,
        args=(run, lambda listed: without_breakpoint(listed, each.id)),
    )


def _kind_words(kind: BreakpointKind) -> str:
    words = {
        "tool": t("A call of a tool"),
        "phase": t("A phase"),
        "error": t("An error of a tool"),
        "stop": t("A stop rule about to fire"),
        "text": t("A text in a message"),
        "tokens": t("A long request"),
    }
    return words[kind]


def _field_of(kind: BreakpointKind) -> str:
    return f"breakpoint-{kind}"


def _value_field(kind: BreakpointKind, run: OpenRun | None) -> None:
    key = _field_of(kind)
    match kind:
        case "tool":
            st.selectbox(
                t("Tool"),
                _tool_names(run),
                key=key,
                accept_new_options=True,
                help=t("One that is on offer, or any other name that the model may ask for."),
            )
        case "phase":
            phases = {phase: phase_words(phase).word for phase in Phase}
            st.selectbox(t("Phase"), [*phases], format_func=phases.__getitem__, key=key)
        case "stop":
            reasons = {reason: reason or t("any but final") for reason in _STOPS}
            st.selectbox(t("Stop reason"), _STOPS, format_func=reasons.__getitem__, key=key)
        case "text":
            st.text_input(t("Text"), key=key, help=t("Capital and small letters are the same."))
        case "tokens":
            st.number_input(t("Prompt tokens"), min_value=1, value=_TOKENS, step=100, key=key)
        case "error":
            st.caption(t("Before the error is written into the message list."))


def _tool_names(run: OpenRun | None) -> tuple[str, ...]:
    """The tools on offer in the run, or by the settings, and the name that stands in the field now."""
    offered = chosen().offered if run is None else run.loop.tools.names
    written = address.setting(_field_of("tool"))
    return offered if written is None or written in offered else (*offered, written)


def _add(run: OpenRun | None) -> None:
    kind = address.setting(_KIND, KINDS[0])
    value = "" if kind == "error" else address.setting(_field_of(kind))
    try:
        new = Breakpoint(kind, value if isinstance(value, int) else str(value or ""))
    except InputError as error:
        address.tell(loop_words(str(error)))
        return
    _change(run, lambda listed: with_breakpoint(listed, new))
    if kind == "text":
        address.put(_field_of(kind), "")


def _switch(run: OpenRun | None, breakpoint: str, switch: str) -> None:
    on = bool(address.setting(switch))
    _change(run, lambda listed: tuple(replace(each, enabled=on) if each.id == breakpoint else each for each in listed))


def _change(run: OpenRun | None, change: Callable[[_Listed], _Listed]) -> None:
    """Change the list of the run, or of the session; what this session chose last, its next run gets too."""
    if run is None:
        address_next.keep_breakpoints(change(address_next.next_breakpoints()))
        return
    with run.lock:
        changed = change(run.runner.breakpoints)
        try:
            run.runner.breakpoints = changed
        except OSError as error:  # the list holds all the same; a run that is over could not be written anew
            address.tell(str(error))
    address_next.keep_breakpoints(changed)
    tabs().wake_others(run.id)
