"""A session with a live model whose provider fails: nothing is lost, nothing is burnt, and no key gets anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.models.conftest import ChatServer
from tests.traces.experiments.test_session import ended, until
from traces.experiments.design.file import parse_design
from traces.experiments.running import gate
from traces.experiments.running.session import Session, create

KEY = "sk-proj-AbCdEf0123456789AbCdEf0123456789"
DESIGN = """
subjects: [{task: Say OK., evidence: [{answer_contains: OK}]}]
models: [{name: live, model: m, base_url: "%s"}]
conditions: [%s]
repeats: %d
"""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    made = ChatServer()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "FIRST_WAIT_S", 0.05)


def session_of(server: ChatServer, out: Path, *, conditions: str = "blank_results", repeats: int = 4) -> Session:
    experiment = parse_design(DESIGN % (server.url, conditions, repeats))
    return Session(create(out, experiment, out), keys={"live": KEY})


def test_a_failing_provider_marks_runs_and_makes_the_next_ones_wait(server: ChatServer, tmp_path: Path) -> None:
    server.fail(503, "overloaded", headers={"retry-after": "999"}).say("OK").fail(401, "who is this?")
    for _ in range(5):
        server.say("OK")
    session = session_of(server, tmp_path / "out")
    session.start()
    until(lambda: bool(session.progress.waiting) or session.progress.done == 8)
    waiting = session.progress.waiting
    progress = ended(session).progress
    assert (progress.state, progress.done, progress.errors) == ("done", 8, 2)
    assert waiting.startswith("live waits for 0 s: The model server answered 503: overloaded")
    at = [request.at for request in server.requests]
    assert at[1] - at[0] >= 0.05
    assert at[3] - at[2] >= 0.05
    assert [row.status for row in session.rows].count("error") == 2


def test_five_errors_in_a_row_pause_the_session_and_going_on_goes_on(server: ChatServer, tmp_path: Path) -> None:
    for _ in range(5):
        server.fail(401, "who is this?")
    for _ in range(3):
        server.say("OK")
    session = session_of(server, tmp_path / "out")
    session.start()
    until(lambda: session.progress.state == "paused")
    assert session.progress.done == 5
    assert session.progress.error.startswith("5 runs of live failed one after the other: The model server answered 401")
    assert len(server.requests) == 5
    session.resume()
    progress = ended(session).progress
    assert (progress.state, progress.done, progress.errors, progress.error) == ("done", 8, 5, "")


def test_errors_that_a_condition_is_for_neither_wait_nor_pause(server: ChatServer, tmp_path: Path) -> None:
    faults = ", ".join(f"{{name: f{n}, faults: [provider_500]}}" for n in range(7))
    server.say("OK").say("OK")
    session = session_of(server, tmp_path / "out", conditions=faults, repeats=2)
    session.start()
    progress = ended(session).progress
    assert (progress.state, progress.done, progress.errors) == ("done", 16, 14)


def test_errored_runs_are_made_again_on_request_alone(server: ChatServer, tmp_path: Path) -> None:
    server.fail(400, "no")
    for _ in range(8):
        server.say("OK")
    session = session_of(server, tmp_path / "out")
    session.start()
    assert ended(session).progress.errors == 1
    session.start()
    assert ended(session).progress.errors == 1
    assert len(server.requests) == 8
    session.start(retry_errors=True)
    progress = ended(session).progress
    assert (progress.state, progress.done, progress.errors, len(server.requests)) == ("done", 8, 0, 9)


def test_no_key_reaches_the_folder_even_where_the_server_repeats_it(server: ChatServer, tmp_path: Path) -> None:
    server.say(f"OK, your key is {KEY}").fail(401, f"the key {KEY} is wrong")
    server.say(f"{KEY[:20]} OK").say("OK")
    session = session_of(server, tmp_path / "out", repeats=2)
    session.start()
    assert ended(session).progress.done == 4
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    for path in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        assert KEY.encode() not in path.read_bytes(), path
    assert all(KEY not in f"{row}" for row in session.rows)
