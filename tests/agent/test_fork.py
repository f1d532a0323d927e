"""Forks: a new run begins exactly where another one stood, with what was changed; the other one is never touched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
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
    Loop,
    Message,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    Trace,
)
from agent.fork import Changes, fork, with_arguments
from agent.moments import Moment, moments
from agent.protocol import violations
from agent.recovery import recover
from agent.request import request_of
from tests.agent.walks import options, tools, turns

ROOT = Path(__file__).resolve().parents[2]


class Listening(FakeModel):
    """Keeps every request."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__(script)
        self.asked: list[list[Message]] = []

    def complete(self, messages: Sequence[Message], tool_schemas: Any, *, control: Any = None) -> ModelReply:
        self.asked.append(list(messages))
        return super().complete(messages, tool_schemas, control=control)


def call(number: int = 1, name: str = "act", /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", name, arguments)]


SCRIPT = [call(n=1), call(2, n=2), "done"]


def act() -> list[Tool]:
    return [Tool(name="act", description="", parameters={"type": "object"}, func=lambda n=0: f"result {n}")]


def finished(script: list[Any] = SCRIPT, **options: Any) -> Loop:
    loop = Loop(FakeModel(script), act(), **{"system": "Be brief.", **options})
    loop.start("go")
    loop.finish()
    return loop


def at(trace: Trace, step: int, phase: Phase | None, now: Phase | None = None) -> Moment:
    return next(moment for moment in moments(trace, now) if (moment.step, moment.phase) == (step, phase))


def forked(loop: Loop, step: int, phase: Phase | None, /, model: FakeModel | None = None, **changes: Any) -> Loop:
    snapshot = fork(loop.trace, at(loop.trace, step, phase), Changes(**changes))
    return Loop.resume(json.loads(json.dumps(snapshot)), model=model or FakeModel(SCRIPT), tools=act())


def said(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


# ---- the same again ----


def test_a_fork_inherits_what_was_and_asks_for_nothing_again() -> None:
    loop, model = finished(), Listening(SCRIPT)
    new = forked(loop, 2, Phase.APPROVE, model)
    assert new.phase is Phase.APPROVE
    assert new.messages == loop.messages[:5]
    assert [e.to_dict() for e in new.trace.entries] == [e.to_dict() for e in loop.trace.entries[:5]]
    assert new.trace.trace_id != loop.trace.trace_id
    source = new.trace.source
    assert (source.kind, source.parent, source.at) == ("fork", loop.trace.trace_id, {"step": 2, "phase": "approve"})
    assert (new.trace.title, new.trace.outcome.reason) == (loop.trace.title, None)
    new.finish()
    assert len(model.asked) == 1, "the third turn of the script, and no other"
    assert new.messages == loop.messages


@given(turns(), options(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_fork_of_any_moment_goes_on_and_leaves_its_parent_alone(
    script: list[Any], opts: dict[str, Any], data: st.DataObject
) -> None:
    parent = Loop(FakeModel(script), tools(), **opts)
    parent.start("go")
    parent.finish()
    before = json.dumps(parent.trace.to_dict())
    moment = data.draw(st.sampled_from(moments(parent.trace)))
    system = data.draw(st.sampled_from([None, "", "Be exact."]))
    first = 1 if opts["system"] else 0
    position = data.draw(st.none() | st.integers(first, moment.messages - 1)) if moment.messages > first else None
    changes = Changes({} if position is None else {position: "something else"}, system)
    new = Loop.resume(fork(parent.trace, moment, changes), model=FakeModel(script), tools=tools())
    stood = moments(new.trace, new.phase)[-1]
    assert (stood.phase, stood.messages) == (new.phase, len(new.messages))
    new.finish()
    assert violations(new.messages) == []
    for mine, theirs in zip(new.trace.steps, parent.trace.steps[: moment.step - 1], strict=False):
        assert list(request_of(new.trace, mine)) == list(request_of(parent.trace, theirs)), "what was sent stays"
        assert [run.ok for run in mine.tools] == [run.ok for run in theirs.tools] or position is not None
    assert json.dumps(parent.trace.to_dict()) == before
    assert moments(new.trace)[-1].messages == len(new.messages)


def test_one_point_is_forked_any_number_of_times_and_forks_are_forked() -> None:
    loop = finished()
    point = at(loop.trace, 2, Phase.PREPARE)
    forks = [
        Loop.resume(fork(loop.trace, point, Changes({3: f"answer {n}"})), model=FakeModel(SCRIPT), tools=act())
        for n in range(4)
    ]
    assert len({each.trace.trace_id for each in forks}) == 4
    assert [each.messages[3].text for each in forks] == [f"answer {n}" for n in range(4)]
    child = forks[1]
    child.finish()
    grandchild = forked(child, 2, Phase.PREPARE, messages={3: "another answer"})
    assert grandchild.trace.source.parent == child.trace.trace_id
    assert grandchild.messages[3].text == "another answer"
    kinds = [(item["kind"], item["params"]["after"]["content"]) for item in grandchild.trace.interventions]
    assert kinds == [("message_edited", "answer 1"), ("message_edited", "another answer")]
    assert grandchild.trace.entries[3].raw["content"] == "result 1", "the first original stays"
    assert loop.messages[3].text == "result 1"


def test_a_run_that_rests_is_forked_where_it_stands_with_what_it_has_done() -> None:
    loop = Loop(FakeModel(SCRIPT), act(), policy=CapabilityPolicy(ask=["act"]))
    loop.start("go")
    while not loop.waiting:
        loop.advance()
    loop.decide(0, Decision.edit({"n": 7}))
    loop.advance()
    loop.advance()
    assert loop.phase is Phase.APPEND
    new = Loop.resume(fork(loop.run, moments(loop.trace, loop.phase)[-1]), model=FakeModel(SCRIPT), tools=act())
    new.advance()
    assert "result 7" in new.messages[2].text
    assert len(loop.messages) == 2


# ---- changes ----


def test_an_edited_result_is_what_the_model_sees_and_the_original_is_kept() -> None:
    loop, model = finished(), Listening(SCRIPT)
    new = forked(loop, 2, Phase.CALL, model, messages={3: '{"error": "no"}'})
    assert new.phase is Phase.PREPARE, "the request that was ready held the old text"
    entry = new.trace.entries[3]
    assert (entry.maker, entry.raw["content"], new.trace.steps[0].tools[0].ok) == ("user", "result 1", False)
    (told,) = new.trace.interventions
    assert (told["kind"], told["step"], told["phase"], told["by"]) == ("message_edited", 2, "call", "user")
    assert told["params"]["message"] == 3
    assert (told["params"]["before"]["content"], told["params"]["after"]["content"]) == ("result 1", '{"error": "no"}')
    new.finish()
    assert said(model.asked[0])[3] == '{"error": "no"}'


def test_what_earlier_calls_were_given_is_not_rewritten() -> None:
    loop = finished()
    new = forked(loop, 3, Phase.PREPARE, messages={1: "other task", 3: "other result"})
    for step, original in zip(new.trace.steps, loop.trace.steps, strict=False):
        assert list(request_of(new.trace, step)) == list(request_of(loop.trace, original))
    again = forked(new_end(new), 3, Phase.PREPARE, messages={3: "third result"})
    assert [said(request_of(again.trace, step))[1:] for step in again.trace.steps] == [
        ["go"],
        ["go", "", "result 1"],
    ]


def new_end(loop: Loop) -> Loop:
    loop.finish()
    return loop


@pytest.mark.parametrize("system", ["", "Be exact."])
@pytest.mark.parametrize("before", ["", "Be brief."])
def test_the_system_text_is_changed_added_or_taken_away(before: str, system: str) -> None:
    loop, model = finished(system=before), Listening(SCRIPT)
    new = forked(loop, 3, Phase.PREPARE, model, system=system)
    assert said(new.messages)[: bool(system)] == ([system] if system else [])
    assert said(new.messages)[bool(system) :] == said(loop.messages[:-1])[bool(before) :]
    for step, original in zip(new.trace.steps, loop.trace.steps, strict=False):
        assert list(request_of(new.trace, step)) == list(request_of(loop.trace, original))
        assert new.messages[step.reply] == loop.messages[original.reply]
        assert said([new.messages[step.tools[0].message]]) == said([loop.messages[original.tools[0].message]])
    changed = [item["params"] for item in new.trace.interventions]
    assert changed == ([] if system == before else [{"before": before, "after": system}])
    new.finish()
    assert said(model.asked[0]) == said(new.messages[:-1])
    assert new.run.counters.task_at == bool(system)


def test_the_system_text_is_changed_where_the_budget_left_messages_out() -> None:
    script = [call(n, n=n) for n in range(8)] + ["done"]
    results = [Tool(name="act", description="", parameters={"type": "object"}, func=lambda n=0: "word " * 60)]
    loop = Loop(FakeModel(script), results, system="Be brief.", context=ContextBudget(300))
    loop.start("go")
    loop.finish()
    assert any(step.request.edits for step in loop.trace.steps)
    for system in ("", "Be exact."):
        snapshot = fork(loop.trace, at(loop.trace, 7, Phase.PREPARE), Changes(system=system))
        new = Loop.resume(snapshot, model=FakeModel(script), tools=results)
        for step, original in zip(new.trace.steps, loop.trace.steps, strict=False):
            assert list(request_of(new.trace, step)) == list(request_of(loop.trace, original))
        new.finish()
        assert violations(request_of(new.trace, new.trace.steps[-1])) == []


def test_an_edited_reply_gives_its_own_calls_to_approve() -> None:
    loop = finished()
    before = loop.messages[4]
    edited = replace(with_arguments(before, {0: '{"n": 9}'}, before), content="let me see")
    new = forked(loop, 2, Phase.APPROVE, messages={4: edited})
    assert [(p.call.arguments, p.decision) for p in new.run.pending] == [({"n": 9}, None)]
    new.finish()
    assert said(new.messages)[4:6] == ["let me see", "result 9"]
    assert new.trace.steps[1].tools[0].arguments == {"n": 9}


@pytest.mark.parametrize("phase", [Phase.APPROVE, Phase.EXECUTE])
def test_calls_are_added_and_taken_away_before_they_run(phase: Phase) -> None:
    loop = finished()
    two = Message("assistant", None, (*call(1, n=4), *call(1, n=5)))
    new = forked(loop, 2, phase, messages={4: two})
    assert new.phase is Phase.APPROVE, "what was decided was about other calls"
    new.finish()
    assert said(new.messages)[5:7] == ["result 4", "result 5"]
    assert violations(new.messages) == []
    silent = forked(loop, 2, phase, messages={4: Message("assistant", "no need")})
    assert silent.phase is Phase.DECIDE
    silent.finish()
    assert (silent.stop_reason, silent.trace.outcome.final) == ("final", "no need")


def test_a_final_answer_becomes_a_call() -> None:
    loop = finished()
    new = forked(loop, 3, Phase.DECIDE, FakeModel([*SCRIPT, "really done"]), messages={6: asking(call(8, n=8))})
    assert new.phase is Phase.APPROVE
    new.finish()
    assert said(new.messages)[-2:] == ["result 8", "really done"]


def asking(calls: list[ToolCall]) -> Message:
    return Message("assistant", None, tuple(calls))


def test_results_edited_before_decide_are_what_the_rules_look_at() -> None:
    loop = finished()
    new = forked(loop, 1, Phase.DECIDE, messages={3: '{"error": "no", "retryable": false}'})
    new.advance()
    assert new.run.counters.failing == 1


def test_changed_tools_and_settings_are_recorded() -> None:
    loop = finished(max_steps=2)
    changes = Changes(tools=["other"], settings={"max_steps": 9, "parallel": True})
    snapshot = fork(loop.trace, at(loop.trace, 2, Phase.CALL), changes)
    other = Tool(name="other", description="", parameters={}, func=dict)
    new = Loop.resume(snapshot, model=FakeModel(SCRIPT), tools=[other], max_steps=9)
    assert [(item["kind"], item["params"]) for item in new.trace.interventions] == [
        ("tools_changed", {"before": ["act"], "after": ["other"]}),
        ("settings_changed", {"before": {"max_steps": 2}, "after": {"max_steps": 9}}),
    ]
    new.finish()
    assert new.stop_reason == "final"


def test_a_run_that_is_over_is_forked_at_its_end_and_goes_on_with_more_steps() -> None:
    loop = finished(max_steps=1)
    snapshot = fork(loop.trace, moments(loop.trace)[-1], Changes({3: "other"}, settings={"max_steps": 5}))
    new = Loop.resume(snapshot, model=FakeModel(SCRIPT), tools=act(), max_steps=5)
    new.finish()
    assert (new.stop_reason, new.messages[3].text) == ("final", "other")
    assert loop.stop_reason == "max_iterations"


def test_the_first_request_of_a_fork_is_checked_from_its_first_message_on() -> None:
    loop, model = finished(), Listening(SCRIPT)
    snapshot = fork(loop.trace, at(loop.trace, 3, Phase.PREPARE))
    del snapshot["trace"]["messages"][3]  # a hole that an editor of files might leave
    new = Loop.resume(snapshot, model=model, tools=act())
    new.finish()
    assert violations(model.asked[0]) == []
    assert len(model.asked[0]) == 6


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"messages": {9: "x"}}, "no message 10 at this point: there are 5"),
    ({"messages": {-1: "x"}}, "no message 0"),
    ({"messages": {1: Message("assistant", "x")}}, "message 2 has the role user and must keep it"),
    ({"messages": {3: Message("tool", "x", tool_call_id="zz")}}, "message 4 must stay the result of the call 'c1'"),
    ({"messages": {2: Message("assistant", "x")}}, "the calls of message 3 are answered"),
    ({"messages": {4: asking([ToolCall("c2", "", {})])}}, "message 5 asks for a tool without a name"),
    ({"messages": {1: Message("user", "x", tuple(call()))}}, "message 2 cannot ask for tools"),
    ({"messages": {1: 5}}, "can become another message or a text"),
    ({"messages": {0: "x"}, "system": "y"}, "the system text is changed twice"),
    ({"settings": {"colour": 1}}, "there is no such setting: colour"),
]


@pytest.mark.parametrize(("changes", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_makes_no_sense_is_refused_in_words(changes: dict[str, Any], words: str) -> None:
    loop = finished()
    with pytest.raises(InputError, match=words):
        fork(loop.trace, at(loop.trace, 2, Phase.APPROVE), Changes(**changes))


@pytest.mark.parametrize("text", ["{", "[1]", "5"])
def test_arguments_must_be_an_object(text: str) -> None:
    message = asking(call(n=1))
    with pytest.raises(InputError, match=r"call 1 \(act\): the arguments"):
        with_arguments(message, {0: text}, message)


def test_an_edit_that_changes_nothing_is_none() -> None:
    loop = finished()
    new = forked(loop, 2, Phase.CALL, messages={1: "go", 3: "result 1"}, system="Be brief.")
    assert (new.phase, new.trace.interventions) == (Phase.CALL, [])
    assert new.trace.entries[3].maker == "environment"


# ---- on the disk ----

PROGRAM = """
import json, pathlib, sys, time
from agent import FakeModel, Loop, Tool, ToolCall
folder, phases = pathlib.Path(sys.argv[1]), int(sys.argv[2])

class Model(FakeModel):
    def complete(self, messages, tool_schemas, *, control=None):
        with (folder / "asked").open("a") as file:
            file.write(f"{control.number}\\n")
        return super().complete(messages, tool_schemas, control=control)

script = [[ToolCall("c1", "act", {"n": 1})], [ToolCall("c2", "act", {"n": 2})], "done"]
tools = [Tool(name="act", description="", parameters={"type": "object"}, func=lambda n=0: f"result {n}")]
snapshot = json.loads((folder / "snapshot").read_text())
loop = Loop.resume(snapshot, model=Model(script), tools=tools, journal=folder / "data")
for _ in range(phases):
    loop.advance()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("phases", [0, 1, 3, 5])
def test_a_fork_that_is_killed_is_recovered_as_a_fork(tmp_path: Path, phases: int) -> None:
    loop = finished()
    changes = Changes({3: "edited"}, "")
    snapshot = fork(loop.trace, at(loop.trace, 2, Phase.APPROVE), changes)
    (tmp_path / "snapshot").write_text(json.dumps(snapshot))
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(phases)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline().strip() == "ready"
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    (journal,) = (tmp_path / "data").iterdir()
    assert journal.stem == snapshot["trace"]["trace_id"]
    model = Listening(SCRIPT)
    again = Loop.resume(recover(journal), model=model, tools=act(), journal=tmp_path / "data")
    assert again.trace.source.parent == loop.trace.trace_id
    again.finish()
    asked = (tmp_path / "asked").read_text().split() if (tmp_path / "asked").exists() else []
    assert len(asked) + len(model.asked) == 1, "only the third model call is made, and once"
    assert said(again.messages) == ["go", "", "edited", "", "result 2", "done"]
    saved = Trace.from_dict(json.loads(journal.with_suffix(".json").read_bytes()))
    assert [item["kind"] for item in saved.interventions] == ["message_edited", "system_edited"]
    assert saved.entries[2].raw["content"] == "result 1"
    assert [said(request_of(saved, step))[0] for step in saved.steps] == ["Be brief.", "Be brief.", "go"]
