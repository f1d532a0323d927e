"""How much the loop costs, as ratios to a floor of 30 lines measured in the same run.

    python tests/bench/bench_loop.py [--rounds N]

A fake model asks for one tool call a step. The floor appends to a list, looks the tool up in a dict and keeps a record
of each step; with the journal, its floor appends one JSON line a step and flushes. CPU time, floor and ours in turn,
medians. Targets: in memory at most 10x, with the journal at most 4x; the cost of a step at 1,000 steps at most 1.15x
and at 10,000 steps at most 1.3x of that at 100, beyond the floor's own growth; at most 6 MB for 1,000 steps; the import
at most 1.5x of four modules of the standard library.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent import FakeModel, Loop, Message, ModelReply, Tool, ToolCall, ToolRegistry

INTEGERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Script:
    """The same answers for floor and loop: n calls, then a text."""

    def __init__(self, steps: int) -> None:
        call = Message("assistant", None, (ToolCall("c1", "add", {"a": 2, "b": 3}),))
        self.replies = [ModelReply(call, finish_reason="tool_calls")] * steps
        self.replies.append(ModelReply(Message("assistant", "5"), finish_reason="stop"))
        self.fake = FakeModel(self.replies)


def floor(script: Script, journal: Path | None = None) -> list[dict[str, Any]]:
    """The loop in 30 lines over OpenAI messages: no checks, no errors, no limits but one."""
    tools = {"add": add}
    replies = iter([reply.message.to_dict() for reply in script.replies])
    messages: list[dict[str, Any]] = [{"role": "user", "content": "2+3?"}]
    steps: list[dict[str, Any]] = []
    file = journal.open("a") if journal else None
    for number in range(len(script.replies) + 1):
        started = time.perf_counter()
        message = next(replies)
        messages.append(message)
        calls = message.get("tool_calls") or []
        step: dict[str, Any] = {"index": number, "reply": len(messages) - 1, "tools": []}
        for call in calls:
            begun = time.perf_counter()
            name = call["function"]["name"]
            result = str(tools[name](**json.loads(call["function"]["arguments"])))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            step["tools"].append({"id": call["id"], "name": name, "ms": (time.perf_counter() - begun) * 1000})
        step["ms"] = (time.perf_counter() - started) * 1000
        steps.append(step)
        if file:
            file.write(json.dumps({"step": step, "messages": messages[-2:]}) + "\n")
            file.flush()
        if not calls:
            break
    if file:
        file.close()
    return messages


def ours(script: Script, journal: Path | None = None) -> Loop:
    """The same work by the loop of this project."""
    registry = ToolRegistry([Tool(name="add", description="Add two numbers.", parameters=INTEGERS, func=add)])
    loop = Loop(script.fake, registry, max_steps=len(script.replies) + 1, journal=journal and journal.parent)
    loop.start("2+3?")
    while loop.phase is not None:
        loop.advance()
    return loop


def per_step(function: Callable[..., Any], steps: int, folder: Path | None = None) -> float:
    """CPU microseconds a step, once."""
    script = Script(steps)
    journal = folder / "floor.jsonl" if folder else None
    gc.collect()
    begun = time.process_time()
    function(script, journal)
    spent = time.process_time() - begun
    if journal:
        for file in journal.parent.iterdir():
            file.unlink()
    return spent / steps * 1e6


def in_turn(steps: int, rounds: int, folder: Path | None = None) -> tuple[float, float]:
    """Medians of floor and ours, measured alternately."""
    pairs = [(per_step(floor, steps, folder), per_step(ours, steps, folder)) for _ in range(rounds)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def memory_mb(steps: int) -> float:
    """What the trace of this many steps holds in memory, MB."""
    script = Script(steps)
    ours(Script(3))
    gc.collect()
    tracemalloc.start()
    loop = ours(script)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(loop.trace.steps) == steps + 1
    return size / 1e6


def import_ms(statement: str) -> float:
    """CPU milliseconds of a statement in a fresh interpreter, start-up included."""
    code = f"{statement}\nimport resource; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return float(done.stdout) * 1000


def main() -> None:
    """Print the table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    ours(Script(10))
    base: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for label, folder, limit in (("in memory", None, 10.0), ("with journal", Path(name), 4.0)):
            for steps in (100, 1000, 10000):
                low, high = in_turn(steps, rounds if steps < 10000 else 3, folder)
                base.setdefault(label, (low, high))
                growth = (high / base[label][1]) / (low / base[label][0])
                print(
                    f"{label:<13} {steps:>6} steps  floor {low:6.1f} us  ours {high:6.1f} us  ratio {high / low:5.2f} "
                    f"(target {limit:g})  growth {growth:4.2f}"
                )
    print(f"memory of 1,000 steps: {memory_mb(1000):.1f} MB (target 6)")
    imports = [
        (import_ms("pass"), import_ms("import asyncio, json, dataclasses, inspect"), import_ms("import agent"))
        for _ in range(rounds)
    ]
    bare, standard, agent = (statistics.median(column) for column in zip(*imports, strict=True))
    print(
        f"import: bare {bare:.0f} ms, standard modules {standard:.0f} ms, agent {agent:.0f} ms; "
        f"ratio {agent / standard:.2f}, over bare {(agent - bare) / max(standard - bare, 1):.2f} (target 1.5)"
    )


if __name__ == "__main__":
    main()
