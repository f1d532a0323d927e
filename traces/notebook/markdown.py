"""A notebook in Markdown. Text of the trace stands in code alone, and what people wrote is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from agent import jsontext
from agent.events import STATE_OF, AgentState, Phase
from traces.export.facts import facts
from traces.export.markdown import block, inline, message_lines
from traces.export.words import Say
from traces.lookup import steps_by_reply
from traces.notebook.cells import Cell, Notebook, cells
from traces.notebook.notes import PlacedNote
from traces.notebook.sorting import notes_by_cell
from traces.notebook.telling import Translate, did, ending, head, lesson_texts, phase_word
from traces.notebook.words import say_in

SUFFIX = ".notebook.md"
MIME = "text/markdown"
_MARKS = re.compile(r"^[#+=-]|[`*_\[\]>|~]", re.MULTILINE)
"""Signs that a backslash makes plain: some anywhere, some only where a line begins with them."""
_COUNTED = re.compile(r"^\d+(?=[.)])")
"""A number that would begin a list: the sign behind it is made plain."""
_NUMBERED = re.compile(r"[\\$<&@]|:(?=/)|(?<=www)\.", re.IGNORECASE)
"""Signs that some readers take for more than Markdown does: HTML, links, formulas. As numbers they are signs alone."""


def write(notebook: Notebook, notes: Sequence[PlacedNote] = (), translate: Translate = str) -> bytes:
    """CommonMark in UTF-8.

    Args:
        notebook: without secrets.
        notes: of the learner.
        translate: see :data:`traces.notebook.telling.Translate`.
    """
    say, trace = say_in(notebook.language), notebook.trace
    made = cells(notebook)
    placed = notes_by_cell(notes, made)
    steps = steps_by_reply(trace.steps)
    lines = [f"# {escaped(notebook.title)}", "", *fact_lines(notebook, say)]
    lines += [line for note in placed.get(-1, ()) for line in ("", *note_lines(note, say))]
    for at, cell in enumerate(made):
        lines += ["", f"## {head(cell, say)}", ""]
        if cell.kind not in ("idea", "task"):
            lines += [block(ring_line(cell, say))]
        lines += words_of(notebook, cell, say, translate)
        for position in cell.messages:
            told = message_lines(trace, position, trace.messages[position], steps.get(position), say)
            lines += ["", f"#{told[0]}", *told[1:]]
        lines += [line for note in placed.get(at, ()) for line in ("", *note_lines(note, say))]
    return (jsontext.clean("\n".join(lines)) + "\n").encode()


def fact_lines(notebook: Notebook, say: Say) -> list[str]:
    """What stands at the head: the facts of the trace."""
    return [f"- {name}: {inline(value)}" for name, value in facts(notebook.trace, say)]


def words_of(notebook: Notebook, cell: Cell, say: Say, translate: Translate = str) -> Iterator[str]:
    """The sentences of a cell: of the lesson, or what happened, or how it ended."""
    for name, text in lesson_texts(notebook, cell, say):
        yield from ("", f"**{name}** · {escaped(text)}")
    if cell.kind in ("start", "phase") and (told := did(notebook.trace, cell, say)):
        yield ""
        yield from (f"- {escaped(line)}" for line in told)
    if cell.kind == "end":
        yield ""
        yield from (f"- {name}: {inline(value)}" for name, value in ending(notebook, say, translate))


def ring_line(cell: Cell, say: Say) -> str:
    """The ring of the loop in one line, the phase that acts or comes next in brackets."""
    groups: dict[AgentState, list[str]] = {}
    for phase in Phase:
        word = phase_word(phase, say)
        groups.setdefault(STATE_OF[phase], []).append(f"[{word}]" if phase is cell.phase else word)
    ring = " → ".join(f"{state}: {' → '.join(words)}" for state, words in groups.items())
    return f"{ring} → {'[DONE]' if cell.phase is None else 'DONE'}"


def note_lines(note: PlacedNote, say: Say) -> list[str]:
    """A note of the learner, as a quotation."""
    where = note_title(note, say)
    return [f"> **{where}**", ">", *(f"> {line}" for line in escaped(note.text).split("\n"))]


def note_title(note: PlacedNote, say: Say) -> str:
    """What a note is about."""
    kind, _, number = note.place.partition("-")
    if kind == "message" and number.isdecimal():
        return say("My note on message {n}", n=int(number) + 1)
    return say("My note")


def escaped(text: str) -> str:
    """A text in which nothing is active: every sign is itself, and lines end where they ended."""
    clean = text.replace("\0", "\ufffd").strip()
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in clean.split("\n"))
    return "  \n".join(_escaped(line) for line in lines)


def _escaped(line: str) -> str:
    marked = (_COUNTED.sub(r"\g<0>\\", _MARKS.sub(r"\\\g<0>", piece)) for piece in _NUMBERED.split(line))
    signs = (f"&#{ord(found[0])};" for found in _NUMBERED.finditer(line))
    return "".join(part for pair in zip_longest(marked, signs, fillvalue="") for part in pair)
