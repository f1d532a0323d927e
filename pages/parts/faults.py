"""Faults on purpose: which one to arm, what is armed, and after it struck, what noticed it.

Before there is a run, what is armed belongs to the session, and goes over to the run that is started.
"""

from __future__ import annotations

import streamlit as st

from agent.errors import AgentError
from agent.events import Phase
from agent.faults import FAULTS, Fault, Group
from agent.trace import Trace
from pages.parts import address, address_next
from pages.parts.phases import phase_words
from pages.parts.runs import OpenRun
from pages.parts.tabs import tabs
from pages.parts.words import loop_words, t
from traces.noticed import Noticed, not_struck, noticed

_KIND = "fault-kind"


def faults_panel(run: OpenRun | None) -> None:
    """Draw what is armed, and the choice of another; the caller says where. A run that moves has to be paused first.

    Args:
        run: the open run; None before there is one.
    """
    armed = address_next.next_faults() if run is None else tuple(run.loop.run.faults)
    with st.expander(t("Faults: {n}", n=len(armed)), type="compact", key="faults"):
        for fault in armed:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f":orange-badge[:material/bolt: {t('Armed')}] {fault_words(fault.kind)}", width="stretch")
                key = f"fault-disarm-{fault.kind}"
                st.button(t("Disarm"), key=key, type="tertiary", on_click=_disarm, args=(run, fault.kind))
        words = {kind: fault_words(kind) for kind in FAULTS}
        kind = st.selectbox(t("What goes wrong"), words, format_func=words.__getitem__, key=_KIND)
        st.caption(loop_words(FAULTS[kind].sentence))
        st.button(t("Arm the fault"), icon=":material/bolt:", key="fault-arm", on_click=_arm, args=(run,))


def arm_chosen(run: OpenRun) -> None:
    """Arm in a run that this session has made, before its first move, what was chosen before there was a run."""
    for fault in address_next.next_faults():
        run.loop.arm(fault)
    address_next.keep_faults(())


def noticed_panel(trace: Trace) -> None:
    """Draw what came of every fault: where it struck, what noticed it, and what the loop did, or that it never did.

    Nothing where there was none.
    """
    found, missed = noticed(trace), not_struck(trace)
    if not found and not missed:
        return
    with st.expander(t("Faults that struck: {n}", n=len(found)), type="compact", expanded=True, key="noticed"):
        for each in found:
            st.markdown(f"**{fault_words(each.fault)}** · {_where(each)} · {_check(each)}")
            st.text("\n".join(map(loop_words, each.did)))  # it may hold names out of a file
        for kind in missed:
            st.markdown(
                f"**{fault_words(kind)}** · :gray-badge[{t('It was armed, and the run ended before it could strike')}]"
            )


def fault_words(kind: str) -> str:
    """What it concerns, and what happens there."""
    groups: dict[Group, str] = {
        "tool": t("A tool"),
        "reply": t("The reply"),
        "provider": t("The provider"),
        "message": t("A tool message"),
        "switch": t("The whole run"),
    }
    about = FAULTS[kind]
    return t("{thing}: {what}", thing=groups[about.group], what=loop_words(about.name))


def _where(each: Noticed) -> str:
    if each.phase not in [*Phase]:  # out of a file that we did not write
        return t("step {n}", n=each.step)
    return t("step {n}, {phase}", n=each.step, phase=phase_words(Phase(each.phase)).word)


def _check(each: Noticed) -> str:
    if each.check is None:
        return f":orange-badge[:material/visibility_off: {t('No check noticed it')}]"
    check = loop_words(each.check)
    return f":green-badge[:material/visibility: {t('Noticed by: {check}', check=check)}]"


def _arm(run: OpenRun | None) -> None:
    fault = Fault(address.setting(_KIND, next(iter(FAULTS))))
    if run is None:
        others = (each for each in address_next.next_faults() if each.kind != fault.kind)
        address_next.keep_faults((*others, fault))
        return
    try:
        with run.lock:
            run.loop.arm(fault)
    except AgentError:
        address.tell(t("The run moves at the moment. Pause it first."))
    tabs().wake_others(run.id)


def _disarm(run: OpenRun | None, kind: str) -> None:
    if run is None:
        address_next.keep_faults(tuple(each for each in address_next.next_faults() if each.kind != kind))
        return
    try:
        with run.lock:
            run.loop.disarm(kind)
    except AgentError:
        address.tell(t("The run moves at the moment. Pause it first."))
    tabs().wake_others(run.id)
