"""What the page says about the phases of the loop: their names, who acts, and what they will do or did."""

from __future__ import annotations

from dataclasses import dataclass

from agent.events import Maker, Phase
from pages.parts.roles import maker_look
from pages.parts.words import t


@dataclass(frozen=True, slots=True)
class PhaseWords:
    """How one phase is explained."""

    actor: Maker
    """Who does the work of this phase."""
    word: str
    """The name of the phase in the language of the session."""
    sentence: str
    """One plain sentence: what the phase will do."""


def phase_words(phase: Phase) -> PhaseWords:
    """The words for a phase."""
    match phase:
        case Phase.PREPARE:
            text = t("The program builds the request from the message list and checks that it keeps the protocol.")
            return PhaseWords(Maker.CODE, t("prepare"), text)
        case Phase.CALL:
            text = t("The model answers once: with text, or by asking for tools. Nothing runs yet.")
            return PhaseWords(Maker.MODEL, t("call"), text)
        case Phase.APPROVE:
            text = t("The program decides about each call.")
            return PhaseWords(Maker.CODE, t("approve"), text)
        case Phase.EXECUTE:
            text = t("The approved tools run, and the outside world answers.")
            return PhaseWords(Maker.ENVIRONMENT, t("execute"), text)
        case Phase.APPEND:
            text = t("The program writes one tool message for each call, in the order of the calls.")
            return PhaseWords(Maker.CODE, t("append"), text)
        case Phase.DECIDE:
            text = t("The program applies the stop rules: one more step, or the end.")
            return PhaseWords(Maker.CODE, t("decide"), text)


def next_line(phase: Phase, step: int = 1, *, untouched: bool = False) -> str:
    """Markdown: the next phase, its step, who acts in it, and what it will do.

    Args:
        phase: what comes next.
        step: from 1.
        untouched: nothing was done yet about the calls that the model asked for.
    """
    words = phase_words(phase)
    head = f"{t('Next')}: **{words.word}** {maker_look(words.actor).badge} :gray-badge[{t('step {n}', n=step)}]"
    asked = f"**{t('The model only asked; nothing has run yet.')}** " if untouched else ""
    return f"{head} {asked}{words.sentence}"


def place_line(phase: Phase, step: int = 1) -> str:
    """Markdown: the next phase and its step, and nothing about who acts in it."""
    return f"{t('Next')}: **{phase_words(phase).word}** :gray-badge[{t('step {n}', n=step)}]"


def led_here_line(phase: Phase | None, before: int, after: int) -> str:
    """Markdown: what the phase before did to the message list."""
    if phase is None:
        return t("The run begins here. Messages: {n}.", n=after)
    word = phase_words(phase).word
    if after == before:
        return t("Before: **{phase}**. Messages: {n}, as before.", phase=word, n=after)
    return t("Before: **{phase}**. Messages: {n} → {m} (rows ＋).", phase=word, n=before, m=after)
