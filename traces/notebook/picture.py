"""The loop as a drawing that needs nothing around it: six phases in a ring, the one that acts or comes next filled."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from agent.events import STATE_OF, AgentState, Phase
from traces.export.elements import element
from traces.export.words import Say
from traces.notebook.cells import Cell
from traces.notebook.telling import phase_word, picture_words

WIDTH, HEIGHT = 300, 132
_MAKERS = {Phase.CALL: "model", Phase.EXECUTE: "environment"}
"""Who acts in a phase; in all others it is code."""
_BOXES = {
    Phase.PREPARE: (62, 16),
    Phase.CALL: (132, 16),
    Phase.APPROVE: (224, 38),
    Phase.EXECUTE: (224, 78),
    Phase.APPEND: (132, 98),
    Phase.DECIDE: (62, 98),
}
_BOX_WIDTH, _BOX_HEIGHT = 60, 22
_GROUPS = {
    AgentState.THINK: (57, 1, 140, 42),
    AgentState.TOOL_CALL: (219, 22, 76, 84),
    AgentState.OBSERVE: (57, 83, 140, 42),
}
_ARROWS = ((122, 27, 130, 27), (199, 30, 216, 38), (254, 60, 254, 76), (216, 98, 200, 106), (130, 109, 124, 109),
           (92, 82, 92, 46), (55, 109, 48, 109))  # fmt: skip
_DONE = (2, 98, 44, 22)


def drawings(say: Say) -> Element:
    """All states of the ring, for :func:`ring` to refer to: a page holds them once."""
    return element("svg", *(_symbol(phase, say) for phase in (*Phase, None)), width="0", height="0", class_="drawings")


def ring(cell: Cell, say: Say) -> Element:
    """The picture of a cell; its words are told to those who cannot see it."""
    use = element("use", href=f"#{_name(cell.phase)}")
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": str(WIDTH), "height": str(HEIGHT)}
    return element("svg", use, class_="ring", role="img", aria_label=picture_words(cell, say), **size)


def _name(phase: Phase | None) -> str:
    return f"ring-{phase or 'done'}"


def _symbol(current: Phase | None, say: Say) -> Element:
    state = STATE_OF[current]
    parts = [_group(group, current=group is state) for group in _GROUPS]
    parts += [_line(*ends) for ends in _ARROWS]
    for phase in Phase:
        parts += _box(phase_word(phase, say), (*_BOXES[phase], _BOX_WIDTH, _BOX_HEIGHT), _MAKERS.get(phase, "code"),
                      current=phase is current)  # fmt: skip
    parts += _box(AgentState.DONE.value, _DONE, "user", current=current is None)
    return element("symbol", *parts, id=_name(current), viewBox=f"0 0 {WIDTH} {HEIGHT}")


def _group(state: AgentState, *, current: bool) -> Element:
    x, y, width, height = _GROUPS[state]
    frame = _rect(x, y, width, height, "group current" if current else "group")
    word = element("text", f"▸ {state}" if current else state.value, x=str(x + 6), y=str(y + 11), class_="state")
    return element("g", frame, word)


def _box(word: str, place: tuple[int, int, int, int], maker: str, *, current: bool) -> list[Element]:
    x, y, width, height = place
    kind = f"{maker} current" if current else maker
    middle = {"x": str(x + width // 2), "y": str(y + height // 2 + 4), "text_anchor": "middle"}
    return [_rect(x, y, width, height, f"box {kind}"), element("text", word, class_=f"word {kind}", **middle)]


def _rect(x: int, y: int, width: int, height: int, class_: str) -> Element:
    return element("rect", x=str(x), y=str(y), width=str(width), height=str(height), rx="5", class_=class_)


def _line(x1: int, y1: int, x2: int, y2: int) -> Element:
    """An arrow: a line whose end is marked by a dot, which needs no marker of its own."""
    line = element("line", x1=str(x1), y1=str(y1), x2=str(x2), y2=str(y2))
    return element("g", line, element("circle", cx=str(x2), cy=str(y2), r="2.2"), class_="way")
