"""Opt-in: real sessions of coding agents against the counts of ``INDEX.tsv``.

The index counts lines and events where a trace has messages. The differences, each with its reason, stand in ``OWN``:
a tool's result is no message of the user here; what one model call answered is one message; a thought that OpenHands
speaks through a tool is reasoning, and events of its program are no results; zeros of a replay are no counts.
"""

import csv
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from traces import read_file
from traces.summary import summarise

pytestmark = pytest.mark.samples

FORMATS = ("claude-code", "codex-rollout", "openhands", "swe-agent", "mini-swe-agent")
COUNTS = ("tool_calls", "tool_results", "unpaired_calls", "orphan_results")
OWN = {
    "InnerAura__hyperweave__codex_session.jsonl": {"said": 17},
    "All-Hands-AI__OpenHands__basic_gui_mode.json": {"tool_results": 4, "orphan_results": 0},
    "All-Hands-AI__OpenHands__resolver_output.jsonl": {"tool_calls": 26, "tool_results": 24, "unpaired_calls": 2},
    "jpshackelford__oh-utils__v0_trajectory.unwrapped.json": {"tool_results": 24, "orphan_results": 0},
    "SWE-agent__SWE-agent__fcreplace_marshmallow-1867.traj": {"prompt": None, "completion": None},
    "SWE-agent__SWE-agent__humanevalfix-python-0.traj": {"prompt": None, "completion": None},
    "SWE-agent__SWE-agent__i_got_id_demo.traj": {"prompt": None, "completion": None},
}


@pytest.fixture(scope="module")
def folder():
    return Path(os.environ["AGENT_LAB_SAMPLES"])


def rows_of(folder):
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["file"].startswith(FORMATS)]


def expected(row):
    """The counts of the index, in our words."""
    roles, tokens = json.loads(row["roles"]), json.loads(row["tokens"])
    counts = {name: int(row[name]) for name in COUNTS}
    if not row["file"].startswith("openhands/"):
        counts["said"] = sum(roles.values())
    if "input_uncached" in tokens:
        tokens["cached"], written = tokens.pop("cache_read", 0), tokens.pop("cache_write", 0)
        tokens["prompt"] = tokens.pop("input_uncached") + tokens["cached"] + written
        tokens = {name: value for name, value in tokens.items() if value}
    renamed = {"cache_read": "cached", "cache_write": "cache_write"}
    counts |= {renamed.get(name, name): value for name, value in tokens.items()}
    return {**counts, **OWN.get(Path(row["file"]).name, {})}


def found(path):
    """What our reader makes of a file. Lines that hold nothing but results count as one of the index's messages."""
    report = read_file(path)
    summaries = [summarise(trace).to_dict() for trace in report.traces]
    counts = Counter({name: sum(summary[name] for summary in summaries) for name in COUNTS})
    roles = sum((Counter(summary["roles"]) for summary in summaries), Counter())
    counts["said"] = sum(roles.values())
    if report.format == "claude-code":
        lines = {
            entry.line
            for t in report.traces
            for entry, m in zip(t.entries, t.messages, strict=True)
            if m.role == "tool"
        }
        counts["said"] += (len(lines - {None}) or roles["tool"]) - roles["tool"]
    elif report.format == "codex-rollout":
        counts["said"] -= roles["tool"]
    for name in ("prompt", "cached", "cache_write", "completion", "reasoning", "total"):
        known = [value for summary in summaries if (value := summary["tokens"][name]) is not None]
        counts[name] = sum(known) if known else None
    return counts


def test_every_session_opens_with_the_counts_of_the_index(folder):
    rows = rows_of(folder)
    assert len(rows) == 19
    wrong = {}
    for row in rows:
        counts = found(folder / row["file"])
        wrong |= {(row["file"], n): (counts[n], value) for n, value in expected(row).items() if counts[n] != value}
    assert wrong == {}


def test_every_session_is_told_by_its_content(folder):
    assert {row["file"]: read_file(folder / row["file"]).format for row in rows_of(folder)} == {
        row["file"]: row["format"] for row in rows_of(folder)
    }


def test_sessions_last_as_long_as_their_lines_say(folder):
    """Not compared: two sessions in one file, and times that a sanitiser broke."""
    rows = [row for row in rows_of(folder) if row["duration_s"] and float(row["duration_s"])]
    durations = {
        row["file"]: [summarise(trace).duration_s for trace in read_file(folder / row["file"]).traces] for row in rows
    }
    assert len(durations) > 8
    for row in rows:
        if len(durations[row["file"]]) == 1:
            assert durations[row["file"]] == [float(row["duration_s"])], row["file"]
