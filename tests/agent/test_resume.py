"""A run is plain data: a snapshot between any two phases, taken up elsewhere, ends as if nothing had happened."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
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
    assert (model.made, sorted(log)) == (calls, sorted(ran))  # two of the calls run at once, in either order


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
    "change", [{"schema": "x"}, {"phase": "sleep"}, {"pending": [{}]}, {"counters": {"x": 1}}, {"trace": {}}]
)
def test_a_damaged_snapshot_is_refused_in_words(change: dict[str, Any]) -> None:
    loop = Loop(FakeModel(["hi"]))
    loop.start("go")
    with pytest.raises(InputError):
        Loop.resume({**loop.snapshot(), **change}, model=FakeModel(["hi"]))


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


def call(number: int = 1, /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "act", arguments)]


def test_a_snapshot_shares_nothing_with_the_run(make_tool: Callable[..., Tool], started: Callable[..., Loop]) -> None:
    loop = started(call(), call(2), "done", context=ContextBudget(5000))
    early = loop.snapshot()
    kept = json.dumps(early)
    loop.finish()
    assert json.dumps(early) == kept
    one, two = (Loop.resume(early, model=FakeModel([call(), call(2), "done"]), tools=[make_tool()]) for _ in range(2))
    one.finish()
    assert json.dumps(early) == kept
    assert two.messages == [Message("user", "go")]
    two.finish()
    assert one.messages == two.messages == loop.messages


def test_a_resumed_run_takes_new_limits(make_tool: Callable[..., Tool]) -> None:
    model, tools = FakeModel([call(n=n) for n in range(6)] + ["done"]), [make_tool()]
    first = Loop(model, tools, max_steps=3)
    first.start("go")
    first.finish()
    more = Loop.resume(first.snapshot(), model=model, tools=tools, max_steps=6)
    more.finish()
    assert (more.stop_reason, len(more.trace.steps)) == ("max_iterations", 6)
    less = Loop.resume(first.snapshot(), model=model, tools=tools, max_steps=2)
    less.finish()
    assert (less.stop_reason, len(less.trace.steps)) == ("max_iterations", 3)


def test_a_resumed_run_says_which_options_it_cannot_take(started: Callable[..., Loop]) -> None:
    loop = started("done")
    with pytest.raises(InputError, match="system"):
        Loop.resume(loop.snapshot(), model=FakeModel(["done"]), system="other")
    with pytest.raises(InputError, match="snapshot"):
        Loop.resume(None, model=FakeModel(["done"]))  # type: ignore[arg-type]


def test_a_resumed_run_names_the_model_and_tools_that_it_has_now(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    class Other(FakeModel):
        name = "other"

    loop = started(call(), "done")
    again = Loop.resume(loop.snapshot(), model=Other(["done"]), tools=[make_tool(name="another")])
    assert again.trace.model.name == "other"
    assert again.trace.tools[0]["function"]["name"] == "another"


def test_broken_arguments_are_explained_alike_before_and_after_a_resume(
    make_tool: Callable[..., Tool], started: Callable[..., Loop]
) -> None:
    broken = ToolCall.from_dict({"id": "c1", "function": {"name": "act", "arguments": '{"a": 1, "b"'}})
    first = started([broken], "done", to=Phase.APPROVE)
    second = Loop.resume(json.loads(json.dumps(first.snapshot())), model=FakeModel([[], "done"]), tools=[make_tool()])
    first.finish()
    second.finish()
    assert first.messages == second.messages
