"""What a provider says that a call cost is believed only where it can be true."""

import pytest

from agent.models.completions import CompletionReader


def cost_of(value):
    body = {"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": {"cost": value}}
    return CompletionReader((), ()).read(body).cost


@pytest.mark.parametrize("value", [0, 0.25, 3])
def test_a_sum_of_money_is_kept(value):
    assert cost_of(value) == value


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), True, "0.25", None, 10**12])
def test_what_cannot_be_true_is_not_reported(value):
    assert cost_of(value) is None
