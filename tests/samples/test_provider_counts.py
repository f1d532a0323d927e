"""Opt-in: real files of provider APIs against the counts of the index, which follow the file and not OpenAI Chat.

The index counts messages as the provider has them (results ride in user messages, system text is no message), the last
request and its answer only, and tokens in the provider's own sense. What is compared here is what both count alike.
"""

import csv
import json
import os
from pathlib import Path

import pytest

from traces import read_file
from traces.summary import summarise

pytestmark = pytest.mark.samples

FORMATS = ("anthropic-messages", "openai-responses", "gemini-contents", "bedrock-converse", "ollama")
OTHER_RULE = {
    "docs_api_chat_history_request.json": {"format"},  # nothing in it is of Ollama alone
    "should-handle-multiple-tools-in-single-request.json": {"calls"},  # the index leaves the recorded answer out
    "from_other_model.exchanges.json": {"calls", "results", "completion"},  # two providers, each with its own rule
}
"""End of a file's name -> what the index counts by another rule."""


@pytest.fixture(scope="module")
def rows():
    folder = Path(os.environ["AGENT_LAB_SAMPLES"])
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return [(folder / row["file"], row) for row in csv.DictReader(file, delimiter="\t") if row["format"] in FORMATS]


def prompt_of(stated):
    parts = ("input_uncached", "cache_read", "cache_write")
    return stated.get("prompt", sum(stated[key] for key in parts if key in stated))


def completion_of(stated, format):
    """Gemini counts thoughts beside the answer."""
    return stated["completion"] + (stated.get("reasoning", 0) if format == "gemini-contents" else 0)


def found_in(path):
    report = read_file(path)
    summaries = [summarise(trace) for trace in report.traces]
    return {
        "format": report.format,
        "calls": sum(summary.tool_calls for summary in summaries),
        "results": sum(summary.tool_results for summary in summaries),
        "orphans": sum(summary.orphan_results for summary in summaries),
        "prompt": sum(summary.tokens.prompt_tokens or 0 for summary in summaries),
        "completion": sum(summary.tokens.completion_tokens or 0 for summary in summaries),
    }


def test_what_the_index_counts_alike(rows):
    assert len(rows) >= 25
    wrong = {}
    for path, row in rows:
        stated = json.loads(row["tokens"])
        expected = {
            "format": row["format"],
            "calls": int(row["tool_calls"]),
            "results": int(row["tool_results"]),
            "orphans": int(row["orphan_results"] or 0),
        }
        if stated:
            expected |= {"prompt": prompt_of(stated), "completion": completion_of(stated, row["format"])}
        other = next((names for end, names in OTHER_RULE.items() if path.name.endswith(end)), set())
        found = found_in(path)
        wrong |= {
            (path.name, name): (found[name], value)
            for name, value in expected.items()
            if found[name] != value and name not in other
        }
    assert wrong == {}
