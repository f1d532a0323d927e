"""A notebook as a Jupyter notebook (nbformat 4.5) that runs: the script of the run, then the loop phase by phase.

The outputs stand in it already. They come from the cells themselves, which are run here on their way out: the sources
are ours alone, the script and the trace are data in them, and nothing is called but tools of a script or the toolbox.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agent import jsontext
from agent.errors import InputError
from agent.events import Phase
from agent.loop import Loop
from agent.models.recording import Recording
from agent.models.replay import same_messages
from agent.scripts import Script, parse_script
from agent.scripts.writing import to_yaml
from agent.stops import BY_A_PERSON
from agent.trace import Trace
from traces.export.words import Say
from traces.lessons.scripts import script_data as lesson_data
from traces.notebook import sources
from traces.notebook.cells import Cell, Notebook, cells
from traces.notebook.markdown import escaped, fact_lines, note_lines, words_of
from traces.notebook.notes import PlacedNote
from traces.notebook.sorting import notes_by_cell
from traces.notebook.telling import Translate, head, lesson_texts
from traces.notebook.words import say_in
from traces.scripting import script_data, script_text

SUFFIX = ".notebook.ipynb"
MIME = "application/x-ipynb+json"
_MOST_CELLS = 150
"""Cells in which the run is moved, about; of a longer run each one moves it by several phases."""
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class _Done:
    """A phase of the run as the notebook plays it."""

    phase: Phase | None
    step: int
    messages: int
    """In the list after it."""


@dataclass(frozen=True, slots=True)
class _Play:
    """The script that a notebook plays, and what that comes to."""

    text: str
    file: str
    script: Script
    phases: list[_Done]
    differences: int
    """From the recorded messages."""
    own: bool
    """It is the script of the lesson itself, and not one that was made of the trace."""


def write(
    notebook: Notebook, notes: Sequence[PlacedNote] = (), translate: Translate = str, *, spoken: str = ""
) -> bytes:
    """Strict JSON of a notebook.

    Args:
        notebook: without secrets.
        notes: of the learner.
        translate: see :data:`traces.notebook.telling.Translate`.
        spoken: the language of the lesson's script; empty: that of the notebook.

    Raises:
        InputError: the trace keeps what no script can hold; the text says what.
    """
    say = say_in(notebook.language)
    play = _play(notebook, spoken or notebook.language)
    paper = _Paper(say, play)
    made = cells(notebook)
    placed = notes_by_cell(notes, made)
    paper.words([f"# {escaped(notebook.title)}", "", *fact_lines(notebook, say), "", *_about(play, say)])
    paper.notes(placed.get(-1, ()))
    paper.begin(notebook.trace)
    for at, cell in enumerate(made):
        spoken_of = bool(lesson_texts(notebook, cell, say)) or cell.kind == "end"
        if spoken_of:
            paper.reach(_before(cell, play.phases))
            paper.words([f"## {head(cell, say)}", *words_of(notebook, cell, say, translate)])
        if cell.kind == "start":
            paper.code(sources.START)
        if placed.get(at):
            paper.reach(_after(cell, play.phases))
            paper.notes(placed[at])
    paper.words([f"## {say('The same run?')}"])
    paper.code(sources.compare(play.differences, say))
    return jsontext.dumps(_file(paper.cells), indent=True).encode() + b"\n"


class _Paper:
    """The cells of the file, one after the other; each one of code is run when it is written."""

    def __init__(self, say: Say, play: _Play) -> None:
        self.cells: list[dict[str, Any]] = []
        self._say, self._play = say, play
        self._known: dict[str, Any] = {}
        self._reached = 0
        self._piece = max(1, -(-len(play.phases) // _MOST_CELLS))

    def words(self, lines: Sequence[str]) -> None:
        """A cell of text."""
        self._add({"cell_type": "markdown", "metadata": {}, "source": _lines("\n".join(lines))})

    def notes(self, notes: Sequence[PlacedNote]) -> None:
        """A cell for each note of the learner."""
        for note in notes:
            self.words(note_lines(note, self._say))

    def begin(self, trace: Trace) -> None:
        """What comes before the run: the package, the script, the recorded trace, the functions."""
        exec("import json\nfrom textwrap import indent\n" + sources.IMPORTS, self._known)
        self._code(sources.setup(self._say), sources.ready(self._say) + "\n")
        self.code(sources.script(self._play.text, self._play.file))
        self.code(sources.recorded(jsontext.dumps(trace.to_dict(), compact=True)), folded=True)
        self.code(sources.helpers(self._say))

    def reach(self, phases: int) -> None:
        """Move the run until so many of its phases are done; nothing where they are."""
        while self._reached < phases:
            number = min(self._piece, phases - self._reached)
            done = self._play.phases[self._reached]
            if self._piece == 1 and done.phase is Phase.PREPARE:
                self.words([f"### {self._say('step {n}', n=done.step)}"])
            self.code("go()" if number == 1 else f"go({number})")
            self._reached += number

    def code(self, source: str, *, folded: bool = False) -> None:
        """A cell of code with what it prints."""
        printed = io.StringIO()
        self._known["print"] = partial(print, file=printed)
        exec(source, self._known)
        self._code(source, _CONTROLS.sub("\ufffd", printed.getvalue()), folded=folded)

    def _code(self, source: str, output: str, *, folded: bool = False) -> None:
        metadata = {"jupyter": {"source_hidden": True}} if folded else {}
        outputs = [{"output_type": "stream", "name": "stdout", "text": _lines(output)}] if output else []
        self._add(
            {
                "cell_type": "code",
                "metadata": metadata,
                "source": _lines(source),
                "execution_count": None,
                "outputs": outputs,
            }
        )

    def _add(self, cell: dict[str, Any]) -> None:
        self.cells.append({**cell, "id": f"cell-{len(self.cells) + 1}"})


def _about(play: _Play, say: Say) -> Iterator[str]:
    """How to read and run the notebook, and what of the recorded run it cannot say again."""
    yield say("Run the cells from top to bottom: each moves the run on and prints what happened. No model is asked.")
    if play.own:
        yield say("The script is that of the lesson; change it and run all again.")
    else:
        yield say("The script was made of the trace: it says what the model said and what the tools answered.")
    if play.differences:
        yield ""
        yield say(
            "Not everything of the recorded run can be said again: {n} differences. The last cell names them.",
            n=play.differences,
        )


# ---- the script, and where in its run something belongs ----


def _play(notebook: Notebook, spoken: str) -> _Play:
    """The script of the lesson where it gives the recorded messages, else one that is made of the trace."""
    if notebook.lesson is not None and notebook.variant is not None:
        lesson = notebook.lesson
        data = lesson_data(lesson.script, notebook.variant.changes, spoken) | {"title": lesson.title.of(spoken)}
        try:
            play = _played(notebook, to_yaml(data), f"{lesson.name}.yaml", own=True)
        except InputError:  # it names a tool of a teacher's own, which is not at hand elsewhere
            play = None
        if play is not None and not play.differences:
            return play
    data = {key: value for key, value in script_data(notebook.trace).items() if key not in ("recorded", "replay")}
    text, ending = script_text(data)
    return _played(notebook, text, f"script{ending}", own=False)


def _played(notebook: Notebook, text: str, file: str, *, own: bool) -> _Play:
    script = parse_script(text, file)
    loop = script.loop(pace=0, parallel=False)
    loop.start(script.opening)
    phases = []
    while not _is_over(loop, notebook):
        phase, step = loop.phase, len(loop.trace.steps) + (loop.phase in (Phase.PREPARE, Phase.CALL))
        loop.advance()
        phases.append(_Done(phase, step, len(loop.messages)))
    differences = same_messages(Recording.of(notebook.trace), loop.messages)
    return _Play(text, file, script, phases, len(differences), own)


def _is_over(loop: Loop, notebook: Notebook) -> bool:
    """Whether all that was recorded is said: an unfinished run stops where its messages do."""
    trace = notebook.trace
    if loop.waiting or len(loop.messages) > len(trace.messages) or (loop.phase is None and not loop.more):
        return True
    reason, last = trace.outcome.reason, trace.messages[-1] if trace.messages else None
    answered = last is not None and last.role == "assistant" and not last.tool_calls
    goes_on = notebook.now is not None or reason in BY_A_PERSON or (reason is None and not answered)
    all_said = len(loop.messages) >= len(trace.messages) and len(loop.trace.steps) >= len(trace.steps)
    return goes_on and all_said


def _before(cell: Cell, phases: Sequence[_Done]) -> int:
    """How many phases are done where the run stands in a cell of words."""
    if cell.kind in ("end", "task"):
        return len(phases)
    found = (at for at, done in enumerate(phases) if (done.step, done.phase) == (cell.step, cell.phase))
    return next(found, len(phases)) if cell.kind == "lesson" else 0


def _after(cell: Cell, phases: Sequence[_Done]) -> int:
    """How many phases are done after a cell."""
    if cell.messages:
        said = (at + 1 for at, done in enumerate(phases) if done.messages > cell.messages[-1])
        return 0 if cell.kind == "start" else next(said, len(phases))
    found = (at + 1 for at, done in enumerate(phases) if (done.step, done.phase) == (cell.step, cell.phase))
    return next(found, len(phases)) if cell.kind == "phase" else _before(cell, phases)


# ---- the file ----


def _file(made: list[dict[str, Any]]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)
