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


@pytest.mark.parametrize(
    ("lesson", "variant", "how"),
    [
        ("by_hand", "", "Begin again and give the call this result by hand: 35"),
        ("limits_and_guards", "rejected_by_user", "Begin again, choose Reject, and tick End the run as well."),
    ],
)
def test_who_decided_otherwise_is_told_how_to_see_what_the_lesson_claims(
    visit: Callable[..., AppTest], press: Callable[..., AppTest], lesson: str, variant: str, how: str
) -> None:
    app = press(visit("learn", lesson=lesson, variant=variant, ask="0"), "continue")
    assert how not in texts(app, "text")
    while allow := [button.key for button in app.button if str(button.key).startswith("run-")]:
        app = press(app, str(allow[0]))
        if not app.button(key="continue").disabled:
            app = press(app, "continue")
    assert "not in this run" in texts(app, "markdown")
    assert how in texts(app, "text")
