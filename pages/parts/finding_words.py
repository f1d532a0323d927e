"""The words of the linter in the language of the session: its texts are written in ``traces.lint``, in English.

Their Chinese stands in ``findings_zh.json``. What a finding quotes from the trace is never translated.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from pages.parts import address
from pages.parts.roles import Look
from pages.parts.words import t
from traces.lint import Finding, Severity

TRANSLATIONS = Path(__file__).with_name("findings_zh.json")


def sentence(finding: Finding) -> str:
    """What was found, its numbers and names filled in."""
    return rule_words(finding.text).format(**finding.facts)


def rule_words(text: str) -> str:
    """A text of a rule, its fields left as they are; one without a translation stays English."""
    return translations().get(text, text) if address.language() == "zh" else text


@cache
def translations() -> dict[str, str]:
    """English text of a rule -> Chinese text."""
    found: dict[str, str] = json.loads(TRANSLATIONS.read_text(encoding="utf-8"))
    return found


def severity_look(severity: Severity) -> Look:
    """Word, icon and colour of a severity."""
    return {
        Severity.ERROR: Look(t("error"), "✖", "red"),
        Severity.WARNING: Look(t("warning"), "▲", "orange"),
        Severity.NOTE: Look(t("note"), "ℹ", "gray"),
    }[severity]


def cost_words(finding: Finding) -> str:
    """What it cost, in words; empty where that is unknown."""
    parts = []
    if finding.cost_tokens:
        about = "≈ " if finding.cost_estimated else ""
        parts.append(t("{n} tokens", n=f"{about}{finding.cost_tokens:,}"))
    if finding.cost_calls:
        parts.append(t("wasted calls: {n}", n=finding.cost_calls))
    return ", ".join(parts)
