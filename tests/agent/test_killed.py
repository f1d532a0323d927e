"""kill -9 with real processes: nothing journalled is asked for again, what was in flight is known as unknown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent import Decision, FakeModel, Loop, Phase, ToolCall
from agent.recovery import recover
from agent.state import RunState

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import pathlib, sys, time
from agent import FakeModel, Loop, Message, ModelReply, Tool, ToolCall

folder, slow, stop_after = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def count(what):
    with (folder / "counted").open("a") as file:
        file.write(what + "\\n")

class Model(FakeModel):
    def complete(self, messages, tool_schemas, *, control=None):
        count(f"model {control.number}")
        if slow == f"model {control.number}":
            print("busy", flush=True)
            time.sleep(60)
        return super().complete(messages, tool_schemas, control=control)

def work(n):
    count(f"tool {n} begins")
    if slow == f"tool {n}":
        time.sleep(0.3)
        print("busy", flush=True)
        time.sleep(60)
    count(f"tool {n} ends")
    return n * 10

batch = [ToolCall(f"c{n}", "work", {"n": n}) for n in (1, 2, 3)]
model = Model([batch, [ToolCall("c1", "work", {"n": 4})], "done"])
tools = [Tool(name="work", description="", parameters={"type": "object"}, func=work)]
loop = Loop(model, tools, journal=folder / "data", trace_id="aaaaaaaaaaaa")
loop.start("go")
phases = 0
while loop.phase is not None:
    if phases == stop_after:
        print("busy", flush=True)
        time.sleep(60)
    loop.advance()
    phases += 1
print("over", flush=True)
"""


def work(counted: list[str]):  # type: ignore[no-untyped-def]
    from agent import Tool

    def run(n: int) -> int:
        counted.append(f"tool {n} ends")
        return n * 10

    return [Tool(name="work", description="", parameters={"type": "object"}, func=run)]


def script(counted: list[str]) -> FakeModel:
    class Model(FakeModel):
        def complete(self, messages, tool_schemas, *, control=None):  # type: ignore[no-untyped-def]
            counted.append(f"model {control.number}")
            return super().complete(messages, tool_schemas, control=control)

    batch = [ToolCall(f"c{n}", "work", {"n": n}) for n in (1, 2, 3)]
    return Model([batch, [ToolCall("c1", "work", {"n": 4})], "done"])


def killed(tmp_path: Path, slow: str = "", stop_after: int = -1) -> tuple[Path, list[str]]:
    """Run the program until it says that it is busy, kill it, and give its journal and what it did."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), slow, str(stop_after)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "busy"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    counted = (tmp_path / "counted").read_text().splitlines() if (tmp_path / "counted").exists() else []
    return tmp_path / "data" / "aaaaaaaaaaaa.jsonl", counted


ALL = ["model 0", "model 1", "model 2", "tool 1 ends", "tool 2 ends", "tool 3 ends", "tool 4 ends"]


@pytest.mark.parametrize("phases", range(14))
def test_killed_between_two_phases_nothing_is_done_twice(tmp_path: Path, phases: int) -> None:
    journal, counted = killed(tmp_path, stop_after=phases)
    loop = Loop.resume(recover(journal), model=script(counted), tools=work(counted), journal=journal.parent)
    assert not loop.waiting
    loop.finish()
    assert sorted(line for line in counted if "begins" not in line) == ALL
    assert [message.text for message in loop.messages][2:5] == ["10", "20", "30"]
    assert json.loads(journal.with_suffix(".json").read_bytes())["outcome"]["final"] == "done"
    assert not journal.exists()


def test_killed_in_a_model_call_only_that_call_is_made_again(tmp_path: Path) -> None:
    journal, counted = killed(tmp_path, slow="model 1")
    snapshot = recover(journal)
    assert snapshot["call_begun"] is True
    loop = Loop.resume(snapshot, model=script(counted), tools=work(counted))
    loop.finish()
    assert sorted(line for line in counted if "begins" not in line) == sorted([*ALL, "model 1"])


@pytest.mark.parametrize("choice", [Decision.run(), Decision.mock("forty"), Decision.skip("not needed")])
def test_killed_in_a_batch_what_was_in_flight_is_for_the_user_to_decide(tmp_path: Path, choice: Decision) -> None:
    journal, counted = killed(tmp_path, slow="tool 2")
    loop = Loop.resume(recover(journal), model=script(counted), tools=work(counted), journal=journal.parent)
    assert loop.waiting
    assert loop.phase is Phase.APPROVE
    unknown = [pending.call.id for pending in loop.run.pending if pending.decision is None]
    assert unknown == ["c2"]
    assert "unknown" in loop.run.pending[1].question
    assert loop.advance() == [], "nothing moves before the user has chosen"

    loop.decide(1, choice)
    loop.finish()
    ends = [line for line in counted if line.endswith("ends")]
    assert ends.count("tool 1 ends") == ends.count("tool 3 ends") == 1
    assert ends.count("tool 2 ends") == (1 if choice.kind == "run" else 0)
    assert loop.trace.steps[0].tools[1].decision == choice.kind
    assert loop.stop_reason == "final"


def test_an_interrupted_journal_can_be_interrupted_again(tmp_path: Path) -> None:
    journal, counted = killed(tmp_path, stop_after=7)
    loop = Loop.resume(recover(journal), model=script(counted), tools=work(counted), journal=journal.parent)
    loop.advance()
    again = Loop.resume(recover(journal), model=script(counted), tools=work(counted), journal=journal.parent)
    loop.run.counters.active_s = again.run.counters.active_s
    assert again.snapshot() == RunState.from_dict(loop.snapshot()).to_dict()
    again.finish()
    assert again.stop_reason == "final"


def test_a_daemon_thread_of_a_hung_tool_does_not_hold_the_end_of_the_program(tmp_path: Path) -> None:
    code = """
import time
from agent import FakeModel, Tool, ToolCall, run
hung = Tool(name="hung", description="", parameters={}, func=lambda: time.sleep(60), timeout=0.2)
print(run(FakeModel([[ToolCall("c1", "hung", {})], "done"]), [hung], "go").trace.steps[0].tools[0].decision)
"""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert done.stdout.strip() == "timed_out"
    assert time.monotonic() - begun < 20
