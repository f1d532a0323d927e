"""The same experiment on a Dask cluster: the same table, traces that are the same, and no key on its way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from agent.errors import InputError
from tests.traces.experiments.noting import marks, session_of, timeless, write_design
from tests.traces.experiments.test_session import ended, until
from traces.experiments.design.experiment import Budget
from traces.experiments.design.file import parse_design
from traces.experiments.running.engines.station import Luggage, Order, order, perform
from traces.experiments.running.session import Session, create
from traces.opening import open_trace


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def on_dask(design: Path, out: Path, scheduler: str) -> Session:
    return session_of(design, out, engine="dask", scheduler=scheduler)


def test_threads_and_a_cluster_give_the_same_table_and_the_same_traces(scheduler: str, tmp_path: Path) -> None:
    design = write_design(tmp_path / "design", repeats=6)
    sessions = [session_of(design, tmp_path / "threads"), on_dask(design, tmp_path / "dask", scheduler)]
    for session in sessions:
        session.start()
        assert ended(session).progress.state == "done", session.progress.error
    here, there = sessions
    assert timeless(here.rows) == timeless(there.rows)
    assert there.progress.done == 18
    for a, b in zip(here.rows, there.rows, strict=True):
        (one,), (other,) = (open_trace(s.folder.traces / f"{row.trace_id}.json") for s, row in ((here, a), (there, b)))
        assert one.messages == other.messages
        assert other.extra["experiment"]["id"] == there.id
    assert len(list(there.folder.traces.iterdir())) == 18


def test_a_cluster_pauses_is_cancelled_and_goes_on_like_threads(scheduler: str, tmp_path: Path) -> None:
    design = write_design(tmp_path / "design", repeats=8, pace=0.1)
    session = on_dask(design, tmp_path / "out", scheduler)
    session.start()
    until(lambda: session.progress.done >= 2)
    session.pause()
    time.sleep(1.5)  # the workers hear of it, and come to the end of their phase
    marked = marks(design.parent)
    time.sleep(0.5)
    assert marks(design.parent) == marked
    assert session.progress.done < 24
    session.resume()
    until(lambda: session.progress.done >= 6)
    session.cancel()
    assert ended(session).progress.state == "cancelled"
    finished = {row.trace_id for row in session.rows if row.counted}
    assert 6 <= len(finished) < 24
    before = marks(design.parent)
    session.start()
    assert ended(session).progress.done == 24
    after = marks(design.parent)
    assert {id: after[id] for id in finished} == {id: before[id] for id in finished}


def test_a_budget_holds_on_a_cluster_too(scheduler: str, tmp_path: Path) -> None:
    experiment = parse_design("subjects: [code_word]\nrepeats: 60\nbudget: {tokens: 2000}\n")
    session = Session(create(tmp_path / "out", experiment, tmp_path), engine="dask", scheduler=scheduler)
    session.start()
    progress = ended(session).progress
    assert (progress.state, progress.remark) == ("done", "the budget of the experiment is used up")
    assert 2000 <= progress.tokens <= 2000 + 4 * 250


def test_a_worker_that_lacks_a_tool_or_a_key_fails_the_session_with_its_words(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_OF_THIS_PROCESS", "sk-only-here-0123456789")
    subject = "{task: Go., evidence: [{answer_contains: a}]}"
    model = '{name: live, model: m, base_url: "http://127.0.0.1:9/v1", key_env: KEY_OF_THIS_PROCESS}'
    design = f"subjects: [{subject}]\nmodels: [{model}]\n"
    folder = create(tmp_path / "out", parse_design(design), tmp_path)
    session = Session(folder, engine="dask", scheduler=scheduler)
    session.start()
    progress = ended(session).progress
    assert progress.state == "failed"
    assert "needs its key in the environment variable KEY_OF_THIS_PROCESS" in progress.error
    given = Session(folder, engine="dask", scheduler=scheduler, keys={"live": "sk-given-0123456789"})
    given.start()
    assert "keys are not sent to a cluster" in ended(given).progress.error


def test_a_scheduler_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traces.experiments.running.engines.dask.PATIENCE", "1s")
    design = write_design(tmp_path / "design", repeats=1)
    session = on_dask(design, tmp_path / "out", "tcp://127.0.0.1:9")
    session.start()
    progress = ended(session).progress
    assert progress.state == "failed"
    assert progress.error.startswith("the scheduler tcp://127.0.0.1:9 cannot be reached")


def luggage(folder: Any) -> Luggage:
    return Luggage("session", "eeeeeeeeeeee", {"design.yaml": folder.design.read_bytes()})


def test_an_order_holds_for_a_worker_that_has_seen_nothing_of_the_session_yet(tmp_path: Path) -> None:
    folder = create(tmp_path / "out", parse_design("subjects: [code_word]\nrepeats: 1\n"), tmp_path)
    order("session", Order(closed="enough"))
    assert perform(luggage(folder), ["code_word", "script", "baseline", 0, 0], Budget()) is None


def test_a_worker_sends_back_what_a_run_leaves_and_keeps_nothing(tmp_path: Path) -> None:
    folder = create(tmp_path / "out", parse_design("subjects: [code_word]\nrepeats: 1\n"), tmp_path)
    order("another", Order())
    sent = Luggage("another", "eeeeeeeeeeee", luggage(folder).files)
    back = perform(sent, ["code_word", "script", "baseline", 0, 0], Budget())
    assert back is not None
    row, trace = back
    assert row["verified"] is True
    assert open_trace(trace)[0].trace_id == row["trace_id"]
    with pytest.raises(InputError, match="there is no scenario"):
        perform(Luggage("third", "e", {"design.yaml": b"subjects: [nothing]"}), ["s", "m", "c", 0, 0], Budget())
