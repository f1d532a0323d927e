"""The Jupyter notebook: it runs from top to bottom in a fresh kernel, and prints what stands in it already."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from agent import Trace
from tests.traces.notebook.papers import halfway, lesson_notebook, troubled
from tests.traces.scripted import ASK, run_of
from traces import open_trace
from traces.notebook import jupyter
from traces.notebook.cells import Notebook
from traces.notebook.notes import PlacedNote
from traces.notebook.sources import literal

ROOT = Path(__file__).parents[3]
NOTES = [PlacedNote("a", "message-2", "why <this> tool?"), PlacedNote("b", "end", "so that is it")]
FOREIGN = {
    "messages": [
        {"role": "user", "content": "look '''it''' up \\"},
        {"role": "assistant", "content": "a moment", "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "web.search", "arguments": '{"q": "loops"}'}},
            {"id": "x", "type": "function", "function": {"name": "read", "arguments": "{broken"}},
        ]},
        {"role": "tool", "tool_call_id": "x", "content": "found\u2028 it"},
        {"role": "tool", "tool_call_id": "x", "content": "error: no such page"},
        {"role": "assistant", "content": "a loop goes round"},
    ]
}  # fmt: skip


def written(notebook: Notebook, **more: Any) -> Any:
    """The notebook as nbformat reads it, which it finds valid."""
    found = nbformat.reads(jupyter.write(notebook, NOTES, **more).decode(), as_version=4)
    nbformat.validate(found)
    return found


def printed(found: Any) -> list[str]:
    return ["".join(out.text for out in cell.outputs) for cell in found.cells if cell.cell_type == "code"]


def run_fresh(found: Any, folder: Path = ROOT) -> list[str]:
    """What its cells print in a kernel of their own, which is started in this folder."""
    NotebookClient(found, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return printed(found)


def notebooks() -> list[Any]:
    (foreign,) = open_trace(json.dumps(FOREIGN).encode())
    return [
        pytest.param(lesson_notebook("zh"), id="lesson"),
        pytest.param(Notebook(troubled()), id="errors and denied calls"),
        pytest.param(Notebook(foreign), id="foreign"),
    ]


@pytest.mark.parametrize("notebook", notebooks())
def test_it_runs_in_a_fresh_kernel_and_prints_what_stands_in_it(notebook: Notebook) -> None:
    found = written(notebook)
    before = printed(found)
    assert [text.replace("\x07", "\ufffd") for text in run_fresh(found)] == before
    assert f"True ({len(notebook.trace.messages)} / {len(notebook.trace.messages)})" in before[-1]
    for message in notebook.trace.messages:
        assert any(f"{message.role} · " in text for text in before)


def test_where_the_package_is_not_found_the_first_cell_says_in_one_sentence_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    found = written(lesson_notebook())
    with pytest.raises(CellExecutionError):
        run_fresh(found, tmp_path)
    (told,) = [out for cell in found.cells for out in cell.get("outputs", ()) if out.output_type == "error"]
    assert told.traceback == [told.evalue]
    assert told.evalue.startswith("The package agent was not found: start Jupyter in the folder of Agent Loop Lab")


def test_a_lesson_brings_its_own_script_and_speaks_between_the_phases() -> None:
    found = written(lesson_notebook())
    sources = [cell.source for cell in found.cells]
    (script,) = [text for text in sources if text.startswith("SCRIPT = ")]
    assert "tools: [add]" in script
    assert sources.count("go()") == 9  # six phases of a step with a call, three of one without
    notice = next(at for at, text in enumerate(sources) if "The list holds four messages now." in text)
    assert "prepare · step 2" in "".join(out.text for out in found.cells[notice - 1].outputs)
    assert "call · step 2" in "".join(out.text for out in found.cells[notice + 1].outputs)


def test_notes_stand_as_text_after_the_phase_that_they_are_about() -> None:
    found = written(Notebook(troubled()))
    at = next(at for at, cell in enumerate(found.cells) if "why &#60;this\\> tool?" in cell.source)
    assert found.cells[at].cell_type == "markdown"
    assert "append · step 1" in "".join(out.text for out in found.cells[at - 1].outputs)


def test_a_run_that_goes_on_is_moved_as_far_as_it_has_come() -> None:
    found = written(halfway(3))
    assert "True (2 / 2)" in printed(found)[-1]
    assert "None / None" in printed(found)[-1]


def test_what_a_person_changed_is_said_again_from_the_trace() -> None:
    notebook = lesson_notebook()
    trace = Trace.from_dict(json.loads(json.dumps(notebook.trace.to_dict())))
    trace.messages[3] = type(trace.messages[3])("tool", "six", tool_call_id="c1")
    found = written(Notebook(trace, None, notebook.lesson, notebook.variant))
    (script,) = [cell.source for cell in found.cells if cell.source.startswith("SCRIPT = ")]
    assert "result: six" in script
    assert "True (5 / 5)" in printed(found)[-1]


def test_a_long_run_is_moved_by_several_phases_in_a_cell() -> None:
    found = written(Notebook(run_of([*[ASK] * 400, "end"], max_steps=500)))
    moves = [cell.source for cell in found.cells if cell.source.startswith("go(")]
    assert len(moves) < 160
    assert len(found.cells) < 200
    assert "True (802 / 802)" in printed(found)[-1]


TEXTS = [
    "plain",
    "a'''b",
    "ends with \\",
    "'quoted'",
    "\r\x00\u2028\ud800",
    "r'''" + "x\\'" * 90,
    "a\n  >>> b\n  ... c",
    "a\n    \nb",
    "%%bash\n!ls\nIn [1]: x",
]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_any_text_is_a_literal_that_gives_it_back(number: int) -> None:
    text = TEXTS[number]
    assert ast.literal_eval(literal(text)).strip("\n") == text.replace("\ud800", "\ufffd")
    cell = f"text = f({literal(text)}, 1)\n"
    assert TransformerManager().transform_cell(cell) == cell, "Jupyter would change it before it runs it"


def test_it_holds_no_path_of_this_machine() -> None:
    assert str(ROOT) not in jupyter.write(lesson_notebook()).decode()
