"""Conversations in which nothing is wrong, however much they look like a fault: the linter says nothing about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces.lint import lint
from traces.opening import open_trace

SOUND = sorted((Path(__file__).parents[1] / "fixtures" / "lint_sound").glob("*.json"))


def test_there_are_negative_cases() -> None:
    assert len(SOUND) > 20


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_nothing_is_found(path: Path) -> None:
    (trace,) = open_trace(path)
    assert [finding.sentence for finding in lint(trace)] == []
