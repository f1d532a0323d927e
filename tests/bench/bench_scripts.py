"""How much it costs to make a script of a trace and to say it again, as ratios to plain JSON measured in the same run.

    python tests/bench/bench_scripts.py [--messages N] [--rounds N]

The floors are ``json.dumps`` and ``json.loads`` of the trace as it stands in its file. CPU time, by turns,
medians. Targets, for 5,000 messages: the data of a script at most 5x, its JSON at most 2x, reading that back at most
8x, and playing it at most 40x, for it compares every request with the recorded one; all together within three seconds
on the machine where they were set.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ratios import WORDS, compare

from agent import FakeModel, Loop, Tool, ToolCall
from agent.scripts import parse_script
from agent.trace import Trace
from traces.scripting import replay, script_data, script_text


def recorded(messages: int) -> Trace:
    """A run of so many messages, each result a page of text."""
    steps = messages // 2 - 1
    calls = [[ToolCall(f"c{n}", "read", {"path": f"file{n}.txt", "lines": n})] for n in range(steps)]
    tool = Tool("read", "Reads a file.", {"type": "object"}, lambda path, lines: f"{path} {lines} {WORDS * 7}")
    loop = Loop(FakeModel([*calls, "done"]), [tool], max_steps=messages)
    loop.start("Read them all.")
    loop.finish()
    return loop.trace


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    trace = recorded(options.messages)
    plain = trace.to_dict()
    written = json.dumps(plain, ensure_ascii=False)
    data = script_data(trace)
    text, ending = script_text(data, as_json=True)
    script = parse_script(text, f"script{ending}")
    replayed = replay(script)
    if replayed.differences or len(replayed.loop.messages) != len(trace.messages):
        raise SystemExit("the replay is not the recorded run")
    print(f"{len(trace.messages):,} messages, trace {len(written):,} and script {len(text):,} characters")
    dumps = lambda: json.dumps(plain, ensure_ascii=False)  # noqa: E731
    loads = lambda: json.loads(written)  # noqa: E731
    total = compare("trace to the data of a script", dumps, lambda: script_data(trace), options.rounds, 5)
    total += compare("data to JSON", dumps, lambda: script_text(data, as_json=True), options.rounds, 2)
    total += compare("JSON to a script", loads, lambda: parse_script(text, "script.json"), options.rounds, 8)
    total += compare("playing the script", loads, lambda: replay(script), options.rounds, 40)
    print(f"{'all together':<34} {total * 1000:.0f} ms")


if __name__ == "__main__":
    main()
