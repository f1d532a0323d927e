"""Opt-in: how often the linter is right over the real traces in the folder named by ``AGENT_LAB_SAMPLES``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.samples.precision import of_severity, scores
from traces.lint import Severity

pytestmark = pytest.mark.samples
LEAST = {Severity.ERROR: 0.95, Severity.WARNING: 0.85}


def test_what_is_found_is_nearly_always_right() -> None:
    found = scores(Path(os.environ["AGENT_LAB_SAMPLES"]))
    for severity, least in LEAST.items():
        total = of_severity(found, severity)
        assert total.precision is not None
        assert total.precision >= least
        assert len(total.unread) <= (total.right + total.wrong) / 10, total.unread
