"""A session: started, paused, cancelled and continued, it makes every run once and keeps what is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import InputError
from agent.toolbox.own import load_all
from tests.traces.experiments.noting import marks, session_of, timeless, write_design
from traces.experiments.cells import cells
from traces.experiments.design.experiment import Experiment, ModelSpec, Subject
from traces.experiments.design.file import parse_design, read_design
from traces.experiments.folder import Folder
from traces.experiments.running.creating import fingerprint, read_state
from traces.experiments.running.ledger import read_lines, read_rows
from traces.experiments.running.session import Session, create
from traces.opening import open_trace

WAIT_S = 60


def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def ended(session: Session) -> Session:
    assert session.wait(WAIT_S)
    return session


@pytest.fixture
def design(tmp_path: Path) -> Path:
    return write_design(tmp_path / "design", repeats=4)


@pytest.mark.parametrize("workers", [1, 3])
def test_every_cell_gives_one_run_one_trace_and_one_row(design: Path, tmp_path: Path, workers: int) -> None:
    session = session_of(design, tmp_path / "out", workers=workers)
    assert session.progress.state == "ready"
    session.start()
    progress = ended(session).progress
    assert (progress.state, progress.done, progress.total, progress.running, progress.errors) == ("done", 12, 12, 0, 0)
    assert {name: counts.done for name, counts in progress.by_condition.items()} == {
        "baseline": 4,
        "blank_results": 4,
        "a tool fails": 4,
    }
    assert [row.key for row in session.rows] == [cell.key for cell in cells(session.experiment)]
    assert progress.tokens == sum(row.tokens or 0 for row in session.rows)
    for row in session.rows:
        (trace,) = open_trace(session.folder.traces / f"{row.trace_id}.json")
        assert trace.outcome.final == row.answer
        assert trace.extra["experiment"]["id"] == session.id
    assert marks(design.parent) == {row.trace_id: 2 - row.tool_errors for row in session.rows}
    assert sorted(read_rows(session.folder), key=str) == sorted(session.rows, key=str)


def test_the_same_seeds_give_the_same_rows_and_other_seeds_give_others(design: Path, tmp_path: Path) -> None:
    first, second = (session_of(design, tmp_path / name, workers=2) for name in ("one", "two"))
    for session in (first, second):
        session.start()
        ended(session)
    assert timeless(first.rows) == timeless(second.rows)
    baseline = [row for row in first.rows if row.condition == "baseline"]
    assert len({row.answer for row in baseline}) == 2, "the seeds 5 to 8 meet both answers"


def test_a_finished_experiment_that_is_started_again_runs_nothing(design: Path, tmp_path: Path) -> None:
    session = session_of(design, tmp_path / "out")
    session.start()
    ended(session)
    before = marks(design.parent)
    again = session_of(design, tmp_path / "out")
    assert again.progress.state == "done"
    again.start()
    ended(again)
    assert marks(design.parent) == before
    assert len(read_lines(again.folder)) == 12


def test_a_pause_lets_nothing_begin_and_going_on_makes_the_rest(tmp_path: Path) -> None:
    design = write_design(tmp_path / "design", repeats=10, pace=0.01)
    session = session_of(design, tmp_path / "out", workers=2)
    session.start()
    until(lambda: session.progress.done >= 2)
    session.pause()
    assert session.progress.state == "paused"
    time.sleep(0.1)  # what was in a phase comes to its end
    before, marked = session.progress, marks(design.parent)
    time.sleep(0.2)
    assert session.progress == before
    assert marks(design.parent) == marked
    assert before.done < before.total
    session.resume()
    assert ended(session).progress.done == 30
    assert max(marks(design.parent).values()) == 2


def test_a_cancelled_experiment_counts_what_it_stopped_apart_and_can_go_on(tmp_path: Path) -> None:
    design = write_design(tmp_path / "design", repeats=6, pace=0.05)
    session = session_of(design, tmp_path / "out", workers=2)
    session.start()
    until(lambda: session.progress.done >= 3)
    session.cancel()
    progress = ended(session).progress
    assert progress.state == "cancelled"
    assert 0 < progress.stopped <= 2
    stopped = [row for row in session.rows if row.status == "stopped"]
    assert {row.detail for row in stopped} == {"the experiment was cancelled"}
    finished = {row.trace_id for row in session.rows if row.counted}
    before = marks(design.parent)

    again = session_of(design, tmp_path / "out", workers=2)
    assert again.progress.state == "cancelled"
    again.start()
    assert ended(again).progress.state == "done"
    assert {row.status for row in again.rows} == {"ended"}
    after = marks(design.parent)
    assert {id: after[id] for id in finished} == {id: before[id] for id in finished}
    undisturbed = session_of(design, tmp_path / "other")
    undisturbed.start()
    assert timeless(ended(undisturbed).rows) == timeless(again.rows)


def test_a_run_whose_trace_is_whole_is_measured_and_not_made_again(design: Path, tmp_path: Path) -> None:
    session = session_of(design, tmp_path / "out")
    session.start()
    rows = ended(session).rows
    lines = session.folder.ledger.read_bytes().splitlines(keepends=True)
    session.folder.ledger.write_bytes(b"".join(lines[:-3]))
    journal = session.folder.traces / f"{rows[-1].trace_id}.jsonl"
    journal.write_text("{}\n")
    before = marks(design.parent)
    again = session_of(design, tmp_path / "out")
    assert (again.progress.state, again.progress.done) == ("ready", 9)
    again.start()
    assert ended(again).rows == rows
    assert marks(design.parent) == before
    assert not journal.exists()


@pytest.mark.parametrize("content", ["[1]", "{", '{"messages": [5]}', '{"schema": {}, "steps": 7}'])
def test_a_damaged_trace_without_a_row_is_made_again(design: Path, tmp_path: Path, content: str) -> None:
    session = session_of(design, tmp_path / "out")
    session.start()
    rows = ended(session).rows
    lines = session.folder.ledger.read_bytes().splitlines(keepends=True)
    session.folder.ledger.write_bytes(b"".join(lines[:-1]))
    (session.folder.traces / f"{rows[-1].trace_id}.json").write_text(content)
    again = session_of(design, tmp_path / "out")
    again.start()
    assert [(row.key, row.answer) for row in ended(again).rows] == [(row.key, row.answer) for row in rows]


@pytest.mark.parametrize(
    "state", ["[]", "{", '{"id": 5, "created": ""}', '{"id": "a", "created": "", "ended": "soon"}']
)
def test_a_damaged_state_is_told(design: Path, tmp_path: Path, state: str) -> None:
    session = session_of(design, tmp_path / "out")
    session.folder.state.write_text(state)
    with pytest.raises(InputError, match=r"state\.json is damaged"):
        session_of(design, tmp_path / "out")


def test_a_second_session_is_told_who_runs_the_experiment(tmp_path: Path) -> None:
    design = write_design(tmp_path / "design", repeats=4, pace=0.05)
    first = session_of(design, tmp_path / "out")
    first.start()
    with pytest.raises(InputError, match="this program is running this experiment"):
        session_of(design, tmp_path / "out").start()
    first.cancel()
    ended(first)
    second = session_of(design, tmp_path / "out")
    second.start()
    assert ended(second).progress.state == "done"
    assert not second.folder.holder.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_budget_lets_no_run_begin_beyond_it_and_stops_those_under_way(tmp_path: Path, workers: int) -> None:
    design = write_design(tmp_path / "design", repeats=10)
    words = (tmp_path / "design" / "words.yaml").read_text()
    usage = "usage: {prompt_tokens: 60, completion_tokens: 40}"
    words = words.replace("MOON}}]\n", "MOON}}]\n    " + usage + "\n").replace(
        "TIDE}}]\n", "TIDE}}]\n    " + usage + "\n"
    )
    (tmp_path / "design" / "words.yaml").write_text(words)
    design.write_text(design.read_text() + "budget: {tokens: 950}\n")
    session = session_of(design, tmp_path / "out", workers=workers)
    session.start()
    progress = ended(session).progress
    assert (progress.state, progress.remark) == ("done", "the budget of the experiment is used up")
    assert 950 <= progress.tokens <= 950 + 300 * workers
    assert 0 < progress.done < progress.total
    assert progress.stopped <= workers
    opened = session_of(design, tmp_path / "out")
    assert (opened.progress.state, opened.progress.remark) == ("done", progress.remark)
    opened.start()
    assert ended(opened).progress.done == progress.done


def test_what_makes_no_sense_is_said_before_any_run(tmp_path: Path) -> None:
    experiment = parse_design("subjects: [code_word]\nmodels: [{name: live, model: m, key_env: NOWHERE_SET}]\n")
    session = Session(create(tmp_path / "out", experiment, tmp_path))
    with pytest.raises(InputError, match="NOWHERE_SET"):
        session.start()
    assert session.progress.state == "ready"
    with pytest.raises(InputError, match="workers must be a whole number"):
        Session(session.folder, workers=0)


def test_a_folder_that_cannot_be_written_fails_with_a_sentence_and_goes_on_later(design: Path, tmp_path: Path) -> None:
    session = session_of(design, tmp_path / "out")
    session.folder.traces.write_text("in the way")
    session.start()
    progress = ended(session).progress
    assert progress.state == "failed"
    assert progress.error
    session.folder.traces.unlink()
    session.start()
    assert ended(session).progress.state == "done"


def test_the_folder_holds_all_that_the_experiment_needs(design: Path, tmp_path: Path) -> None:
    session = session_of(design, tmp_path / "abcdef012345")
    assert session.id == "abcdef012345"
    own = load_all([design.with_name("own.py")])
    original = read_design(design, own)
    assert fingerprint(session.experiment, session.folder.path) == fingerprint(original, design.parent)
    (tmp_path / "abcdef012345").rename(tmp_path / "moved")
    (design.parent / "words.yaml").unlink()
    moved = Session(Folder(tmp_path / "moved"), tools_files=[design.with_name("own.py")])
    moved.start()
    assert ended(moved).progress.done == 12
    state = read_state(moved.folder)
    assert list(state.subjects) == ["subjects/words.yaml"]
    assert state.made_with["python"]
    with pytest.raises(InputError, match="holds an experiment already"):
        create(tmp_path / "moved", moved.experiment, moved.folder.path)


def test_two_files_of_one_name_are_both_kept(tmp_path: Path) -> None:
    for name, word in (("a", "ONE"), ("b", "TWO")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.yaml").write_text(f"task: Go.\nturns: [{word}]\n")
    experiment = parse_design(
        "subjects: [{name: one, script: a/s.yaml}, {name: two, script: b/s.yaml}, {name: again, script: a/s.yaml}]\n"
        "repeats: 1\noutcome: finished\n"
    )
    session = Session(create(tmp_path / "out", experiment, tmp_path))
    session.start()
    assert [row.answer for row in ended(session).rows] == ["ONE", "TWO", "ONE"]
    assert len(list(session.folder.subjects.iterdir())) == 2


def test_a_design_made_in_python_is_not_written_with_a_password(tmp_path: Path) -> None:
    spec = ModelSpec(name="live", kind="live", model="m", base_url="http://me:secret@127.0.0.1:1/v1")
    experiment = Experiment(subjects=(Subject(name="calc", scenario="calc"),), models=(spec,))
    with pytest.raises(InputError, match="holds a password or a key") as caught:
        create(tmp_path / "made", experiment, tmp_path)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "made").exists()


def test_a_subject_that_was_changed_meanwhile_is_not_run_beside_the_old_one(design: Path, tmp_path: Path) -> None:
    folder = session_of(design, tmp_path / "out").folder
    (copy,) = folder.subjects.iterdir()
    before = copy.read_text()
    copy.write_text(before.replace("TIDE", "WIND"))
    with pytest.raises(InputError, match="is not what the experiment began with"):
        session_of(design, tmp_path / "out").start()
    copy.write_text(before)
    session = session_of(design, tmp_path / "out")
    session.start()
    assert ended(session).progress.state == "done"
