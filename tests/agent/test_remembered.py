"""What an app keeps with a run: on the disk at once, whatever the run is doing, and there again after a kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent import Breakpoint, FakeModel, Loop, Message, ModelReply, Phase, Runner, Tool, ToolCall, Trace
from agent.moments import moments
from agent.recovery import recover
from agent.rewind import rewind
from agent.tape import ROOM

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 10


def journal_of(loop: Loop, folder: Path) -> Path:
    return folder / f"{loop.trace.trace_id}.jsonl"


def test_what_is_remembered_is_in_the_journal_at_once_and_in_the_trace_at_the_end(
    started: Callable[..., Loop], tmp_path: Path
) -> None:
    loop = started([ToolCall("c1", "act", {})], "done", journal=tmp_path)
    for n, _ in enumerate(iter(lambda: loop.phase, None)):
        loop.remember("mine", {"n": n, "list": [n]})
        snapshot = recover(journal_of(loop, tmp_path))
        assert snapshot["trace"]["mine"] == {"n": n, "list": [n]}
        assert snapshot["phase"] == loop.phase
        loop.advance()
    trace = Trace.from_dict(json.loads(journal_of(loop, tmp_path).with_suffix(".json").read_bytes()))
    assert trace.extra["mine"] == {"n": n, "list": [n]}


def test_what_changes_afterwards_was_not_remembered(started: Callable[..., Loop]) -> None:
    loop, value = started("done"), {"list": [1]}
    loop.remember("mine", value)
    value["list"].append(2)
    assert loop.trace.extra["mine"] == {"list": [1]}


def test_a_run_that_is_over_still_remembers_and_a_later_turn_keeps_it(
    started: Callable[..., Loop], tmp_path: Path
) -> None:
    loop = started("one", "two", journal=tmp_path)
    loop.finish()
    loop.remember("mine", 1)
    assert not journal_of(loop, tmp_path).exists()
    loop.start("again")
    assert recover(journal_of(loop, tmp_path))["trace"]["mine"] == 1


def test_what_is_remembered_after_the_end_is_in_the_trace_file(started: Callable[..., Loop], tmp_path: Path) -> None:
    loop = started([ToolCall("c1", "act", {})], "done", journal=tmp_path)
    loop.finish()
    runner = Runner(loop)
    runner.breakpoints = (Breakpoint("tool", "act"),)
    (path,) = tmp_path.iterdir()
    trace = Trace.from_dict(json.loads(path.read_bytes()))
    assert trace.to_dict() == loop.trace.to_dict()
    again = Loop.resume(
        rewind(trace, moments(trace)[-1]).to_dict(), model=FakeModel(["done"]), tools=loop.tools, journal=tmp_path
    )
    another = Runner(again)
    assert another.breakpoints == (Breakpoint("tool", "act"),)
    another.breakpoints = ()
    assert json.loads(path.read_bytes())["breakpoints"] == []


def test_a_run_that_was_never_started_leaves_no_file(tmp_path: Path) -> None:
    Loop(FakeModel(["done"]), journal=tmp_path).remember("mine", 1)
    assert list(tmp_path.iterdir()) == []


def test_a_secret_that_is_remembered_reaches_no_file(tmp_path: Path) -> None:
    key = "Zq81Lm-the-key-in-use"

    class Keyed(FakeModel):
        secrets = (key,)

    loop = Loop(Keyed(["done"]), journal=tmp_path)
    loop.start("go")
    Runner(loop).breakpoints = (Breakpoint("text", key),)
    assert key.encode() not in journal_of(loop, tmp_path).read_bytes()
    loop.finish()
    assert key.encode() not in journal_of(loop, tmp_path).with_suffix(".json").read_bytes()
    Runner(loop).breakpoints = (Breakpoint("text", f"the {key}"),)
    assert key.encode() not in journal_of(loop, tmp_path).with_suffix(".json").read_bytes()


@pytest.fixture
def threads_take_turns_quickly() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("threads_take_turns_quickly")
def test_lines_of_two_threads_stay_whole_and_none_is_lost(make_tool: Callable[..., Tool], tmp_path: Path) -> None:
    """One thread moves a run whose journal outgrows its room and is begun anew, again and again; others remember."""
    calls = [[ToolCall("c1", "act", {"n": n})] for n in range(15)]
    loop = Loop(FakeModel([*calls, "done"]), [make_tool("x" * (ROOM // 3))], max_steps=60, journal=tmp_path)
    loop.start("go")
    over = threading.Event()
    last = {"a": 0, "b": 0}
    errors: list[BaseException] = []

    def remember(name: str) -> None:
        try:
            while not over.wait(0.0002):
                loop.remember(name, last[name] + 1)
                last[name] += 1
        except BaseException as error:
            errors.append(error)

    rememberers = [threading.Thread(target=remember, args=(name,)) for name in last]
    for thread in rememberers:
        thread.start()
    while len(loop.trace.steps) < 15:
        loop.advance()
        if loop.phase is Phase.PREPARE:
            loop.extend(max_steps=60 + len(loop.trace.steps))
            assert recover(journal_of(loop, tmp_path))["phase"] == Phase.PREPARE
    over.set()
    for thread in rememberers:
        thread.join()
    assert errors == []
    kept = recover(journal_of(loop, tmp_path))["trace"]
    assert [note for note in kept["notes"] if note["kind"] == "journal"] == []
    assert {name: kept[name] for name in last} == last
    assert len(kept["messages"]) == len(loop.messages)


@pytest.mark.usefixtures("threads_take_turns_quickly")
def test_the_end_of_the_run_and_a_remembering_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    for n in range(30):
        loop = Loop(FakeModel(["done"]), journal=tmp_path, trace_id=f"{n:012}")
        loop.start("go")
        told = threading.Event()

        def remember(loop: Loop = loop, told: threading.Event = told) -> None:
            while loop.phase is not None:
                before = loop.phase
                loop.remember("mine", str(before))
            told.set()

        thread = threading.Thread(target=remember)
        thread.start()
        loop.finish()
        assert told.wait(WAIT_S)
        thread.join()
        assert [path.suffix for path in tmp_path.glob(f"{n:012}*")] == [".json"]
        json.loads((tmp_path / f"{n:012}.json").read_bytes())


PROGRAM = """
import pathlib, sys, threading, time
from agent import Breakpoint, FakeModel, Loop, Runner, Tool, ToolCall

inside = threading.Event()

class Model(FakeModel):
    def complete(self, messages, tool_schemas, *, control=None):
        if sys.argv[2] == "call":
            inside.set()
            time.sleep(60)
        return super().complete(messages, tool_schemas, control=control)

def work():
    inside.set()
    time.sleep(60)

tools = [Tool(name="work", description="", parameters={}, func=work)]
model = Model([[ToolCall("c1", "work", {})], "done"])
loop = Loop(model, tools, journal=pathlib.Path(sys.argv[1]), trace_id="aaaaaaaaaaaa")
loop.trace.extra["setup"] = {"max_steps": 8}
loop.start("go")
runner = Runner(loop)
if sys.argv[2] != "rest":
    runner.resume()
    inside.wait()
runner.breakpoints = (Breakpoint("tool", "work"), Breakpoint("tokens", 500, enabled=False))
loop.remember("setup", {"max_steps": 16})
print("remembered", flush=True)
time.sleep(60)
"""


def killed(folder: Path, where: str) -> Path:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), where], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "remembered"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return folder / "aaaaaaaaaaaa.jsonl"


def test_breakpoints_and_settings_survive_a_kill_in_any_phase(tmp_path: Path) -> None:
    phases = {"rest": Phase.PREPARE, "call": Phase.CALL, "tool": Phase.APPROVE}
    for where, phase in phases.items():
        snapshot = recover(killed(tmp_path / where, where))
        assert snapshot["phase"] == phase, "a tool in flight is for a person to decide about"
        assert snapshot["trace"]["setup"] == {"max_steps": 16}
        model: Any = FakeModel([[ToolCall("c1", "work", {})], ModelReply(Message("assistant", "done"))])
        tools = [Tool(name="work", description="", parameters={}, func=lambda: "ok")]
        runner = Runner(Loop.resume(snapshot, model=model, tools=tools, journal=tmp_path / where))
        assert runner.breakpoints == (Breakpoint("tool", "work"), Breakpoint("tokens", 500, enabled=False))
        if where != "tool":
            runner.resume()
            assert runner.wait(WAIT_S)
            assert runner.hit
            assert runner.hit.breakpoint == Breakpoint("tool", "work")
