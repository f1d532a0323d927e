"""kill -9 of the server: in every phase, in a model call, in the middle of a batch. Nothing finished is done again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

TOOLS = '''\
"""Tools that write down outside of the app that they ran."""

import time
from pathlib import Path

from agent import tool

FOLDER = Path(__file__).parent


def note(line):
    with (FOLDER / "ran.txt").open("a") as file:
        file.write(line + "\\n")


@tool
def plus(a: int, b: int) -> int:
    """Add."""
    note(f"plus {a} {b}")
    return a + b


@tool(idempotent=False)
def work(n: int) -> str:
    """Work; all but the first wait until the file "go" is there."""
    note(f"work {n}")
    while n > 1 and not (FOLDER / "go").exists():
        time.sleep(0.05)
    return f"done {n}"
'''


class Killable:
    """The app with tools of its own, which is killed and started again over the same data."""

    def __init__(self, serve: Callable[..., Any], folder: Path, lab: Any) -> None:
        self.folder, self.lab, self._serve = folder, lab, serve
        self.server: Any = None
        self.address = ""
        (folder / "mine.py").write_text(TOOLS, encoding="utf-8")

    @contextmanager
    def started(self) -> Iterator[None]:
        options = ["--tools", str(self.folder / "mine.py"), "--data", str(self.folder / "runs")]
        with self._serve(options=options) as self.server:
            yield

    def kill(self) -> None:
        """Kill the server while its page is open; the tab is closed after it."""
        self.server.process.kill()
        self.server.process.wait()
        self.address = self.lab.leave()

    def begin(self, model_server: Any, *tools: str) -> None:
        """A live model behind the stub, with these tools on offer."""
        lab = self.lab.open(f"{self.server.url}/?model=live&script_tools={','.join(tools)}")
        lab.fill("Model name", "stub")
        lab.fill("Base URL", model_server.url)

    def reopen(self) -> None:
        """The same address in the server that was started again."""
        self.lab.open(self.address)

    def ran(self) -> list[str]:
        """What the tools wrote down."""
        file = self.folder / "ran.txt"
        return file.read_text().splitlines() if file.exists() else []

    def wait_for(self, lines: int) -> None:
        for _ in range(300):
            if len(self.ran()) >= lines:
                return
            time.sleep(0.05)
        raise TimeoutError(f"{lines} lines, found {self.ran()}")


@pytest.fixture
def killable(serve: Callable[..., Any], tmp_path: Path, lab: Any) -> Killable:
    return Killable(serve, tmp_path, lab)


def test_killed_between_any_two_phases_nothing_is_done_twice(killable: Killable, lab: Any, model_server: Any) -> None:
    model_server.gate.set()
    model_server.turns = [[("plus", {"a": 2, "b": 3})], [("plus", {"a": 5, "b": 4})]]
    phases = ["call", "approve", "execute", "append", "decide", "prepare"]
    with killable.started():
        killable.begin(model_server, "plus")
        lab.key("s")
        expect(lab.status).to_contain_text("Next: call")
        killable.kill()
    for before, after in pairwise(phases):
        with killable.started():
            killable.reopen()
            expect(lab.status).to_contain_text(f"Next: {before}")
            expect(lab.page.get_by_text("Back from disk.")).to_be_visible()
            lab.key("s")
            expect(lab.status).to_contain_text(f"Next: {after}")
            killable.kill()
    with killable.started():
        killable.reopen()
        lab.key("g")
        expect(lab.status).to_contain_text("The model answered")
    assert len(model_server.requests) == 3
    assert killable.ran() == ["plus 2 3", "plus 5 4"]


def test_a_model_call_in_flight_is_told_and_only_it_is_made_again(
    killable: Killable, lab: Any, model_server: Any
) -> None:
    model_server.gate.set()
    model_server.turns = [[("plus", {"a": 2, "b": 3})]]
    with killable.started():
        killable.begin(model_server, "plus")
        lab.key("o")
        lab.rows(4)
        model_server.gate.clear()
        lab.key("g")
        model_server.wait_for_request(2)
        expect(lab.status).to_contain_text("Running: call")
        killable.kill()
    model_server.gate.set()
    with killable.started():
        lab.page.goto(f"{killable.server.url}/traces")
        lab.drawn()
        lab.cell(1, "interrupted")
        lab.open_row(1)
        lab.page.get_by_text("Continue it on the Run page").click()
        expect(lab.status).to_contain_text("A model call was in flight when the server ended: outcome unknown.")
        lab.rows(4)
        lab.key("g")
        expect(lab.status).to_contain_text("The model answered")
        expect(lab.status).not_to_contain_text("outcome unknown")
    assert [len(request["messages"]) for request in model_server.requests] == [2, 4, 4]
    assert killable.ran() == ["plus 2 3"]


def test_killed_in_a_batch_of_three_each_open_call_is_decided(killable: Killable, lab: Any, model_server: Any) -> None:
    model_server.gate.set()
    model_server.turns = [[("work", {"n": n}) for n in (1, 2, 3)]]
    with killable.started():
        killable.begin(model_server, "work")
        lab.key("g")
        killable.wait_for(3)
        expect(lab.status).to_contain_text("Running: execute")
        lab.page.wait_for_timeout(500)
        killable.kill()
    (killable.folder / "go").touch()
    with killable.started():
        killable.reopen()
        expect(lab.status).to_contain_text("These calls wait for your decision.")
        expect(lab.status.get_by_text("outcome unknown")).to_have_count(2)
        expect(lab.button("Step")).to_be_disabled()
        lab.settled()
        lab.button("Run again").click()
        expect(lab.status.get_by_text("outcome unknown")).to_have_count(1)
        lab.settled()
        lab.status.get_by_test_id("stButtonGroup").get_by_text("Give a result", exact=True).last.click()
        field = lab.status.get_by_label("The result that the model is given")
        field.fill("it was done by hand")
        field.blur()
        lab.settled()
        lab.button("Decide: Give a result").click()
        expect(lab.button("Continue")).to_be_enabled()
        lab.key("g")
        expect(lab.status).to_contain_text("The model answered")
        lab.rows(7)
    assert len(model_server.requests) == 2
    assert sorted(killable.ran()) == ["work 1", "work 2", "work 2", "work 3"]
    results = [message["content"] for message in model_server.requests[1]["messages"] if message["role"] == "tool"]
    assert results[:2] == ["done 1", "done 2"]
    assert "it was done by hand" in results[2]
