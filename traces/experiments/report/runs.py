"""Every run of an experiment in the report, and all that it takes to run it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote
from xml.etree.ElementTree import Element

from traces.experiments.design.experiment import Experiment
from traces.experiments.rows import Row
from traces.experiments.running.creating import State
from traces.export.elements import Piece, element, facts, paragraphs, section, table
from traces.export.words import Say
from traces.text import cell

MOST_ROWS = 1_000
"""Runs that the report lists; ``runs.csv`` has all of them."""
_LONGEST = 100


def runs_part(rows: Sequence[Row], say: Say) -> Element:
    """The first runs, each with a link to its trace in the same folder."""
    lead = say("Each trace is a file of its own in the folder traces beside this page; runs.csv has every column.")
    more = []
    if len(rows) > MOST_ROWS:
        more = [say("The first {shown} of {n} runs; runs.csv has all.", shown=f"{MOST_ROWS:,}", n=f"{len(rows):,}")]
    priced = any(row.cost is not None for row in rows)
    timed = any(row.latency_ms is not None for row in rows)
    heads = [
        say("Trace"), say("Subject"), say("Model"), say("Condition"), say("Status"), say("Why it ended"),
        say("Verified"), say("Answer"), say("Seed"), say("Steps"), say("Tokens"),
        *([say("US dollars")] if priced else []), *([say("Model time, ms")] if timed else []),
    ]  # fmt: skip
    lines = (_line(row, say, priced=priced, timed=timed) for row in rows[:MOST_ROWS])
    return section(say("Every run"), *paragraphs([lead, *more]), table(say("Runs"), heads, lines, 8), id="runs")


def _line(row: Row, say: Say, *, priced: bool, timed: bool) -> list[Piece]:
    verified = {True: say("yes"), False: say("no"), None: "–"}[row.verified]
    reason = say((row.reason or row.status).replace("_", " "))
    tokens = "–" if row.tokens is None else f"{row.tokens:,}" + (f" ({say('estimated')})" if row.estimated else "")
    line: list[Piece] = [
        element("a", row.trace_id, href=f"traces/{quote(row.trace_id, safe='')}.json"),
        row.subject,
        row.model,
        row.condition,
        say(row.status),
        f"{reason}: {cell(row.detail, _LONGEST)}" if row.detail else reason,
        verified,
        cell(row.answer, _LONGEST),
        f"{row.seed}",
        f"{row.steps}",
        tokens,
    ]
    if priced:
        line.append("–" if row.cost is None else f"{row.cost:.6g}")
    if timed:
        line.append("–" if row.latency_ms is None else f"{row.latency_ms:,.0f}")
    return line


def again_part(experiment: Experiment, state: State, say: Say) -> Element:
    """How to run it again, and what it was made with."""
    same = say(
        "The same design and seeds give the same numbers. test_finding.py runs all of it and says whether they do."
    )
    if any(model.kind == "live" for model in experiment.models):
        same = say(
            "Live models are asked anew and answer by chance: the numbers will differ. test_finding.py asks nobody; it "
            "analyses the runs that are recorded here."
        )
    commands = "python -m traces ablate design.yaml --out again\npython -m pytest test_finding.py"
    return section(
        say("How to run it again"),
        element("p", say("In the folder of this page, with the program on the path of Python:")),
        element("pre", commands),
        element("p", same),
        element("h3", say("Made with")),
        facts(_made_with(state, say)),
        id="again",
    )


def _made_with(state: State, say: Say) -> Iterator[tuple[str, Piece]]:
    yield say("Experiment"), element("code", state.id)
    yield say("Begun"), state.created
    for name, version in state.made_with.items():
        yield name, version or say("not installed")
    for name, digest in state.subjects.items():
        yield name, element("code", f"SHA-256 {digest}")
