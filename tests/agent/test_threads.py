"""One run in the hands of several threads and tasks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent import (
    AgentError,
    FakeModel,
    FakeTurn,
    Loop,
    Message,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
)


def call(number: int = 1, /, **arguments: object) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "act", arguments)]


def test_two_threads_never_make_two_calls_at_once(make_tool: Callable[..., Tool]) -> None:
    now, most = [0], [0]

    class Slow(FakeModel):
        def complete(self, messages: Any, tool_schemas: Any, *, control: Any = None) -> ModelReply:
            now[0] += 1
            most[0] = max(most[0], now[0])
            time.sleep(0.02)
            now[0] -= 1
            return super().complete(messages, tool_schemas, control=control)

    loop = Loop(Slow([call(n) for n in range(5)] + ["done"]), [make_tool()])
    loop.start("go")
    threads = [threading.Thread(target=loop.finish) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1
    assert (loop.stop_reason, len(loop.trace.steps)) == ("final", 6)


def test_a_turn_cannot_begin_while_another_thread_moves_the_run(started: Callable[..., Loop]) -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "late")), latency_ms=300)
    loop = started(slow, to=Phase.CALL)
    mover = threading.Thread(target=loop.finish)
    mover.start()
    time.sleep(0.05)
    with pytest.raises(AgentError, match="another thread"):
        loop.start("second")
    mover.join()
    assert loop.trace.outcome.final == "late"


def test_a_cancelled_task_stops_the_run_and_the_next_turn_is_clean() -> None:
    slow = FakeTurn(ModelReply(Message("assistant", "answer to first")), latency_ms=2000)
    loop = Loop(FakeModel([slow, "answer to second"]))

    async def impatient() -> None:
        async def drive() -> None:
            async for _ in loop.aevents("first"):
                pass

        task = asyncio.create_task(drive())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = time.monotonic()
    asyncio.run(impatient())
    assert time.monotonic() - begun < 1.5
    loop.start("second")
    loop.finish()
    assert [message.role for message in loop.messages] == ["user", "user", "assistant"]
