"""The loop as a picture: six phases in a ring, grouped by state, the one that comes next filled and marked.

It is drawn by the browser as plain boxes: a chart would be laid out anew at every phase and flicker. Every colour has
the icon of its maker and a word beside it. Only our own words are put into the HTML.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from agent.events import STATE_OF, AgentState, Phase
from pages.parts.phases import phase_words
from pages.parts.roles import maker_look
from pages.parts.words import t

_TOP = (Phase.PREPARE, Phase.CALL)
_SIDE = (Phase.APPROVE, Phase.EXECUTE)
_BOTTOM = (Phase.DECIDE, Phase.APPEND)
"""Seen from the left: the lower row runs backwards, so that the ring closes."""


def loop_diagram(state: AgentState, phase: Phase | None) -> None:
    """Draw the ring with the current state and the next phase highlighted.

    Args:
        state: of the run.
        phase: what the loop does next, or does right now; None: the run is done.
    """
    st.html(diagram_html(state, phase))


def diagram_html(state: AgentState, phase: Phase | None) -> str:
    """The picture as HTML. Its layout stands in ``page.css``, the colours are those of the two themes.

    The group that holds the next phase is outlined: after a final answer the state is still THINK while decide is next.
    """
    boxes = {each: _box(each, current=each == phase) for each in Phase}
    held = STATE_OF[phase]
    think, side, observe = (
        _group(group, arrow.join(boxes[each] for each in phases), current=group == held)
        for group, phases, arrow in (
            (AgentState.THINK, _TOP, _arrow("→")),
            (AgentState.TOOL_CALL, _SIDE, _arrow("↓")),
            (AgentState.OBSERVE, _BOTTOM, _arrow("←")),
        )
    )
    done = _done(current=phase is None and state is AgentState.DONE)
    word = phase_words(phase).word if phase else AgentState.DONE.value
    label = t("The loop. State: {state}, next: {phase}", state=state.value, phase=word)
    return (
        f'<div class="loop" role="img" aria-label="{escape(label)}">'
        f'<div class="loop-rows">{think}<div class="loop-turn">↑</div>'
        f'<div class="loop-last">{done}{_arrow("←")}{observe}</div></div>'
        f'<div class="loop-cross">{_arrow("→")}{_arrow("←")}</div>{side}</div>'
    )


def _group(group: AgentState, inside: str, *, current: bool) -> str:
    mark = "▸ " if current else ""
    kind = f"loop-group loop-{group.value.lower()}" + (" loop-current" if current else "")
    head = f'<div class="loop-state">{mark}{group.value}</div>'
    return f'<div class="{kind}">{head}<div class="loop-boxes">{inside}</div></div>'


def _box(phase: Phase, *, current: bool) -> str:
    words = phase_words(phase)
    look = maker_look(words.actor)
    text = f"{'▶' if current else look.icon} {words.word}"
    style = _filled(look.colour) if current else _plain(look.colour)
    return f'<div class="loop-box" style="{style}">{escape(text)}</div>'


def _done(*, current: bool) -> str:
    style = _filled("blue") if current else _plain("gray")
    text = "■ DONE" if current else "DONE"
    return f'<div class="loop-box" style="{style}">{text}</div>'


def _arrow(sign: str) -> str:
    return f'<div class="loop-arrow">{sign}</div>'


def _filled(colour: str) -> str:
    return f"background:{_theme(colour, '')};color:{_theme('', 'background')};border-color:transparent;font-weight:600"


def _plain(colour: str) -> str:
    return f"background:{_theme(colour, 'Background')};color:{_theme(colour, 'Text')}"


def _theme(colour: str, part: str) -> str:
    """A colour of the configured themes: ``("violet", "Text")``, or ``("", "background")`` for that of the page.

    Both at once: the page changes its theme without being drawn anew.
    """
    name = f"{colour}{part}Color" if colour else f"{part}Color"
    light, dark = (st.get_option(f"theme.{theme}.{name}") for theme in ("light", "dark"))
    return f"light-dark({light}, {dark})"
