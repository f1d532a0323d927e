"""At approve: what is done about each call that the model asked for. The model's own words stay as they are."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from agent import jsontext
from agent.approval import Decision, DecisionKind
from agent.edited import edited_arguments
from agent.errors import AgentError, InputError
from agent.events import Phase
from agent.redact import redact_text
from agent.state import PendingCall
from pages.parts import address
from pages.parts.keys import controls
from pages.parts.message_view import decision_word
from pages.parts.runs import OpenRun
from pages.parts.tabs import tabs
from pages.parts.transport import go_on, note_editor
from pages.parts.words import loop_words, t

_OTHERS: tuple[DecisionKind, ...] = ("edited", "mocked", "skipped", "rejected")
"""What a person may do instead of letting the call run."""

_LONGEST = 2000
"""Characters of the arguments that are shown here; the message below the table has them whole."""
_LONGEST_SAID = 300
"""Characters of what was decided."""
_FIELD_PX = 68
"""Height of a field of several lines, the least that there is."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A call as the page showed it."""

    position: int
    key: str
    """Names its widgets."""
    pending: PendingCall
    decision: Decision | None
    """What was decided about it by then."""

    def holds(self, run: OpenRun) -> bool:
        """Whether the run still stands before this call, and nobody has decided about it since."""
        calls, at = run.loop.run.pending, self.position
        resting = run.loop.phase is Phase.APPROVE and not run.runner.busy
        return resting and at < len(calls) and calls[at] is self.pending and self.pending.decision is self.decision


def approval_panel(run: OpenRun) -> None:
    """The calls of the reply at hand: what policy and limits say about each, and what a person may decide instead."""
    if run.loop.waiting:
        told = t("These calls wait for your decision. Nothing runs before it.")
        st.markdown(f":orange-badge[:material/front_hand: {told}]")
    foreseen = run.loop.foreseen()
    calls = list(run.loop.run.pending)
    first = next((n for n, pending in enumerate(calls) if pending.decision is None and pending.result is None), None)
    for position, pending in enumerate(calls):
        with st.container(gap="xsmall"):
            _call(run, position, pending, foreseen[position], first=position == first)


def editing(run: OpenRun) -> bool:
    """Whether this session has chosen to do something else about a call and has not said yet what."""
    calls = range(len(run.loop.run.pending))
    return any(address.setting(f"other-{_key(run, position)}") for position in calls)


def decided_list(calls: tuple[PendingCall, ...]) -> None:
    """What was decided about the calls at hand, for the phases after approve and for looking back."""
    for pending in calls:
        decision = pending.decision
        st.text(f"{pending.call.name}   {pending.call.id}   {decision_word(decision.kind if decision else None)}")


def _call(run: OpenRun, position: int, pending: PendingCall, foreseen: PendingCall, *, first: bool) -> None:
    drawn, call = _Drawn(position, _key(run, position), pending, pending.decision), pending.call
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(t("Call {n}: {id}", n=position + 1, id=call.id), width="content")
        st.markdown(_verdict(pending, foreseen.decision), width="content")
    if pending.result is not None:  # nothing is left to decide, and the others need the room
        return
    if said := _said(run, foreseen):
        st.text(said)
    arguments = redact_text(call.arguments_text(), run.loop.secrets)
    st.code(jsontext.clean(f"{call.name}({_short(arguments, _LONGEST)})"), language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        control = controls()["approve"]
        st.button(
            t("Run again") if pending.begun else control.label,
            icon=control.icon,
            key=f"run-{drawn.key}",
            shortcut=control.key if first else None,
            help=control.help,
            on_click=_decide,
            args=(run, drawn, Decision.run()),
        )
        other = st.segmented_control(
            t("Or"), _OTHERS, format_func=_other_words, key=f"other-{drawn.key}", label_visibility="collapsed"
        )
    if other is not None:
        _other(run, drawn, other, arguments)


def _key(run: OpenRun, position: int) -> str:
    """Names the widgets of a call: ids of calls may come again."""
    return f"{run.id}-{len(run.loop.trace.steps)}-{position}"


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


def _verdict(pending: PendingCall, foreseen: Decision | None) -> str:
    """Markdown: what came of it, who has decided what, or what will be decided where nobody does."""
    if pending.result is not None:
        return f":green-badge[✓ {t('done, its result is kept')}]"
    if foreseen is not None and foreseen is pending.decision:
        return f":green-badge[{t('decided')}: {decision_word(foreseen.kind)}]"
    if pending.begun:
        return f":orange-badge[? {decision_word('unknown')}]"
    if foreseen is None:
        return f":orange-badge[{t('the policy asks a person')}]"
    if foreseen.kind == "run":
        return f":gray-badge[{t('the program lets it run')}]"
    return f":red-badge[{t('the program says')}: {decision_word(foreseen.kind)}]"


def _said(run: OpenRun, foreseen: PendingCall) -> str:
    """Why a person is asked, or what was decided in full: the arguments or the result that were given, the reason."""
    decision, lines = foreseen.decision, []
    if decision is None:
        return loop_words(foreseen.question or "")
    if decision.kind == "edited":
        lines.append(t("Runs with: {arguments}", arguments=jsontext.dumps(decision.arguments)))
    if decision.kind == "mocked":
        lines.append(t("The result: {result}", result=decision.result))
    if decision.reason:
        lines.append(loop_words(decision.reason))
    if decision.stop:
        lines.append(t("The run ends then."))
    return _short(redact_text("\n".join(lines), run.loop.secrets), _LONGEST_SAID)


def _other_words(kind: DecisionKind) -> str:
    words = {
        "edited": t("Edit"),
        "mocked": t("Give a result"),
        "skipped": t("Skip"),
        "rejected": t("Reject"),
    }
    return words.get(kind, kind)


def _other(run: OpenRun, drawn: _Drawn, kind: DecisionKind, arguments: str) -> None:
    """The field of one choice, and beside it the button that decides, so that all of a call fits into the box."""
    field = _field(kind, drawn)
    labels = {"edited": t("Arguments, as JSON"), "mocked": t("The result that the model is given")}
    label = labels.get(kind) or t("Reason, told to the model")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if kind in labels:
            address.seed(field, arguments if kind == "edited" else "")
            st.text_area(label, key=field, height=_FIELD_PX, placeholder=label, label_visibility="collapsed")
        else:
            st.text_input(label, key=field, placeholder=label, label_visibility="collapsed")
        if kind == "rejected":
            st.checkbox(t("End the run as well"), key=_stop_field(drawn), width="content")
        st.button(
            t("Decide: {what}", what=_other_words(kind)),
            key=f"decide-{drawn.key}",
            icon=":material/gavel:",
            on_click=_decide_as_written,
            args=(run, drawn, kind, arguments),
        )
    if problem := _written(kind, drawn, arguments)[1]:
        st.text(loop_words(problem))


def _field(kind: DecisionKind, drawn: _Drawn) -> str:
    return f"{kind}-text-{drawn.key}"


def _stop_field(drawn: _Drawn) -> str:
    return f"stop-{drawn.key}"


def _written(kind: DecisionKind, drawn: _Drawn, arguments: str) -> tuple[Decision | None, str]:
    """The decision that a choice and its fields amount to; None, and why, where the arguments cannot be used."""
    text = str(address.setting(_field(kind, drawn), ""))
    match kind:
        case "edited":
            try:
                return Decision.edit(edited_arguments(text, arguments, drawn.pending.call)), ""
            except InputError as error:
                return None, str(error)
        case "mocked":
            return Decision.mock(text), ""
        case "skipped":
            return Decision.skip(text), ""
        case _:
            return Decision.reject(text, stop=bool(address.setting(_stop_field(drawn), False))), ""


def _decide_as_written(run: OpenRun, drawn: _Drawn, kind: DecisionKind, arguments: str) -> None:
    """Decide by what the fields hold at the press.

    A press leaves the field that was written in, and can come before the page was drawn with the new text: a decision
    made up while drawing would be about the text before.
    """
    decision, problem = _written(kind, drawn, arguments)
    if decision is None:
        address.tell(loop_words(problem))
    else:
        _decide(run, drawn, decision)


def _decide(run: OpenRun, drawn: _Drawn, decision: Decision) -> None:
    """Decide about the call that was drawn, and go on where only this was waited for.

    Another press may have been quicker, in this tab or in another one. What it did is not changed by one that was made
    before anybody could see it.
    """
    with run.lock:
        waited = run.loop.waiting
        if not drawn.holds(run):
            if drawn.pending.decision != decision.about(drawn.pending.call):  # a double click says nothing new
                address.tell(t("Another press was quicker, perhaps in another tab. Look at what holds now."))
            return
        try:
            run.loop.decide(drawn.position, decision)
        except AgentError as error:
            address.tell(loop_words(str(error)))
            return
    address.put(f"other-{drawn.key}", None)
    note_editor(run, writes=editing(run))
    if waited and not run.loop.waiting:
        go_on(run)
    tabs().wake_others(run.id)
