"""What an experiment found, in a few words for the list: out of the summary that is written when it is over."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import streamlit as st

from pages.parts.ablate_words import finding_look
from traces.experiments.folder import Folder


def findings_words(folder: Folder) -> str:
    """How many verdicts of which kind there are; empty where it is not over, or was run on since its summary."""
    try:
        changed_ns = folder.summary.stat().st_mtime_ns
        if changed_ns < folder.ledger.stat().st_mtime_ns:
            return ""
        findings = _findings(str(folder.summary), changed_ns)
    except OSError:
        return ""
    return " · ".join(f"{count} × {finding_look(finding).label}" for finding, count in findings)


@st.cache_resource(max_entries=200, show_spinner=False)
def _findings(path: str, changed_ns: int) -> list[tuple[str, int]]:
    summary = json.loads(Path(path).read_text(encoding="utf-8"))
    return Counter(str(verdict["finding"]) for verdict in summary["verdicts"]).most_common()
