"""Limits and interventions are checked when they are made, and say what they take."""

from __future__ import annotations

from typing import Any

import pytest

from agent import (
    FakeModel,
    InputError,
    Intervention,
    Limits,
    Loop,
)


@pytest.mark.parametrize("name", ["repeated_calls", "failing_steps", "total_tokens", "calls_per_step", "nudges"])
@pytest.mark.parametrize("value", [-1, "3", 2.5, True, float("nan")])
def test_a_count_must_be_a_whole_number(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name} must be a whole number from \\d.*, not {value!r}$"):
        Limits(**{name: value})


@pytest.mark.parametrize("name", ["deadline_s", "cost"])
@pytest.mark.parametrize("value", [0, -1, "3", True, float("nan"), float("inf"), 1e300])
def test_time_and_money_must_be_numbers_above_0(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name} must be a number above 0"):
        Limits(**{name: value})


def test_a_call_that_came_once_is_no_repeat() -> None:
    with pytest.raises(InputError, match="repeated_calls must be a whole number from 2, or None"):
        Limits(repeated_calls=1)


@pytest.mark.parametrize("cosmetic", ["reason", [1]])
def test_cosmetic_arguments_are_a_list_of_names(cosmetic: Any) -> None:
    with pytest.raises(InputError, match="cosmetic"):
        Limits(cosmetic=cosmetic)


def test_limits_read_back_as_they_were_written() -> None:
    limits = Limits.guarded(deadline_s=2, cost=0.5, total_tokens=10, calls_per_step=1, nudges=0, cosmetic=["why"])
    assert Limits.from_dict({**limits.to_dict(), "unknown": 1}) == limits
    assert Limits.from_dict(Limits().to_dict()) == Limits()


@pytest.mark.parametrize(
    ("kind", "params", "says"),
    [
        ("forget", {}, "unknown intervention 'forget'; known are blank_errors"),
        (["a"], {}, "unknown intervention"),
        ("blank_results", {"txt": ""}, "unknown parameter 'txt' of the intervention blank_results; known are text"),
        ("omit_results", {"text": ""}, "omit_results; known are tools"),
        ("blank_results", {"text": 5}, "text of the intervention blank_results must be text, not 5"),
        ("blank_results", [1], "must be a dict"),
    ],
)
def test_an_intervention_knows_what_it_takes(kind: Any, params: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Intervention(kind, params)


def test_an_intervention_reads_back_as_it_was_written() -> None:
    blank = Intervention("blank_results", {"text": "gone"})
    assert Intervention.from_dict(blank.to_dict()) == blank
    with pytest.raises(InputError, match="must be a dict"):
        Intervention.from_dict({"kind": "blank_results", "params": "text"})


@pytest.mark.parametrize("steps", [0, -1, 1.5, "8", True])
def test_a_senseless_step_limit_is_refused(steps: Any) -> None:
    with pytest.raises(InputError, match="max_steps"):
        Loop(FakeModel(["x"]), max_steps=steps)
