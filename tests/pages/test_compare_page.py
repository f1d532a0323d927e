"""The Compare page: two traces by the URL, the first difference, and words that stay text."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from agent.messages import Message
from traces import open_trace, save_trace
from traces.store import SAMPLES


@pytest.fixture
def base():
    return open_trace(SAMPLES / "calc.json")[0]


@pytest.fixture
def other(data, base):
    messages = list(base.messages)
    messages[-1] = Message("assistant", "It is 21. <b>not bold</b> ![x](http://e/x.png)")
    trace = replace(base, trace_id="other", title="Another run", messages=messages)
    save_trace(trace, data)
    return trace


def words(app):
    return [each.value for kind in (app.caption, app.markdown, app.text) for each in kind]


def test_without_traces_the_page_asks_for_them(visit, other):
    app = visit("compare")
    assert [box.value for box in app.selectbox] == [None, None]
    assert any("Choose two traces" in text for text in words(app))


def test_the_url_names_both_and_the_first_difference_is_shown(visit, base, other):
    app = visit("compare", a=base.trace_id, b="other")
    place = len(base.messages)
    assert any(f"The first {place - 1} messages are the same" in text for text in words(app))
    frame = app.dataframe[0].value
    assert [kind for (kind,) in frame["kind"]] == ["＝ same", "≠ changed"]
    assert frame["number_a"].tolist() == [place - 1, place]
    (code,) = app.code
    assert "<b>not bold</b>" in code.value and code.language == "diff"
    links = {each.proto.label: each.proto.query_string for each in app.get("page_link")}
    assert f"message={place}" in links[f"A: message {place}"] and base.trace_id in links[f"A: message {place}"]
    assert "trace=other" in links[f"B: message {place}"]


def test_the_unchanged_beginning_can_be_unfolded_and_a_row_of_it_named(visit, base, other):
    app = visit("compare", a=base.trace_id, b="other")
    app.toggle(key="compare-prefix").set_value(True).run()
    assert len(app.dataframe[0].value) == len(base.messages)
    app.toggle(key="compare-only").set_value(True).run()
    assert len(app.dataframe[0].value) == 1
    again = visit("compare", a=base.trace_id, b="other", row="1")
    assert base.messages[0].text in again.code[0].value


def test_the_traces_can_be_swapped_and_chosen(visit, base, other):
    app = visit("compare", a=base.trace_id, b="other")
    app.button(key="compare-swap").click().run()
    assert [box.value for box in app.selectbox] == ["other", base.trace_id]
    app.selectbox(key="compare-A").select(base.trace_id).run()
    assert [box.value for box in app.selectbox] == [base.trace_id, base.trace_id]
    assert any("All messages are the same" in text for text in words(app))


def test_what_was_taken_away_in_a_run_is_told_where_its_messages_do_not_show_it(visit, data, base):
    blanked = {"kind": "blank_results", "params": {}, "step": None, "phase": "prepare", "by": "user"}
    save_trace(replace(base, trace_id="blanked", interventions=[blanked, {"kind": "nothing of ours"}]), data)
    app = visit("compare", a=base.trace_id, b="blanked")
    (told,) = [text for text in words(app) if "changed on purpose" in text]
    assert "In B this was changed on purpose: Tool results: blanked." in told


def test_two_runs_of_one_experiment_lead_back_to_it(visit, data, base, other):
    for experiment, trace_id in (("0123456789ab", "one"), ("0123456789ab", "two"), ("ba9876543210", "three")):
        save_trace(replace(base, trace_id=trace_id), data / "experiments" / experiment / "traces")

    def way_back(b):
        links = visit("compare", a="one", b=b).get("page_link")
        return [each.proto.query_string for each in links if each.proto.label == "The experiment of both"]

    assert [way_back(each) for each in ("two", "three", "other")] == [["experiment=0123456789ab"], [], []]


def test_a_trace_that_is_not_there_is_named(visit, base):
    app = visit("compare", a=base.trace_id, b="nothing")
    assert [each.value for each in app.error] == ["Trace B cannot be opened."]


def test_a_long_beginning_and_a_long_message_can_be_compared(visit, data, base):
    many = [Message("user", f"message {n}") for n in range(3000)]
    for trace_id, end in (("long-a", "x" * 200_000), ("long-b", "y" * 200_000)):
        messages = [*many, Message("assistant", end)]
        save_trace(replace(base, trace_id=trace_id, messages=messages, entries=[], steps=[]), data)
    app = visit("compare", a="long-a", b="long-b")
    assert len(app.dataframe[0].value) == 2
    assert len(app.code[0].value) < 70_000
    assert any("whole lines" in text for text in words(app))


def test_the_page_speaks_chinese(visit, base, other):
    app = visit("compare", a=base.trace_id, b="other", lang="zh")
    assert any("条消息相同" in text for text in words(app))


def test_steps_and_numbers_of_both_are_side_by_side(base, other):
    app = AppTest.from_function(_numbers, default_timeout=30).run()
    assert not app.exception
    steps, numbers, tools = (table.value for table in app.dataframe)
    assert steps["step_a"].tolist() == steps["step_b"].tolist() == [step.index for step in base.steps]
    assert numbers["a"].tolist()[:2] == [len(base.steps), len(base.messages)]
    assert "Cost, computed" in numbers["name"].tolist()
    assert set(tools["name"]) == {"add", "multiply"}


def _numbers() -> None:
    from pages.parts.compare_numbers import numbers_view, steps_table
    from traces import open_trace
    from traces.compare import compare
    from traces.prices import Price, PriceTable
    from traces.store import SAMPLES

    a, b = (open_trace(SAMPLES / "calc.json")[0] for _ in range(2))
    comparison = compare(a, b, PriceTable(own=(Price(model="*", prompt=1, completion=1),)))
    steps_table(comparison.steps)
    numbers_view(comparison)
