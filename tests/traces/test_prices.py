import json

import pytest

from agent.errors import InputError
from agent.trace import ModelInfo, Trace, TraceStep
from agent.usage import Usage
from traces import prices
from traces.prices import Price, PriceTable, computed_cost, load_prices, save_prices, step_costs, window_of

DEAR = Price(model="dear", prompt=10, cached=1, cache_write=12.5, completion=100)
CHEAP = Price(model="cheap", prompt=1, completion=2)


def test_cached_and_reasoning_tokens_are_counted_once_and_at_their_own_price():
    usage = Usage(100, 50, 150, cached_tokens=30, reasoning_tokens=40)
    cost = computed_cost(usage, DEAR)
    assert cost.value == pytest.approx((70 * 10 + 30 * 1 + 50 * 100) / 1e6)
    assert (cost.computed, cost.notes) == (True, ())


def test_tokens_written_to_the_cache_have_their_price():
    cost = computed_cost(Usage(100, 0, 100, cached_tokens=30, cache_write_tokens=20), DEAR)
    assert cost.value == pytest.approx((50 * 10 + 30 * 1 + 20 * 12.5) / 1e6)


def test_a_table_without_cached_price_says_so_and_takes_that_of_the_prompt():
    cost = computed_cost(Usage(100, 50, 150, cached_tokens=30, cache_write_tokens=1), CHEAP)
    assert cost.value == pytest.approx((100 * 1 + 50 * 2) / 1e6)
    assert cost.notes == (prices.NO_CACHED_PRICE, prices.NO_WRITE_PRICE)
    assert computed_cost(Usage(100, 50, 150), CHEAP).note == ""


@pytest.mark.parametrize("usage", [None, Usage(), Usage(total_tokens=9), Usage(prompt_tokens=9)])
def test_tokens_that_are_not_reported_give_no_cost(usage):
    cost = computed_cost(usage, CHEAP)
    assert (cost.value, cost.computed, cost.notes) == (None, False, (prices.NO_TOKENS,))


def test_an_unknown_model_has_an_unknown_cost_and_free_ones_cost_nothing():
    assert computed_cost(Usage(1, 1, 2), None).value is None
    assert computed_cost(Usage(1, 1, 2), Price(model="own", prompt=0, completion=0)).value == 0


def test_more_cached_tokens_than_there_are_in_the_prompt_cost_no_less_than_nothing():
    cost = computed_cost(Usage(10, 0, 10, cached_tokens=500, cache_write_tokens=500), DEAR)
    assert cost.value == pytest.approx(10 * 1 / 1e6)


def test_long_prompts_and_estimates_are_marked():
    price = Price(model="m", prompt=1, completion=1, up_to=100)
    assert computed_cost(Usage(100, 1), price).notes == ()
    assert computed_cost(Usage(101, 1, estimated=True), price).notes == (prices.LONG_PROMPT, prices.ESTIMATED)


def test_what_the_file_says_wins_and_the_step_names_its_model():
    steps = [
        TraceStep(index=1, cost=0.5, usage=Usage(1, 1)),
        TraceStep(index=2, usage=Usage(10, 10)),
        TraceStep(index=3, usage=Usage(10, 10), model="dear"),
        TraceStep(index=4, usage=Usage(10, 10), model="never heard of"),
    ]
    trace = Trace(model=ModelInfo(name="cheap"), steps=steps)
    costs = step_costs(trace, PriceTable(shipped=(DEAR, CHEAP)))
    assert [cost.value for cost in costs] == [0.5, pytest.approx(30e-6), pytest.approx(1100e-6), None]
    assert [cost.computed for cost in costs] == [False, True, True, False]
    assert costs[3].note == prices.UNKNOWN_MODEL


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4o-mini", "gpt-4o-mini"),
        ("openrouter/openai/gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("GPT-5.5", "gpt-5.5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
    ],
)
def test_names_are_found_with_their_prefixes_and_dates(name, row):
    found = load_prices().find(name)
    assert found is not None and found.model == row


@pytest.mark.parametrize("name", [None, "", "llama3.2", "gpt-5-super", "gpt-9", "claude", "default", "my-gpt-4o"])
def test_a_name_that_is_only_alike_is_not_found(name):
    assert load_prices().find(name) is None


def test_every_shipped_row_is_complete_and_says_where_it_comes_from():
    rows = load_prices().shipped
    assert len({row.model for row in rows}) == len(rows) > 40
    for row in rows:
        assert row.source.startswith("https://") and len(row.date) == 10
        assert row.cached is None or row.cached < row.prompt < row.completion


def test_own_rows_are_kept_and_come_first(tmp_path):
    own = [Price(model="gpt-4o", prompt=1, completion=2), Price(model="local-*", prompt=0, completion=0, date="today")]
    save_prices(tmp_path, own)
    table = load_prices(tmp_path)
    assert table.own == tuple(own)
    assert table.find("openai/gpt-4o").prompt == 1
    assert table.find("local-llama").completion == 0
    assert table.find("gpt-4o-mini").prompt == 0.15
    save_prices(tmp_path, [])
    assert load_prices(tmp_path).find("gpt-4o").prompt == 2.5


def test_of_patterns_that_fit_the_more_exact_one_is_taken():
    table = PriceTable(own=tuple(Price(model=name, prompt=1, completion=1) for name in ("*", "qwen*", "qwen-max")))
    assert [table.find(name).model for name in ("qwen-max", "qwen-7b", "other")] == ["qwen-max", "qwen*", "*"]


@pytest.mark.parametrize(
    "row",
    [
        {"model": " ", "prompt": 1, "completion": 1},
        {"model": "m", "prompt": 1},
        {"model": "m", "prompt": -1, "completion": 1},
        {"model": "m", "prompt": "1", "completion": 1},
        {"model": "m", "prompt": True, "completion": 1},
        {"model": "m", "prompt": 1, "completion": float("inf")},
        None,
    ],
)
def test_a_row_that_cannot_be_true_is_refused(row):
    with pytest.raises(InputError):
        Price.from_dict(row)


def test_two_rows_of_one_name_are_refused(tmp_path):
    with pytest.raises(InputError, match="two rows"):
        save_prices(tmp_path, [CHEAP, Price(model="CHEAP", prompt=1, completion=1)])


@pytest.mark.parametrize("content", ["", "[]", '{"prices": 3}', '{"prices": [{"model": "m"}]}', "[" * 10**5])
def test_a_broken_table_is_named(tmp_path, content):
    (tmp_path / prices.FILE_NAME).write_text(content)
    with pytest.raises(InputError, match=r"\.prices\.json"):
        load_prices(tmp_path)


def test_the_file_is_plain_json(tmp_path):
    save_prices(tmp_path, [CHEAP])
    assert json.loads((tmp_path / prices.FILE_NAME).read_text())["prices"][0]["model"] == "cheap"


def test_the_window_is_the_smallest_of_the_models_that_answered():
    table = load_prices()
    trace = Trace(steps=[TraceStep(index=1, model="gpt-4o-2024-08-06"), TraceStep(index=2, model="openai/gpt-4.1")])
    assert window_of(trace, table) == 128_000
    assert window_of(Trace(steps=[TraceStep(index=1, model="nobody-knows")]), table) is None
