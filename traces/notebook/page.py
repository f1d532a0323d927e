"""A notebook as one HTML file: it opens offline, needs no script, requests nothing, and can be printed.

It is a tree of elements, so that no text of a run, a lesson or a note can become HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element

from agent.messages import Message
from traces.export.elements import Piece, element, facts, whole_page
from traces.export.facts import facts as facts_of
from traces.export.html import inline_images
from traces.export.inline import source_hash
from traces.export.words import Say
from traces.notebook.cells import Cell, Notebook, cells
from traces.notebook.markdown import note_title
from traces.notebook.notes import PlacedNote
from traces.notebook.picture import drawings, ring
from traces.notebook.sorting import notes_by_cell
from traces.notebook.telling import Translate, did, ending, head, lesson_texts, named
from traces.notebook.words import say_in
from traces.text import message_text

SUFFIX = ".notebook.html"
MIME = "text/html"


def write(notebook: Notebook, notes: Sequence[PlacedNote] = (), translate: Translate = str) -> bytes:
    """The page in UTF-8.

    Args:
        notebook: without secrets.
        notes: of the learner.
        translate: see :data:`traces.notebook.telling.Translate`.
    """
    say = say_in(notebook.language)
    made = cells(notebook)
    placed = notes_by_cell(notes, made)
    main = element(
        "main",
        element("h1", notebook.title),
        facts((name, value) for name, value in facts_of(notebook.trace, say)),
        *(_note(note, say) for note in placed.get(-1, ())),
    )
    for at, cell in enumerate(made):
        main.append(_cell(notebook, cell, say, translate))
        main.extend(_note(note, say) for note in placed.get(at, ()))
    policy = (
        f"default-src 'none'; style-src '{source_hash(_style())}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return whole_page(notebook.title, policy, _style(), element("body", drawings(say), main), notebook.language)


@cache
def _style() -> str:
    return Path(__file__).with_name("notebook.css").read_text(encoding="utf-8")


def _cell(notebook: Notebook, cell: Cell, say: Say, translate: Translate) -> Element:
    beside: list[Piece] = []
    for name, text in lesson_texts(notebook, cell, say):
        beside.append(element("p", element("strong", name), f" · {text}", class_="words"))
    if cell.kind in ("start", "phase"):
        beside += [element("p", line, class_="did") for line in did(notebook.trace, cell, say)]
    if cell.kind == "end":
        beside.append(facts(ending(notebook, say, translate)))
    picture = None if cell.kind in ("idea", "task") else ring(cell, say)
    shown = [_message(notebook, position, say) for position in cell.messages]
    top = element("div", picture, element("div", *beside, class_="beside"), class_="top")
    return element("section", element("h2", head(cell, say)), top, *shown, class_=cell.kind)


def _message(notebook: Notebook, position: int, say: Say) -> Element:
    message, entry = notebook.trace.messages[position], notebook.trace.entries[position]
    role, maker = named(message.role, say), named(entry.maker, say)
    title = f"{position + 1}  {role} · {say('made by {maker}', maker=maker)}"
    answers = message.tool_call_id and say("answers the call {id}", id=message.tool_call_id)
    return element(
        "article",
        element("h3", title),
        element("p", answers, class_="did") if answers else None,
        *_texts(message, say),
        class_=f"by {entry.maker}" if entry.maker in ("user", "model", "code", "environment") else "by",
    )


def _texts(message: Message, say: Say) -> Iterator[Element]:
    if message.reasoning:
        yield element("p", say("Reasoning:"), class_="did")
        yield element("pre", message.reasoning)
    if text := message_text(message):
        yield element("pre", text)
    for image in inline_images(message):
        yield element("img", src=image, alt=say("image of this message"))
    for call in message.tool_calls:
        yield element("p", say("Asks for {tool} as {id}:", tool=call.name, id=call.id), class_="did")
        yield element("pre", call.arguments_text())


def _note(note: PlacedNote, say: Say) -> Element:
    return element("aside", element("h3", note_title(note, say)), element("p", note.text, class_="words"))
