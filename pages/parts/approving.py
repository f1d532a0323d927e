"""At approve: what is done about each call that the model asked for. The model's own words stay as they are."""

from __future__ import annotations

import json

import streamlit as st

from agent import jsontext
from agent.approval import Decision, DecisionKind
from agent.errors import AgentError, InputError
from agent.events import Phase
from agent.redact import redact_text
from agent.state import PendingCall
from pages.parts import address
from pages.parts.keys import controls
from pages.parts.message_view import decision_word
from pages.parts.runs import OpenRun
from pages.parts.tabs import tabs
from pages.parts.transport import go_on
from pages.parts.words import loop_words, t

_OTHERS: tuple[DecisionKind, ...] = ("edited", "mocked", "skipped", "rejected")
"""What a person may do instead of letting the call run."""

_LONGEST = 2000
"""Characters of the arguments that are shown here; the message below the table has them whole."""


def approval_panel(run: OpenRun) -> None:
    """The calls of the reply at hand: what policy and limits say about each, and what a person may decide instead."""
    if run.loop.waiting:
        st.warning(t("These calls wait for your decision. Nothing runs before it."), icon=":material/front_hand:")
    foreseen = run.loop.foreseen()
    calls = list(run.loop.run.pending)
    first = next((n for n, pending in enumerate(calls) if pending.decision is None and pending.result is None), None)
    for position, pending in enumerate(calls):
        with st.container(gap="xsmall"):
            _call(run, position, pending, foreseen[position], first=position == first)


def decided_list(calls: tuple[PendingCall, ...]) -> None:
    """What was decided about the calls at hand, for the phases after approve and for looking back."""
    for pending in calls:
        decision = pending.decision
        st.text(f"{pending.call.name}   {pending.call.id}   {decision_word(decision.kind if decision else None)}")


def _call(run: OpenRun, position: int, pending: PendingCall, foreseen: PendingCall, *, first: bool) -> None:
    key, call = _key(run, position), pending.call
    arguments = redact_text(call.arguments_text(), run.loop.secrets)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(t("Call {n}: {id}", n=position + 1, id=call.id), width="content")
        st.markdown(_verdict(pending, foreseen.decision), width="content")
    st.code(jsontext.clean(f"{call.name}({_short(arguments)})"), language=None, wrap_lines=True)
    reason = foreseen.question or (foreseen.decision.reason if foreseen.decision else "")
    if reason:
        st.text(loop_words(reason))
    if pending.result is not None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        control = controls()["approve"]
        st.button(
            t("Run again") if pending.begun else control.label,
            icon=control.icon,
            key=f"run-{key}",
            shortcut=control.key if first else None,
            help=control.help,
            on_click=_decide,
            args=(run, position, pending, Decision.run()),
        )
        other = st.segmented_control(
            t("Or"), _OTHERS, format_func=_other_words, key=f"other-{key}", label_visibility="collapsed"
        )
    if other is not None:
        _other(run, position, pending, other, arguments, key)


def _key(run: OpenRun, position: int) -> str:
    """Names the widgets of a call: ids of calls may come again."""
    return f"{run.id}-{len(run.loop.trace.steps)}-{position}"


def _short(arguments: str) -> str:
    return arguments if len(arguments) <= _LONGEST else f"{arguments[:_LONGEST]}…"


def _verdict(pending: PendingCall, foreseen: Decision | None) -> str:
    """Markdown: who has decided what, or what will be decided where nobody does."""
    if pending.decision is not None:
        return f":green-badge[{t('decided')}: {decision_word(pending.decision.kind)}]"
    if pending.begun:
        return f":orange-badge[? {decision_word('unknown')}]"
    if foreseen is None:
        return f":orange-badge[{t('the policy asks a person')}]"
    if foreseen.kind == "run":
        return f":gray-badge[{t('the program lets it run')}]"
    return f":red-badge[{t('the program says')}: {decision_word(foreseen.kind)}]"


def _other_words(kind: DecisionKind) -> str:
    words = {
        "edited": t("Edit"),
        "mocked": t("Give a result"),
        "skipped": t("Skip"),
        "rejected": t("Reject"),
    }
    return words.get(kind, kind)


def _other(run: OpenRun, position: int, pending: PendingCall, kind: DecisionKind, arguments: str, key: str) -> None:
    """The field of one choice, and the button that decides."""
    field = f"{kind}-text-{key}"
    stop = False
    if kind == "edited":
        address.seed(field, arguments)
        text = st.text_area(t("Arguments, as JSON"), key=field, height=90)
    elif kind == "mocked":
        text = st.text_area(t("The result that the model is given"), key=field, height=90)
    else:
        text = st.text_input(t("Reason, told to the model"), key=field)
    if kind == "rejected":
        stop = st.checkbox(t("End the run as well"), key=f"stop-{key}")
    problem = ""
    try:
        decision = _decision(kind, text, stop=stop)
    except InputError as error:
        decision, problem = None, str(error)
    st.button(
        t("Decide: {what}", what=_other_words(kind)),
        key=f"decide-{key}",
        icon=":material/gavel:",
        disabled=decision is None,
        on_click=_decide,
        args=(run, position, pending, decision),
    )
    if problem:
        st.text(problem)


def _decision(kind: DecisionKind, text: str, *, stop: bool) -> Decision:
    """The decision that a choice and its field amount to.

    Raises:
        InputError: the arguments are no JSON object.
    """
    match kind:
        case "edited":
            return Decision.edit(_arguments(text))
        case "mocked":
            return Decision.mock(text)
        case "skipped":
            return Decision.skip(text)
        case _:
            return Decision.reject(text, stop=stop)


def _arguments(text: str) -> dict[str, object]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise InputError(t("The arguments are no JSON yet: {why}", why=error)) from error
    if not isinstance(value, dict):
        raise InputError(t("The arguments must be a JSON object, in braces."))
    return value


def _decide(run: OpenRun, position: int, shown: PendingCall, decision: Decision | None) -> None:
    """Decide about the call that was shown, and go on where only this was waited for.

    Another tab may have been quicker: then the call at that place is decided, or another one, and nothing is done.
    """
    with run.lock:
        pending, waited = run.loop.run.pending, run.loop.waiting
        moved = run.runner.busy or run.loop.phase is not Phase.APPROVE or position >= len(pending)
        if decision is None or moved or pending[position] is not shown:
            return
        try:
            run.loop.decide(position, decision)
        except AgentError as error:
            address.tell(str(error))
            return
    address.put(f"other-{_key(run, position)}", None)
    if waited and not run.loop.waiting:
        go_on(run)
    tabs().wake_others(run.id)
