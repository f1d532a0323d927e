"""What of a run may be shown: everything but the key in use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from agent import FakeModel, Loop, Message, ModelReply, Phase, Tool, ToolCall
from agent.faults import Fault
from agent.shown import shown

KEY = "a-key-of-nobody-4711"


class Echo(FakeModel):
    secrets = (KEY,)


def test_what_is_shown_of_a_run_is_what_is_saved(tmp_path: Path) -> None:
    call = ToolCall("c1", "act", {"header": f"Bearer {KEY}"})
    turns = [ModelReply(Message("assistant", f"sent {KEY}", (call,)), raw={"echo": KEY}), f"It was {KEY}."]
    loop = Loop(Echo(turns), [Tool("act", "", {"type": "object"}, lambda **given: given)], journal=tmp_path)
    loop.start(f"use {KEY}")
    loop.finish()
    saved = json.loads((tmp_path / f"{loop.trace.trace_id}.json").read_text())
    seen = shown(loop.trace, loop.secrets).to_dict()
    for part in ("messages", "entries", "steps", "outcome", "notes"):
        assert KEY not in json.dumps(seen[part])
        assert seen[part] == saved[part]
    assert KEY in loop.messages[1].text, "the run itself goes on with the real text"


def test_what_a_fault_changed_is_shown_without_the_key(tmp_path: Path) -> None:
    call = ToolCall("c1", "act", {"header": f"Bearer {KEY}"})
    loop = Loop(Echo([[call], "done"]), [Tool("act", "", {"type": "object"}, lambda **given: given)], journal=tmp_path)
    loop.start("go")
    loop.arm(Fault("malformed_arguments"))
    while loop.phase is not Phase.APPROVE:
        loop.advance()
    assert KEY not in (tmp_path / f"{loop.trace.trace_id}.jsonl").read_text()
    loop.finish()
    assert KEY in json.dumps(loop.trace.interventions)
    assert KEY not in json.dumps(shown(loop.trace, loop.secrets).interventions)


def test_a_run_without_a_key_is_shown_as_it_is() -> None:
    loop = Loop(FakeModel(["done"]))
    loop.start("go")
    assert shown(loop.trace, loop.secrets) is loop.trace


def test_what_a_model_is_asked_with_is_shown_without_the_key() -> None:
    class Telling(Echo):
        asked_with: ClassVar[dict[str, Any]] = {"options": {"model": "m", "extra": KEY}}

    loop = Loop(Telling(["done"]), [Tool("act", f"send {KEY}", {"type": "object"}, lambda: 1)])
    seen = shown(loop.trace, loop.secrets)
    assert KEY not in json.dumps([seen.config, seen.tools])
    assert KEY in json.dumps([loop.trace.config, loop.trace.tools]), "the run itself goes on with the real text"
