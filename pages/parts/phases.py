"""What the page says about the loop: states, phases, who acts next, and the loop drawn as one row of badges."""

from __future__ import annotations

from dataclasses import dataclass

from agent.events import STATE_OF, AgentState, Maker, Phase
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
            text = t("The program decides about each call that the model asked for. The model only asks.")
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


def next_line(phase: Phase) -> str:
    """Markdown: the next phase, who acts in it, and what it will do."""
    words = phase_words(phase)
    return f"{t('Next')}: **{words.word}** {maker_look(words.actor).badge} {words.sentence}"


def loop_row(state: AgentState, phase: Phase | None) -> str:
    """Markdown: THINK → TOOL_CALL → OBSERVE ↺ DONE, the current state coloured and the next phase in bold.

    A drawn diagram would be laid out anew by the browser at every phase and flicker; a line of text does not.
    """
    cells = [_state_cell(each, state, phase) for each in AgentState]
    return f"{cells[0]} → {cells[1]} → {cells[2]} ↺ &nbsp; {cells[3]}"


def _state_cell(state: AgentState, current: AgentState, phase: Phase | None) -> str:
    if state != current:
        badge = f":gray-badge[{state.value}]"
    elif phase is None:
        badge = f":blue-badge[**■ {state.value}**]"
    else:
        badge = f":{maker_look(phase_words(phase).actor).colour}-badge[**▶ {state.value}**]"
    words = [(each, phase_words(each).word) for each in Phase if STATE_OF[each] == state]
    names = [f"**{word}**" if each == phase else word for each, word in words]
    return f"{badge} :small[{' · '.join(names)}]" if names else badge
