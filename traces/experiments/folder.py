"""Where an experiment is kept: one folder with everything in it, which can be moved, sent and run again.

design.yaml     the design, its paths relative to the folder
subjects/       copies of the scripts and traces that it names
state.json      id, versions of the program and packages, hashes of the subjects; how it ended
runs.jsonl      the ledger: one line for each run that is over, in the order in which they ended
running.pid     the number of the process that runs it, while one does
traces/         one trace file a run, and the journals of those under way
runs.csv, summary.json, report.html, test_finding.py    written when it is over, or on request
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

EXPERIMENTS = "experiments"
"""The folder of a data folder in which the app keeps them, each under its id."""


class Folder(NamedTuple):
    """The paths in the folder of one experiment."""

    path: Path

    @property
    def design(self) -> Path:
        """The design."""
        return self.path / "design.yaml"

    @property
    def subjects(self) -> Path:
        """Copies of scripts and traces."""
        return self.path / "subjects"

    @property
    def state(self) -> Path:
        """Id, versions and hashes."""
        return self.path / "state.json"

    @property
    def ledger(self) -> Path:
        """One line for each run that is over."""
        return self.path / "runs.jsonl"

    @property
    def holder(self) -> Path:
        """The number of the process that runs it, while one does."""
        return self.path / "running.pid"

    @property
    def traces(self) -> Path:
        """The traces and journals."""
        return self.path / "traces"

    @property
    def table(self) -> Path:
        """All rows, for a spreadsheet."""
        return self.path / "runs.csv"

    @property
    def summary(self) -> Path:
        """What was found."""
        return self.path / "summary.json"

    @property
    def report(self) -> Path:
        """The report for people: one page that needs nothing else."""
        return self.path / "report.html"

    @property
    def test(self) -> Path:
        """The pytest that pins the finding."""
        return self.path / "test_finding.py"
