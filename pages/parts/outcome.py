"""How a run ended, as two things side by side: why it stopped, and what outside checks say about the task."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from agent.stops import StopReason
from agent.trace import Evidence, Outcome
from pages.parts.words import loop_words, t

_LONG = 400
"""Characters from which on the evidence is folded away: graders of some programs write pages."""

Tone = Literal["green", "orange", "red", "gray"]


def outcome_panel(outcome: Outcome, *, wide: bool = True) -> None:
    """Draw the stop reason and the evidence of a run that has ended, or was read from a file.

    Args:
        outcome: how it ended.
        wide: the two side by side; else one below the other.
    """
    with st.container(key="outcome", gap="xsmall"):  # the style sheet knows it by this key
        left, right = st.columns(2, gap="medium") if wide else (st.container(), st.container())
    with left.container(gap="xsmall"):
        _stop(outcome)
    with right.container(gap="xsmall"):
        _evidence(outcome)


def reason_words(reason: str | None) -> tuple[Tone, str]:
    """The tone of a stop reason and one sentence about it."""
    sentences: dict[str | None, tuple[Tone, str]] = {
        None: ("gray", t("The file does not say how the run ended.")),
        StopReason.FINAL: ("green", t("The model answered and asked for nothing more.")),
        StopReason.MAX_ITERATIONS: ("orange", t("The step limit was reached.")),
        StopReason.REPEATED_CALL: ("orange", t("The same call came again and again with the same result.")),
        StopReason.CONSECUTIVE_ERRORS: ("orange", t("The tools failed several steps in a row.")),
        StopReason.DEADLINE: ("orange", t("The time limit was reached.")),
        StopReason.TOKEN_BUDGET: ("orange", t("The token budget is used up.")),
        StopReason.COST_BUDGET: ("orange", t("The money budget is used up.")),
        StopReason.TRUNCATED: ("red", t("The reply was cut off by the length limit.")),
        StopReason.EMPTY_ANSWER: ("red", t("The model answered with nothing.")),
        StopReason.REFUSED: ("red", t("The model or its provider refused.")),
        StopReason.UNKNOWN_ACTION: ("red", t("The model named an action that does not exist.")),
        StopReason.CONTEXT_OVERFLOW: ("red", t("The message list no longer fits into the model's context.")),
        StopReason.MODEL_ERROR: ("red", t("The model call failed.")),
        StopReason.SCRIPT_EXHAUSTED: ("red", t("The script holds no reply to this request.")),
        StopReason.STOPPED_BY_USER: ("gray", t("Stopped by the user.")),
        StopReason.REJECTED_BY_USER: ("gray", t("The user rejected a call and ended the run.")),
    }
    return sentences.get(reason) or ("gray", t("The file gives a reason of its own."))


def _stop(outcome: Outcome) -> None:
    tone, sentence = reason_words(outcome.reason)
    st.markdown(f"{t('Stopped')}: :{tone}-badge[{sentence}]")
    details = [": ".join(part for part in (outcome.reason, loop_words(outcome.detail)) if part)]
    if outcome.fallback and not outcome.final:
        details.append(f"{t('No final answer. The last text of the model')}: {outcome.fallback[:500]}")
    if any(details):
        st.text("\n".join(details))


def _evidence(outcome: Outcome) -> None:
    verdict = {
        True: f":green-badge[{t('All checks hold.')}]",
        False: f":red-badge[{t('A check fails.')}]",
        None: f":gray-badge[{t('The checks do not decide it.') if outcome.evidence else t('Nothing was checked.')}]",
    }[outcome.verified]
    st.markdown(f"{t('Is the task done?')} {verdict}", help=t("That the model asks for nothing more is no proof."))
    if not outcome.evidence:
        return
    lines = [_check(item) for item in outcome.evidence]
    if sum(map(len, lines)) <= _LONG:
        st.text("\n".join(lines))
        return
    with st.expander(t("The checks: {n}", n=len(lines)), type="compact"):
        st.text("\n".join(lines))


def _check(item: Evidence) -> str:
    """One line. A check that does not hold says so in words first: "it succeeded: only errors" contradicts itself."""
    claim = loop_words(item.check)
    if item.detail:
        claim = t("{check} ({detail})", check=claim, detail=loop_words(item.detail))
    if item.ok is None:
        return f"? {t('check is undecided: {check}', check=claim)}"
    return f"✓ {claim}" if item.ok else f"× {t('check fails: {check}', check=claim)}"
