"""How much opening and listing traces costs, as ratios to floors measured in the same run.

    python tests/bench/bench_traces.py [--files N] [--messages N] [--rounds N]

Loading: the floor is ``json.loads`` of the same bytes (line by line for JSON Lines). Listing: the floor parses every
file of the folder. CPU time, floor and ours in turn, medians. Targets: one document of ours at most 1.5x, JSON Lines
at most 1.3x, foreign formats at most 3x of a plain parse; a first listing at most 1.25x of parsing all; a listing of
10,000 unchanged files at most 130 ms, with 1 % changed at most 150 ms, which is 0.08 and 0.09 of parsing them all
with ``json`` on the machine where the targets were set.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import tracemalloc
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ratios import WORDS, compare, cpu

from agent import FakeModel, Loop, Tool, ToolCall, jsontext
from agent.trace import Trace
from traces import Store, open_trace, save_trace
from traces.container import open_bytes
from traces.tables import messages_frame, steps_frame


def chat(messages: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number in range(messages // 3):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}
        found.append({"role": "user", "content": f"{number} {WORDS * 14}"})
        found.append({"role": "assistant", "content": None, "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": f"c{number}", "content": WORDS * 14})
    return found


def spans(calls: int, run: int) -> bytes:
    """OTLP of model calls that repeat the history, each with a tool run; ``run`` of them are one trace."""

    def span(number: int, trace: int, kind: str, seconds: int, **attributes: Any) -> dict[str, Any]:
        values = ({"intValue": v} if isinstance(v, int) else {"stringValue": v} for v in attributes.values())
        names = (f"gen_ai.{name.replace('__', '.')}" for name in attributes)
        times = {"startTimeUnixNano": f"{seconds}000000000", "endTimeUnixNano": f"{seconds + 1}000000000"}
        about = [{"key": name, "value": value} for name, value in zip(names, values, strict=True)]
        ids = {"traceId": f"{trace:032x}", "spanId": f"{number:016x}", "parentSpanId": f"{trace:016x}"}
        return {**ids, "name": kind, **times, "attributes": about}

    found, history = [], list[Any]()
    for number in range(calls):
        trace, at = number // run, 1_780_000_000 + 2 * number
        if number % run == 0:
            history = [{"role": "user", "parts": [{"type": "text", "content": f"{number} {WORDS}"}]}]
        call = {"type": "tool_call", "id": f"c{number}", "name": "add", "arguments": {"a": number}}
        said = [{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}]
        numbers = {"usage__input_tokens": 100, "usage__output_tokens": 5}
        words = {"input__messages": json.dumps(history), "output__messages": json.dumps(said)}
        found.append(
            span(2 * number, trace, "chat", at, operation__name="chat", request__model="m", **words, **numbers)
        )
        ran = {"operation__name": "execute_tool", "tool__name": "add", "tool__call__id": f"c{number}"}
        found.append(span(2 * number + 1, trace, "add", at + 1, **ran, tool__call__result=WORDS))
        answer = {"type": "tool_call_response", "id": f"c{number}", "response": WORDS}
        history += [*said, {"role": "tool", "parts": [answer]}]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": found}]}]}).encode()


def run_of_ours(steps: int, result: Any = 5) -> Trace:
    number = {"type": "integer"}
    parameters = {"type": "object", "properties": {"a": number, "b": number}}
    tool = Tool(name="add", description="Adds.", parameters=parameters, func=lambda a, b: result)
    turns: list[Any] = [[ToolCall(f"c{n}", "add", {"a": n, "b": 3})] for n in range(steps)]
    loop = Loop(FakeModel([*turns, WORDS]), [tool], max_steps=steps + 2)
    loop.start(WORDS * 3)
    while loop.phase is not None:
        loop.advance()
    return loop.trace


def loading(messages: int, rounds: int) -> None:
    data = chat(messages)
    document = json.dumps({"messages": data}).encode()
    lines = "\n".join(map(json.dumps, data)).encode()
    short = jsontext.dump_bytes(run_of_ours(messages // 2).to_dict())
    long = jsontext.dump_bytes(run_of_ours(messages // 2, WORDS * 14).to_dict())
    print(f"loading {messages:,} messages ({len(document) / 1e6:.0f} MB)")
    compare("  OpenAI Chat, one document", lambda: json.loads(document), lambda: open_trace(document), rounds, 3)
    compare(
        "  OpenAI Chat, JSON Lines",
        lambda: [json.loads(line) for line in lines.split(b"\n")],
        lambda: open_trace(lines),
        rounds,
        3,
    )
    compare(
        "  JSON Lines, before they are messages",
        lambda: [json.loads(line) for line in lines.split(b"\n")],
        lambda: open_bytes(lines, "lines"),
        rounds,
        1.3,
    )
    for run in (10, 300):
        data = spans(6000 if run == 10 else 1500, run)
        name = f"  OTLP spans, {run} calls a trace ({len(data) / 1e6:.0f} MB)"
        compare(name, partial(json.loads, data), partial(open_trace, data), rounds, 3)
    compare("  a trace of ours, 1 kB a message", lambda: json.loads(long), lambda: open_trace(long), rounds, 1.5)
    compare("  a trace of ours, the shortest", lambda: json.loads(short), lambda: open_trace(short), rounds, 1.5)
    tracemalloc.start()
    traces = open_trace(document)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"  memory while loading one document: {peak / len(document):.1f}x of the file (target 5x)")
    tables = cpu(lambda: (messages_frame(traces[0]), steps_frame(traces[0])))
    print(f"  tables of it: {tables * 1000:.0f} ms, {tables / cpu(lambda: json.loads(document)):.2f}x of a plain parse")


def listing(files: int, rounds: int) -> None:
    print(f"listing {files:,} files")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = run_of_ours(20)
        for number in range(files):
            trace.trace_id = f"{number:012x}"
            save_trace(trace, folder)
        store = Store(folder, samples=folder / "none")
        index = folder / ".index.sqlite"
        paths = sorted(folder.glob("*.json"))

        def parse_all() -> None:
            for path in paths:
                json.loads(path.read_bytes())

        def first() -> Any:
            index.unlink(missing_ok=True)
            return store.list()

        def one_per_cent() -> Any:
            for path in paths[::100]:
                os.utime(path)
            return store.list()

        compare("  the first time", parse_all, first, rounds, 1.25)
        compare("  nothing changed", parse_all, store.list, rounds, 0.08)
        compare("  1 % changed", parse_all, one_per_cent, rounds, 0.09)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    loading(options.messages, options.rounds)
    listing(options.files, options.rounds)


if __name__ == "__main__":
    main()
