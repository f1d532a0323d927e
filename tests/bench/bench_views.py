"""How much it costs to make what the pages show of one long trace, as ratios to a floor measured in the same run.

    python tests/bench/bench_views.py [--messages N] [--megabytes N] [--rounds N]

The floor is ``json.loads`` of the trace's own file. CPU time, floor and ours in turn, medians. Everything here is made
once when a trace is opened, or again when one message is selected; a selection has a floor of its own, the data frame
of a table of as many short rows.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pandas as pd
from bench_traces import WORDS, compare, cpu

from agent import jsontext
from agent.trace import Trace
from traces import read_file
from traces.carry import carried
from traces.compare import compare as compare_traces
from traces.composition import composition
from traces.export import export, formats
from traces.figures.context import context_per_step
from traces.figures.steps import latency_per_step, tokens_per_step
from traces.figures.timeline import timeline_figure
from traces.figures.tools import tool_use
from traces.filtering import Filter, positions
from traces.following import Follower
from traces.lint import lint
from traces.sizes import message_sizes
from traces.summary import summarise
from traces.tables import messages_frame, runs_frame, steps_frame
from traces.text import message_text
from traces.timeline import timeline


def native(messages: int, megabytes: float) -> dict[str, Any]:
    """A trace of so many messages and megabytes: each step one call with its result."""
    pick = random.Random(11)
    size = int(megabytes * 1e6 / messages)
    text = WORDS * (2 * size // len(WORDS.encode()) + 1)
    found: list[dict[str, Any]] = [{"role": "user", "content": "Do it."}]
    entries: list[dict[str, Any]] = [{"maker": "user", "at": _time(0), "step": None}]
    steps: list[dict[str, Any]] = []
    for number in range(1, messages // 2 + 1):
        name = pick.choice(["read", "search", "edit"])
        call = {"name": name, "arguments": json.dumps({"path": f"file {number}"})}
        found.append({
            "role": "assistant", "content": f"Step {number}.",
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
        })  # fmt: skip
        found.append({"role": "tool", "tool_call_id": f"c{number}", "content": text[: pick.randint(size, 2 * size)]})
        entries += [{"maker": maker, "at": _time(number), "step": number} for maker in ("model", "environment")]
        prompt = 500 + 40 * (number % 1000)
        steps.append({
            "index": number, "started": _time(number), "reply": 2 * number - 1, "finish_reason": "tool_calls",
            "request": {"upto": 2 * number - 1, "edits": []}, "latency_ms": 400.0 + number % 7, "cost": 0.001,
            "usage": {"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20},
            "tools": [{"tool_call_id": f"c{number}", "name": name, "arguments": {}, "message": 2 * number,
                       "started": _time(number), "latency_ms": 3.5, "ok": True, "decision": "run"}],
        })  # fmt: skip
    return {"schema": "agent-trace/1", "trace_id": "bench", "created": _time(0), "messages": found, "entries": entries,
            "steps": steps}  # fmt: skip


def _time(number: int) -> str:
    return f"2026-11-29T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


def views(trace: Trace) -> dict[str, Callable[[], Any]]:
    """What a page makes of a trace that was opened, by what it is called."""
    steps, runs, sizes = steps_frame(trace), runs_frame(trace), message_sizes(trace)
    replies = {step.index: step.reply for step in trace.steps}
    return {
        "summary": lambda: summarise(trace),
        "table of messages": lambda: messages_frame(trace),
        "table of steps": lambda: steps_frame(trace),
        "tables of one page of 500 messages": lambda: messages_frame(trace, range(500)),
        "search in all messages": lambda: positions(trace, Filter(text="no such words")),
        "chart of tokens": lambda: tokens_per_step(steps).to_json(),
        "chart of latency": lambda: latency_per_step(steps, runs).to_json(),
        "chart of context": lambda: context_per_step(composition(trace, sizes), replies).to_json(),
        "chart of the timeline": lambda: timeline_figure(timeline(trace)).to_json(),
        "chart of tools": lambda: tool_use(runs).to_json(),
        "sizes of messages": lambda: message_sizes(trace),
        "carry-forward cost": lambda: carried(trace, sizes),
        "findings": lambda: lint(trace, sizes),
        "comparison with itself": lambda: compare_traces(trace, trace),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    data = jsontext.dump_bytes(native(options.messages, options.megabytes))
    trace = read_file(data).traces[0]
    print(f"one trace of {len(trace.messages):,} messages, {len(data) / 1e6:.0f} MB")

    def parse() -> Any:
        return json.loads(data)

    compare("  open", parse, lambda: read_file(data), options.rounds, 1.5)
    for name, work in views(trace).items():
        compare(f"  {name}", parse, work, options.rounds, 1)
    rows = [(number, "tool", "a short text") for number in range(options.messages)]
    last = len(trace.messages) - 1

    def select() -> Any:
        return message_text(trace.messages[last]), messages_frame(trace, [last])

    compare("  one message in full (floor: a short table)", lambda: pd.DataFrame(rows), select, options.rounds, 1)
    for name in formats():
        compare(f"  export as {name}", parse, lambda name=name: export(trace, name), 1, 10)  # type: ignore[misc]
    growing(data, options.rounds)


def growing(data: bytes, rounds: int) -> None:
    """A look at a large file of lines to which one line was added."""
    lines = [jsontext.dump_bytes(message) for message in json.loads(data)["messages"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_bytes(b"\n".join(lines) + b"\n")
        follower = Follower(path)
        whole = cpu(lambda: [json.loads(line) for line in path.read_bytes().splitlines()])
        first = cpu(follower.look)
        costs = []
        for _ in range(rounds):
            with path.open("ab") as file:
                file.write(lines[0] + b"\n")
            costs.append(cpu(follower.look))
    print(f"  following: first look {first / whole:.2f}x of a plain parse, one more line {min(costs) / whole:.5f}x")


if __name__ == "__main__":
    main()
