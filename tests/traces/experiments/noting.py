"""An experiment whose runs leave marks: a tool of one's own writes a line into a file each time it really runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from traces.experiments.design.experiment import Experiment
from traces.experiments.design.file import read_design
from traces.experiments.folder import Folder
from traces.experiments.rows import Row
from traces.experiments.running.session import Session, create

TOOLS = '''
import os, time
from pathlib import Path
from agent import tool
from agent.signature import RunContext

MARKS = Path(__file__).with_name("marks")

@tool
def note(word: str, run: RunContext) -> str:
    """Note a word."""
    with MARKS.open("a") as file:
        file.write(f"{run.trace_id} {run.step}\\n")
    time.sleep({pace})
    return f"noted {word}"
'''
SCRIPT = """
title: Two words
task: Note two words.
tools: [note]
turns:
  - calls: [{name: note, arguments: {word: MOON}}]
  - calls: [{name: note, arguments: {word: TIDE}}]
  - rules: [{when: {chance: 0.5}, text: I noted MOON and TIDE.}]
    default: I noted something.
evidence: [{answer_contains: TIDE}]
"""
DESIGN = """
title: Are the results needed?
subjects: [{name: words, script: words.yaml}]
conditions:
  - blank_results
  - {name: a tool fails, faults: [{kind: tool_raises, step: 2}]}
repeats: %d
seed: 5
"""


def write_design(folder: Path, *, repeats: int, pace: float = 0.0) -> Path:
    """The files of the experiment; gives the path of its design. Its tools are in ``own.py`` beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.py").write_text(TOOLS.replace("{pace}", str(pace)))
    (folder / "words.yaml").write_text(SCRIPT)
    path = folder / "design.yaml"
    path.write_text(DESIGN % repeats)
    return path


def session_of(design: Path, out: Path, **options: object) -> Session:
    """A session of this design in a new folder, with its tools."""
    from agent.toolbox.own import load_all

    tools = (design.with_name("own.py"),)
    experiment: Experiment = read_design(design, load_all(tools))
    folder = create(out, experiment, design.parent) if not Folder(out).design.exists() else Folder(out)
    return Session(folder, tools_files=tools, **options)  # type: ignore[arg-type]


def marks(folder: Path) -> Counter[str]:
    """How many times the tool ran, by the id of the trace."""
    path = folder / "marks"
    return Counter(line.split()[0] for line in path.read_text().splitlines()) if path.exists() else Counter()


def timeless(rows: list[Row]) -> list[Row]:
    """Rows without what is another one in each experiment: ids and times."""
    return [replace(row, trace_id="", started=None) for row in rows]
