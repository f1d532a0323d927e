"""What a listener is told, and that one which fails changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import (
    AgentEvent,
    CapabilityPolicy,
    Decision,
    FakeModel,
    Loop,
    Tool,
    ToolCall,
)


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


@pytest.mark.parametrize("at", ["turn.started", "model.completed", "tool.started", "tool.completed", "turn.completed"])
def test_a_listener_that_fails_once_changes_nothing_of_the_run(
    make_tool: Callable[..., Tool], at: str, tmp_path: Path
) -> None:
    failed: list[str] = []

    def listen(event: AgentEvent) -> None:
        if event.type == at and not failed:
            failed.append(at)
            raise RuntimeError("the page is gone")

    ran: list[Any] = []
    loop = Loop(FakeModel([call(), "done"]), [make_tool(ran=ran)], on_event=listen, journal=tmp_path)
    errors = 0
    for attempt in range(30):
        try:
            if attempt == 0:
                loop.start("go")
            loop.advance()
        except RuntimeError:
            errors += 1
    assert errors == 1
    assert [message.role for message in loop.messages] == ["user", "assistant", "tool", "assistant"]
    assert (len(ran), loop.stop_reason) == (1, "final")
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


@pytest.mark.parametrize(
    ("decision", "event"),
    [(Decision.reject("no"), "tool.denied"), (Decision.skip(), "tool.denied"), (Decision.mock(5), "tool.mocked")],
)
def test_every_call_that_did_not_run_has_its_event(
    started: Callable[..., Loop], decision: Decision, event: str
) -> None:
    seen: list[AgentEvent] = []
    loop = started(call(), "done", policy=CapabilityPolicy(ask=["act"]), on_event=seen.append)
    while not loop.waiting:
        loop.advance()
    loop.decide(0, decision)
    loop.finish()
    types = [item.type for item in seen]
    assert event in types
    assert "tool.started" not in types
