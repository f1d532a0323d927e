"""Opt-in: real traces of other people against counts that were made without this program.

The folder named by ``AGENT_LAB_SAMPLES`` holds ``INDEX.tsv`` and the files; ``pytest -m samples`` runs this.
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

TOKENS = {"prompt": "prompt_tokens", "completion": "completion_tokens", "total": "total_tokens"}
TOKENS |= {"cached": "cached_tokens", "reasoning": "reasoning_tokens"}
BY_HAND = {
    "1-plain.json": ([2], 0, 0, (29, 8, 37, 28)),
    "2-tool-round-trip.json": ([4], 1, 0, (600, 32, 632, 572)),
    "3-ablation.json": ([4, 2, 4, 4, 4], 5, 2, (1543, 65, 1608, 1485)),
    "4-calc-chain.json": ([7], 2, 0, (958, 62, 1020, 645)),
    "5-stream-plain.json": ([2], 0, 0, (27, 8, 35, 14)),
    "6-stream-tools.json": ([2], 1, 1, (274, 21, 295, 261)),
}
"""Messages of each conversation, calls, calls without a result, and prompt, completion, total and cached tokens of the
files that the index does not count. The ablation file holds a refused request that is then sent with one more message,
and four histories that differ in the tool's result."""


@pytest.fixture(scope="module")
def folder():
    return Path(os.environ["AGENT_LAB_SAMPLES"])


def counted(path):
    """What our reader makes of a file, in the words of the index."""
    summaries = [summarise(trace) for trace in read_file(path).traces]
    counts = ("tool_calls", "tool_results", "unpaired_calls", "orphan_results")
    found = {name: sum(getattr(summary, name) for summary in summaries) for name in counts}
    found["roles"] = dict(sum((Counter(summary.roles) for summary in summaries), Counter()))
    for short, name in TOKENS.items():
        known = [value for summary in summaries if (value := getattr(summary.tokens, name)) is not None]
        found[short] = sum(known) if known else None
    return found


@pytest.mark.parametrize("format", ["openai-chat", "reasoning-content"])
def test_every_file_opens_with_the_counts_of_the_index(folder, format):
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["file"].startswith(f"{format}/")]
    assert rows
    wrong = {}
    for row in rows:
        expected = {
            name: int(row[name]) for name in row if name.endswith(("_calls", "_results")) and name[:8] != "parallel"
        }
        expected |= {"roles": json.loads(row["roles"]), **json.loads(row["tokens"])}
        found = counted(folder / row["file"])
        wrong |= {(row["file"], name): (found[name], value) for name, value in expected.items() if found[name] != value}
    assert wrong == {}


@pytest.mark.parametrize("name", BY_HAND)
def test_logs_of_a_local_model_open_with_the_counts_made_by_hand(folder, name):
    summaries = [summarise(trace) for trace in read_file(folder / "local-llm" / name).traces]
    tokens = [
        sum(getattr(summary.tokens, field) for summary in summaries)
        for field in ("prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens")
    ]
    calls = sum(summary.tool_calls for summary in summaries)
    unpaired = sum(summary.unpaired_calls for summary in summaries)
    assert ([summary.messages for summary in summaries], calls, unpaired, tuple(tokens)) == BY_HAND[name]


def test_no_real_file_of_any_format_brings_the_reader_down(folder):
    """Formats that cannot be read yet give a sentence, never anything else."""
    from agent.errors import InputError

    opened = 0
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                opened += bool(read_file(path).traces)
            except InputError as error:
                assert str(error)
    assert opened > 20
