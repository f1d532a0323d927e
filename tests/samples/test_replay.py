"""Opt-in: every real trace in the folder named by ``AGENT_LAB_SAMPLES`` becomes a script, and the loop says it again.

Each conversation is recorded, written, read back and played; the message list must be the recorded one. The exceptions
are told with the reason for which no loop can write such a list.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from agent.errors import InputError
from agent.scripts import parse_script
from traces.opening import read_file
from traces.scripting import replay, script_data, script_text

pytestmark = pytest.mark.samples

NO_RESULT = "calls in the middle of it never got a result; a loop answers every call before it goes on"
NO_RESULTS_AT_ALL = "the file holds replies alone: the results went to the model elsewhere"
ONE_FOR_ALL = "one message holds the results of several calls; a loop writes one for each"
SPLIT = "one reply was written as two messages with a call each, and both results come after them"
OLD_ROLE = "the result has the old role function; a loop writes the role tool"
SHORTENED = "the client took the result out of the history before it asked again"

IMPOSSIBLE: dict[tuple[str, int], tuple[str, dict[str, int]]] = {
    ("claude-code/InnerAura__hyperweave__session.jsonl", 1): (NO_RESULT, {"added": 18}),
    ("claude-code/daaain__claude-code-log__edge_cases.jsonl", 1): (NO_RESULT, {"added": 1}),
    ("gemini-contents/google-gemini__gemini-cli__browser-agent.persistent-session.responses", 1): (
        NO_RESULTS_AT_ALL,
        {"added": 25},
    ),
    ("gemini-contents/google-gemini__gemini-cli__sdk_tool-success.json", 1): (NO_RESULTS_AT_ALL, {"added": 4}),
    ("langfuse/langfuse__langfuse__claude-agent-2025-12-22.trace.json", 1): (SPLIT, {"added": 1, "missing": 1}),
    ("local-llm/3-ablation.json", 1): (SHORTENED, {"added": 1}),
    ("openai-chat/zhu-yiqi__agent-data-protocol__toucan_1_5m__sample_raw.json", 1): (OLD_ROLE, {"changed": 1}),
    ("openhands/jpshackelford__oh-utils__v0_trajectory.unwrapped.json", 1): (NO_RESULT, {"added": 1}),
    ("otlp-genai/evilmartians__agent-prism__smol_deep_research_agent.json", 4): (NO_RESULT, {"added": 1}),
    ("sharegpt/hiyouga__LLaMA-Factory__reason_tool_use_demo_50.jsonl", 3): (ONE_FOR_ALL, {"added": 3}),
    ("sharegpt/hiyouga__LLaMA-Factory__reason_tool_use_demo_50.jsonl", 7): (ONE_FOR_ALL, {"added": 1}),
    ("sharegpt/hiyouga__LLaMA-Factory__reason_tool_use_demo_50.jsonl", 35): (ONE_FOR_ALL, {"added": 2}),
}
"""File and number of the conversation, from 1: why it cannot be said again as it was, and how its replay differs."""

FOLDER = Path(os.environ.get("AGENT_LAB_SAMPLES") or "nowhere")
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", FILES)
def test_every_conversation_is_said_again(name: str) -> None:
    try:
        traces = read_file(FOLDER / name).traces
    except InputError:
        traces = []
    found = {}
    for number, trace in enumerate(traces, 1):
        data = script_data(trace)
        text, ending = script_text(data)
        replayed = replay(parse_script(text, f"{trace.trace_id}{ending}"))
        kinds = dict(Counter(difference.kind for difference in replayed.messages))
        messages, same = len(trace.messages), "same" if not kinds else "differs"
        print(f"{name} {number}: {messages} messages, {same} {kinds or ''}")
        if kinds:
            found[name, number] = kinds
        if data["replay"]["mode"] == "strict":
            assert not any("replay: the request" in remark for remark in replayed.remarks)
    assert found == {place: kinds for place, (_, kinds) in IMPOSSIBLE.items() if place[0] == name}
