"""Opt-in: real exports of observability tools against the tokens and lengths of the index."""

import csv
import json
import os
from pathlib import Path

import pytest

from traces import read_file
from traces.summary import summarise

pytestmark = pytest.mark.samples

FORMATS = ("langfuse", "openinference", "otlp-genai")
NAMES = {"input": "prompt_tokens", "output": "completion_tokens", "prompt": "prompt_tokens"}
NAMES |= {"completion": "completion_tokens", "total": "total_tokens"}
ONCE = {
    "langfuse/langfuse__langfuse__agno-2025-06-11.trace.json": {"input": 826, "output": 245, "total": 1071},
    "langfuse/langfuse__langfuse__vercel-aisdk-2025-11-17.trace.json": {"input": 62, "output": 85, "total": 147},
}
"""The index adds every observation with tokens. In these two files outer ones repeat the calls that they hold; here
each call counts once."""


def rows():
    if "AGENT_LAB_SAMPLES" not in os.environ:
        return []
    with (Path(os.environ["AGENT_LAB_SAMPLES"]) / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["format"] in FORMATS]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_tokens_are_those_of_the_index(row):
    report = read_file(Path(os.environ["AGENT_LAB_SAMPLES"]) / row["file"])
    assert report.format == row["format"]
    summaries = [summarise(trace) for trace in report.traces]
    for name, expected in (ONCE.get(row["file"]) or json.loads(row["tokens"])).items():
        assert sum(getattr(summary.tokens, NAMES[name]) or 0 for summary in summaries) == expected
    if row["duration_s"] and len(report.traces) == 1:
        assert summaries[0].duration_s == pytest.approx(float(row["duration_s"]), abs=0.01)


def test_files_without_counts_are_read_too():
    folder = Path(os.environ["AGENT_LAB_SAMPLES"])
    (state,) = read_file(next((folder / "openai-agents").iterdir())).traces
    assert ([message.role for message in state.messages], state.outcome.reason) == (
        ["user", "assistant"],
        "interrupted",
    )
