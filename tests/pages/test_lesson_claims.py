"""What a bundled lesson claims of its run is told for a learner's own run, what happened on the way included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import texts


@pytest.mark.parametrize(
    ("lesson", "variant", "claims"),
    [("full_round", "", 3), ("parallel", "", 2), ("parallel", "one_by_one", 1), ("permission", "", 1)],
)
def test_a_run_that_was_only_walked_shows_all_that_the_lesson_claims(
    visit: Callable[..., AppTest], press: Callable[..., AppTest], lesson: str, variant: str, claims: int
) -> None:
    app = press(visit("learn", lesson=lesson, variant=variant, ask="0"), "continue")
    assert not app.exception
    assert texts(app, "markdown").count("✓ shown") == claims
    assert "not checked" not in texts(app, "markdown") and "not in this run" not in texts(app, "markdown")
