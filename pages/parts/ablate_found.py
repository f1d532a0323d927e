"""What an experiment found, in a few words for the list. It is written down when its results are first looked at:
working it out again takes seconds, and a list has many lines."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import streamlit as st

from agent import jsontext
from agent.errors import InputError
from pages.parts.ablate_words import finding_look
from traces.experiments.folder import Folder
from traces.experiments.summary import Summary
from traces.keeping import write_whole


def note_findings(folder: Folder, summary: Summary) -> None:
    """Write down what a whole experiment found, unless that is done. A folder that cannot be written stays as it is."""
    with suppress(InputError, OSError):
        if not _known(folder):
            write_whole(folder.summary, jsontext.dumps(summary.to_dict(), indent=True).encode() + b"\n")


def findings_words(folder: Folder) -> str:
    """How many verdicts of which kind there are; empty where nobody has looked yet."""
    try:
        if not _known(folder):
            return ""
        findings = _findings(str(folder.summary), folder.summary.stat().st_mtime_ns)
    except OSError:
        return ""
    return " · ".join(f"{count} × {finding_look(finding).label}" for finding, count in findings)


def _known(folder: Folder) -> bool:
    """Whether the summary is of all runs that there are."""
    return folder.summary.exists() and folder.summary.stat().st_mtime_ns >= folder.ledger.stat().st_mtime_ns


@st.cache_resource(max_entries=200, show_spinner=False)
def _findings(path: str, changed_ns: int) -> list[tuple[str, int]]:
    summary = json.loads(Path(path).read_text(encoding="utf-8"))
    return Counter(str(verdict["finding"]) for verdict in summary["verdicts"]).most_common()
