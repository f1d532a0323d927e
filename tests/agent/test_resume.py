"""A run is plain data: a snapshot between any two phases, taken up elsewhere, ends as if nothing had happened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import (
    CapabilityPolicy,
    ContextBudget,
    Decision,
    FakeModel,
    InputError,
    Limits,
    Loop,
    Message,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    Trace,
    Usage,
)
from agent.recovery import recover

TURNS = [
    ModelReply(
        Message("assistant", "two at once", (ToolCall("c1", "work", {"n": 1}), ToolCall("c2", "work", {"n": 2}))),
        usage=Usage(40, 12, 52),
        finish_reason="tool_calls",
        warnings=("odd",),
    ),
    [ToolCall("c1", "fail", {})],
    [ToolCall("c3", "functions.work", {"n": 3}), ToolCall("c4", "nothing", {}), ToolCall("c5", "secret_tool", {})],
    "all done",
]


class Counting(FakeModel):
    """Counts the calls really made, across however many loops."""

    made = 0

    def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
        self.made += 1
        return super().complete(messages, tool_schemas, control=control)


def tools(log: list[str]) -> list[Tool]:
    def work(n: int) -> dict[str, object]:
        log.append(f"work {n}")
        return {"n": n, "text": "词" * 50}

    def fail() -> None:
        log.append("fail")
        raise ValueError("no")

    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return [
        Tool(name="work", description="", parameters=number, func=work),
        Tool(name="fail", description="", parameters={}, func=fail),
        Tool(name="secret_tool", description="", parameters={}, func=lambda: log.append("secret")),
    ]


OPTIONS: dict[str, Any] = {
    "policy": CapabilityPolicy(deny=["secret_tool"]),
    "limits": Limits.guarded(total_tokens=100_000),
    "context": ContextBudget(3000, max_result_tokens=30),
    "system": "Be brief.",
}


def undisturbed() -> tuple[Loop, int, list[str]]:
    log: list[str] = []
    model = Counting(TURNS)
    loop = Loop(model, tools(log), trace_id="0123456789ab", **OPTIONS)
    loop.start("go")
    loop.finish()
    return loop, model.made, log


def comparable(loop: Loop) -> dict[str, Any]:
    """What must be equal: all but times."""
    data = loop.snapshot()
    for entry in data["trace"]["entries"]:
        entry.pop("at")
    for step in data["trace"]["steps"]:
        for record in (step, *step["tools"]):
            for key in ("started", "latency_ms", "first_token_ms"):
                record.pop(key, None)
    for pending in data["pending"]:
        pending.update(started=None, finished=None)
        if pending["result"]:
            pending["result"]["latency_ms"] = None
    data["trace"].pop("created")
    data["trace"]["outcome"].pop("active_s")
    data["counters"].pop("active_s")
    return data


def phases_of_a_run() -> int:
    loop = Loop(FakeModel(TURNS), tools([]), **OPTIONS)
    loop.start("go")
    count = 0
    while loop.phase is not None:
        loop.advance()
        count += 1
    return count


PHASES = phases_of_a_run()


@pytest.mark.parametrize("cut", range(PHASES + 1))
def test_a_snapshot_between_any_two_phases_ends_the_same(cut: int) -> None:
    expected, calls, ran = undisturbed()
    log: list[str] = []
    model = Counting(TURNS)
    first = Loop(model, tools(log), trace_id="0123456789ab", **OPTIONS)
    first.start("go")
    for _ in range(cut):
        first.advance()
    snapshot = json.loads(json.dumps(first.snapshot()))
    second = Loop.resume(snapshot, model=model, tools=tools(log))
    assert second.phase == first.phase
    assert second.state == first.state
    second.finish()

    assert comparable(second) == comparable(expected)
    assert (model.made, log) == (calls, ran)


@pytest.mark.parametrize("cut", range(PHASES))
def test_a_journal_cut_after_any_phase_is_that_snapshot(cut: int, tmp_path: Path) -> None:
    loop = Loop(FakeModel(TURNS), tools([]), journal=tmp_path, trace_id="0123456789ab", **OPTIONS)
    loop.start("go")
    for _ in range(cut):
        loop.advance()
    recovered = Loop.resume(recover(tmp_path / "0123456789ab.jsonl"), model=FakeModel(TURNS), tools=tools([]))
    assert comparable(recovered) == comparable(loop)
    at = [entry.at for entry in loop.trace.entries]
    assert [entry.at for entry in recovered.trace.entries] == at


def test_a_run_resumed_in_a_new_process_ends_the_same(tmp_path: Path) -> None:
    code = """
import json, sys
from agent import FakeModel, Loop, Tool, ToolCall
model = FakeModel([[ToolCall("c1", "add", {"n": 1})], [ToolCall("c2", "add", {"n": 2})], "done"])
tools = [Tool(name="add", description="", parameters={"type": "object"}, func=lambda n: n + 1)]
if sys.argv[1] == "begin":
    loop = Loop(model, tools)
    loop.start("go")
    for _ in range(int(sys.argv[3])):
        loop.advance()
    json.dump(loop.snapshot(), open(sys.argv[2], "w"))
else:
    loop = Loop.resume(json.load(open(sys.argv[2])), model=model, tools=tools)
    loop.finish()
    print([m.text for m in loop.messages], len(loop.trace.steps), loop.stop_reason)
"""
    root = Path(__file__).resolve().parents[2]

    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    for cut in (1, 4, 8):
        python("begin", str(tmp_path / "snapshot.json"), str(cut))
        assert python("go on", str(tmp_path / "snapshot.json")) == "['go', '', '2', '', '3', 'done'] 3 final"


def test_a_waiting_run_survives_with_its_question(tmp_path: Path) -> None:
    log: list[str] = []
    loop = Loop(
        FakeModel([[ToolCall("c1", "work", {"n": 1})], "done"]),
        tools(log),
        policy=CapabilityPolicy(ask=["work"]),
        journal=tmp_path,
    )
    loop.start("go")
    while not loop.waiting:
        loop.advance()
    assert loop.advance() == []
    path = tmp_path / f"{loop.trace.trace_id}.jsonl"
    again = Loop.resume(recover(path), model=FakeModel([[], "done"]), tools=tools(log), journal=tmp_path)
    assert again.waiting
    assert again.run.pending[0].question
    again.decide(0, Decision.run())
    third = Loop.resume(recover(path), model=FakeModel([[], "done"]), tools=tools(log), journal=tmp_path)
    assert not third.waiting
    third.finish()
    assert (third.stop_reason, log) == ("final", ["work 1"])


def test_the_trace_file_takes_the_place_of_the_journal(tmp_path: Path) -> None:
    loop = Loop(FakeModel(TURNS), tools([]), journal=tmp_path, **OPTIONS)
    loop.start("go")
    name = loop.trace.trace_id
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.jsonl"]
    loop.finish()
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.json"]
    assert json.loads((tmp_path / f"{name}.json").read_bytes()) == loop.trace.to_dict()


def test_a_second_turn_opens_the_journal_again(tmp_path: Path) -> None:
    loop = Loop(FakeModel(["one", "two"]), journal=tmp_path)
    loop.start("first")
    loop.finish()
    loop.start("second")
    loop.advance()
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel(["one", "two"]), journal=tmp_path)
    again.finish()
    trace = Trace.from_dict(json.loads((tmp_path / f"{loop.trace.trace_id}.json").read_bytes()))
    assert [message.text for message in trace.messages] == ["first", "one", "second", "two"]


def journal_of(folder: Path, phases: int) -> Path:
    loop = Loop(FakeModel(TURNS), tools([]), journal=folder, **OPTIONS)
    loop.start("go")
    for _ in range(phases):
        loop.advance()
    return folder / f"{loop.trace.trace_id}.jsonl"


@given(st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_torn_journal_loses_at_most_its_last_line(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    whole = journal_of(tmp_path_factory.mktemp("torn"), PHASES - 1).read_bytes()
    first = whole.index(b"\n") + 1
    snapshot = recover(whole[: first + round(share * (len(whole) - first))])
    loop = Loop.resume(snapshot, model=FakeModel(TURNS), tools=tools([]))
    while loop.phase is not None:
        for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
            if pending.decision is None:
                loop.decide(position, Decision.run())
        loop.advance()
    assert [m.text for m in loop.messages] == [m.text for m in undisturbed()[0].messages]


def test_a_broken_line_in_the_middle_is_said(tmp_path: Path) -> None:
    lines = journal_of(tmp_path, 12).read_bytes().split(b"\n")
    lines[4] = b'{"reply": '
    snapshot = recover(b"\n".join(lines))
    assert "line 5" in snapshot["trace"]["notes"][-1]["text"]


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"schema": "agent-journal/1"}', b"\xff\xfe", b'{"schema":"x"}\n{}']
)
def test_what_is_no_journal_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(InputError, match="journal"):
        recover(data)


@pytest.mark.parametrize(
    "change", [{"schema": "x"}, {"phase": "sleep"}, {"pending": [{}]}, {"counters": {"x": 1}}, {"trace": {}}]
)
def test_a_damaged_snapshot_is_refused_in_words(change: dict[str, Any]) -> None:
    loop = Loop(FakeModel(["hi"]))
    loop.start("go")
    with pytest.raises(InputError):
        Loop.resume({**loop.snapshot(), **change}, model=FakeModel(["hi"]))


def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    key = "sk-proj-abcdefghijklmnop1234567890"
    own = "correct horse battery staple"

    class Keyed(FakeModel):
        secrets = (own,)

    def leak(**_: object) -> str:
        return f"the key is {key}, the phrase {own}"

    tool = Tool(name="leak", description="", parameters={"type": "object"}, func=leak)
    seen: list[bytes] = []

    def look(event: object) -> None:
        seen.extend(path.read_bytes() for path in tmp_path.iterdir())

    call = [ToolCall("c1", "leak", {"api_key": key, "max_tokens": 50, "author": "Ada"})]
    loop = Loop(Keyed([call, f"I saw {own}"]), [tool], journal=tmp_path, on_event=look)
    loop.start(f"use {key}")
    loop.finish()
    seen += [path.read_bytes() for path in tmp_path.iterdir()]

    assert seen
    assert not any(secret.encode() in data for data in seen for secret in (key, own))
    assert b"redacted" in seen[-1]
    trace = Trace.from_dict(json.loads(next(tmp_path.iterdir()).read_bytes()))
    assert trace.messages[1].tool_calls[0].arguments["max_tokens"] == 50
    assert trace.messages[1].tool_calls[0].arguments["author"] == "Ada"
    assert key in loop.messages[2].text, "the run itself goes on with the real values"


def test_a_call_whose_secret_is_gone_waits_for_a_person(tmp_path: Path) -> None:
    call = [ToolCall("c1", "work", {"n": 1, "password": "hunter2-hunter2"})]
    loop = Loop(FakeModel([call, "done"]), tools([]), journal=tmp_path)
    loop.start("go")
    while loop.phase is not Phase.EXECUTE:
        loop.advance()
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel([call, "done"]), tools=tools([]))
    assert again.waiting
    assert "secret" in again.run.pending[0].question
