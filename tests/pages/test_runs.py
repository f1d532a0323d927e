"""The registry of runs: one run an id, bounded, nothing forgotten keeps moving; and whose key goes where."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent import Loop, Message, ModelReply, Runner
from agent.errors import InputError
from agent.models.base import CallControl
from pages.parts.live_model import key_for
from pages.parts.runs import OpenRun, Runs
from pages.parts.setup import Setup


class Waiting:
    """A model that answers only when the run is stopped."""

    def complete(self, messages: Sequence[Message], tool_schemas: Any, *, control: CallControl) -> ModelReply:
        control.wait(30)
        return ModelReply(Message("assistant", "late"))


def new_run(model: Any = None) -> OpenRun:
    loop = Loop(model or Waiting())
    loop.start("a task")
    return OpenRun(Runner(loop), Setup())


def test_an_id_is_opened_once_however_many_ask_at_the_same_time() -> None:
    runs, made = Runs(), []

    def make() -> OpenRun:
        time.sleep(0.01)
        made.append(new_run())
        return made[-1]

    threads = [threading.Thread(target=runs.open, args=("one", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert runs.find("one") is made[0]


def test_the_run_that_was_not_looked_at_for_longest_makes_room() -> None:
    runs = Runs(most=2)
    for name in ("a", "b"):
        runs.open(name, new_run)
    runs.find("a")
    runs.open("c", new_run)
    assert [runs.find(name) is not None for name in ("a", "b", "c")] == [True, False, True]


def test_a_forgotten_run_is_stopped_in_the_middle_of_its_call() -> None:
    runs = Runs(forgotten_s=0)
    run = runs.open("a", new_run)
    run.runner.resume()
    runs.open("b", new_run)
    assert run.runner.wait(5)
    assert run.loop.stop_reason == "stopped_by_user"


def test_a_resting_run_is_left_as_it_is_when_it_is_dropped() -> None:
    runs = Runs()
    run = runs.open("a", new_run)
    runs.end("a")
    assert runs.find("a") is None
    assert run.loop.stop_reason is None


def test_the_key_of_the_environment_goes_to_its_own_server_only() -> None:
    environment = {"OPENAI_API_KEY": "secret", "OPENAI_BASE_URL": "https://mine.example/v1/"}
    own: Callable[[str], str | None] = lambda url: key_for(url, "", environment)  # noqa: E731
    assert own("") is None
    assert own("https://mine.example/v1") is None
    assert own("https://other.example/v1") == "no-key"
    assert key_for("https://other.example/v1", "typed", environment) == "typed"


def test_a_scenario_is_never_taken_for_a_path(tmp_path: Path) -> None:
    script = tmp_path / "mine.yaml"
    script.write_text("[hello]", encoding="utf-8")
    with pytest.raises(InputError, match="no scenario"):
        Setup(scenario=str(script)).script()
