"""The report in both languages: every text of ours has its Chinese, and none is left over."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterable
from pathlib import Path

from agent.faults import FAULTS
from agent.interventions import KINDS
from agent.stops import StopReason
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.page import WORDS
from traces.figures.ablation import FINDINGS, LETTERS

FIGURES = WORDS.parents[1] / "figures"
OF_DATA = {
    "decided",
    "ended",
    "error",
    "stopped",
    "another outcome",
    "McNemar, exact",
    "Fisher, exact",
    "permutation",
    "not reported",
}
"""Words that stand in rows and in effects."""


def literals(paths: Iterable[Path], function: str) -> set[str]:
    """The texts that are given to ``say`` or ``t`` as they stand."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function
            if is_call and isinstance(node.args[0], ast.Constant):
                found.add(node.args[0].value)
    return found


def named() -> set[str]:
    """The words of everything that is looked up by its name in data."""
    kinds = (*OUTCOMES.values(), *KINDS.values(), *FAULTS.values())
    found = {text for kind in kinds for text in (kind.name, kind.sentence)}
    found |= {kind.unit for kind in OUTCOMES.values() if kind.unit not in ("", kind.name)}
    found |= {word for word, _, _ in FINDINGS.values()} | {word for word, _ in LETTERS.values()}
    return found | {reason.replace("_", " ") for reason in StopReason}


def said() -> set[str]:
    ours = literals(WORDS.glob("*.py"), "say")
    return ours | literals(FIGURES.glob("ablation*.py"), "t") | named() | OF_DATA


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def chinese() -> dict[str, str]:
    words: dict[str, str] = json.loads((WORDS / "words_zh.json").read_text(encoding="utf-8"))
    return words


def test_every_text_has_its_chinese_and_none_is_left_over() -> None:
    assert sorted(said() ^ set(chinese())) == []


def test_the_chinese_has_the_same_places_for_values() -> None:
    assert [text for text, words in chinese().items() if fields(text) != fields(words)] == []
