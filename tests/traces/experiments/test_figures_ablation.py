"""The pictures of an experiment: what they show, in which order, and that names in them are data."""

from __future__ import annotations

from dataclasses import replace

import plotly.graph_objects as go
import pytest

from tests.traces.experiments.found import BLANKED, EXPERIMENT, NASTY, TOOL_FAILS, rows, summary
from traces.experiments.analysis.summary import Summary
from traces.experiments.design.experiment import Experiment, Subject
from traces.figures.ablation import MOST_RUNS, curve, forest, stop_reasons, strips, sweeps, turns_and_tokens
from traces.figures.ablation_runs import MOST_CELLS, MOST_MESSAGES, MOST_PAIRS
from traces.figures.inline import as_data

EMPTY = Summary(title="", outcome="success", alpha=0.05, margin=0.1, runs=0)
PLAIN = Experiment(subjects=(Subject(name="s", scenario="code_word"),), repeats=1)


def all_figures() -> list[go.Figure]:
    return [
        stop_reasons(summary()),
        forest(summary()),
        turns_and_tokens(rows(), summary()),
        curve(EXPERIMENT, summary()),
        strips(EXPERIMENT, rows()),
    ]


def bars(figure: go.Figure) -> dict[str, list[float | None]]:
    return {bar.name: list(bar.x) for bar in figure.data}


def test_stop_reasons_are_shares_of_each_arm_in_the_order_of_the_arms() -> None:
    figure = stop_reasons(summary())
    assert figure.layout.barmode == "stack"
    assert list(figure.layout.yaxis.ticktext)[:2] == ["baseline · script", "results blanked · script"]
    shares = bars(figure)
    assert list(shares) == ["final", "max iterations"]
    assert shares["final"][:2] == [pytest.approx(11 / 12), None]
    assert shares["max iterations"][:2] == [pytest.approx(1 / 12), 1.0]
    assert "11 of 12 runs" in figure.data[0].customdata[0][1]


def test_every_stop_reason_has_a_colour_of_its_own() -> None:
    names = [f"reason {n}" for n in range(8)]
    arm = replace(summary().arms[0], reasons=dict.fromkeys(["final", "model_error", *names], 1))
    found = stop_reasons(replace(summary(), arms=(arm,)))
    assert len({bar.marker.color for bar in found.data}) == 10


def test_the_forest_begins_with_the_primary_outcome_its_verdicts_and_its_margin() -> None:
    figure = forest(summary())
    assert figure.layout.xaxis.title.text.startswith("Verified success")
    assert figure.layout.yaxis.ticktext[0] == "results blanked · script<br><i>effect</i>"
    assert [each.name for each in figure.data][:4] == ["effect", "no effect", "inconclusive", "no claim"]
    assert len({each.marker.symbol for each in figure.data[:4]}) == 4
    first = figure.data[0]
    assert first.x[0] - first.error_x.arrayminus[0] == pytest.approx(-1)
    assert first.x[0] + first.error_x.array[0] == pytest.approx(-0.75)
    bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert {(band.x0, band.x1) for band in bands} == {(-0.1, 0.1)}
    assert sum(band.y1 - band.y0 for band in bands) == 8, "a line high for each arm"
    assert len(bands) == 1, "of those alike one is drawn: with a shape for each of many arms a page takes minutes"


def test_the_forest_can_be_of_some_outcomes_alone() -> None:
    titles = [axis.title.text for axis in forest(summary(), ["tokens", "steps"]).select_xaxes()]
    assert titles == ["Steps: difference to the baseline", "Tokens: difference to the baseline"]


def test_an_axis_of_counts_has_whole_numbers_and_none_a_signed_nothing() -> None:
    figure = forest(summary(), ["success", "tokens", "steps"])
    assert [axis.dtick for axis in figure.select_xaxes()] == [None, 1, None], "success, steps, tokens"
    low, high = [axis.range for axis in figure.select_xaxes()][1]
    assert low < -1 and high > 1, "else there would be one number on the axis"
    assert not any(axis.tickformat.startswith("+") for axis in figure.select_xaxes())
    short = [replace(row, steps=row.steps if row.condition == "baseline" else 3) for row in rows()]
    assert turns_and_tokens(short).layout.xaxis.dtick == 1
    same = [replace(row, tokens=1, steps=2) for row in rows()]
    assert {point[1].rpartition("<br>")[2] for each in turns_and_tokens(same).data for point in each.customdata} == {
        "0 · 0"
    }


def test_words_can_be_read_from_afar() -> None:
    for figure in all_figures():
        sizes = [figure.layout.font.size, figure.layout.legend.font.size]
        for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
            sizes += [axis.tickfont.size, axis.title.font.size]
        sizes += [size for each in figure.data if (size := getattr(each, "textfont", None) and each.textfont.size)]
        assert min(sizes) >= 13


def test_an_effect_without_an_interval_has_no_error_bar() -> None:
    bare = tuple(replace(each, low=None, high=None) for each in summary().effects)
    assert set(forest(replace(summary(), effects=bare)).data[0].error_x.array) == {0}


def test_steps_and_tokens_are_told_beside_the_twin_of_the_same_task_and_repeat() -> None:
    known = {row.key: row for row in rows()}
    figure = turns_and_tokens(rows(), summary())
    points = next(each for each in figure.data if each.name == "results blanked · script" and len(each.x) > 1)
    by_id = {row.trace_id: row for row in rows()}
    for steps, tokens, (trace_id, _) in zip(points.x, points.y, points.customdata, strict=True):
        row = by_id[trace_id]
        twin = known[f"{row.subject}/{row.model}/baseline/{row.repeat}"]
        assert (steps, tokens) == (row.steps - twin.steps, row.tokens - twin.tokens)


def test_runs_that_were_stopped_or_have_no_tokens_make_no_pair() -> None:
    told = [replace(row, status="stopped") if row.repeat == 0 else row for row in rows()]
    told = [replace(row, tokens=None) if row.repeat == 1 else row for row in told]
    drawn = {point[0] for each in turns_and_tokens(told).data for point in each.customdata} - {None}
    assert {row.repeat for row in rows() if row.trace_id in drawn} == {2, 3}


def test_means_take_their_intervals_from_the_summary_and_have_none_without_it() -> None:
    with_bars = [each for each in turns_and_tokens(rows(), summary()).data if each.error_y.array is not None]
    assert len(with_bars) == 8
    assert with_bars[0].y[0] + with_bars[0].error_y.array[0] == pytest.approx(120)
    assert all(each.error_y.array is None for each in turns_and_tokens(rows()).data)


def test_the_curve_has_a_line_a_model_and_the_baseline_as_a_dashed_one() -> None:
    figure = curve(EXPERIMENT, summary())
    assert [each.name for each in figure.data] == ["script", "baseline · script", "qwen", "baseline · qwen"]
    assert list(figure.data[0].x) == [0, 2]
    assert list(figure.data[0].y) == [0.3, 0.8]
    assert figure.data[1].line.dash == "dash"
    assert list(figure.data[1].y) == [0.9, 0.9]
    assert sweeps(EXPERIMENT) == ["keep last"]


def test_a_strip_has_one_cell_a_message_and_knows_its_trace() -> None:
    figure = strips(EXPERIMENT, rows())
    cells = [(line, base, bar.name[0], point[0])
             for bar in figure.data
             for line, base, point in zip(bar.y, bar.base, bar.customdata, strict=True)]  # fmt: skip
    by_id = {row.trace_id: row.strip for row in rows()}
    drawn: dict[str, str] = {}
    for _, _, letter, trace_id in sorted(cells):
        drawn[trace_id] = drawn.get(trace_id, "") + letter
    assert drawn == by_id


def test_arms_stand_in_the_order_of_the_design_whatever_order_the_runs_ended_in() -> None:
    titles = [note.text for note in strips(EXPERIMENT, rows()[::-1]).layout.annotations]
    assert titles[0] == "<b>baseline · script</b> · 12 runs"
    assert titles == [note.text for note in strips(EXPERIMENT, rows()).layout.annotations]


def test_of_many_runs_some_are_shown_and_the_name_says_of_how_many() -> None:
    row = rows()[0]
    many = [replace(row, repeat=n, trace_id=f"{n}", strip="suct" * 3) for n in range(100)]
    assert f"{MOST_RUNS} of 100 runs" in strips(PLAIN, many).layout.annotations[0].text
    long = [replace(each, strip="ct" * 500, condition=f"c{n % 4}") for n, each in enumerate(many)]
    figure = strips(PLAIN, long)
    assert sum(len(bar.y) for bar in figure.data) <= MOST_CELLS
    assert f"+{1000 - MOST_MESSAGES:,}" in {note.text for note in figure.layout.annotations}


def test_of_very_many_pairs_some_are_drawn_and_the_mean_is_of_all() -> None:
    row = rows()[0]
    many = [
        replace(row, repeat=n, condition=condition, trace_id=f"{condition}{n}", steps=n * more, tokens=0)
        for n in range(MOST_PAIRS * 2)
        for condition, more in (("baseline", 0), ("c", 1))
    ]
    points, mean = turns_and_tokens(many).data
    assert len(points.x) == MOST_PAIRS
    assert mean.x[0] == pytest.approx((MOST_PAIRS * 2 - 1) / 2)


def test_names_and_answers_are_escaped() -> None:
    for figure in all_figures():
        text = figure.to_json().replace("\\u003c", "<")
        assert "<img" not in text
    assert NASTY in TOOL_FAILS
    assert "&lt;img" in stop_reasons(summary()).to_json()


def test_without_anything_to_show_a_picture_says_so() -> None:
    bare = [
        stop_reasons(EMPTY), forest(EMPTY), turns_and_tokens([]), curve(PLAIN, EMPTY), strips(PLAIN, []),
    ]  # fmt: skip
    for figure in bare:
        assert not figure.data
        assert figure.layout.annotations[0].text == "not reported"


def test_labels_are_translated_and_names_are_not() -> None:
    figure = stop_reasons(summary(), t=lambda text: f"«{text}»", colours={"ok": "#123456"})
    assert figure.data[0].name == "«final»"
    assert figure.data[0].marker.color == "#123456"
    assert BLANKED in figure.layout.yaxis.ticktext[1]


def test_conditions_are_called_as_the_page_calls_them_in_every_picture_of_arms() -> None:
    def called(name: str) -> str:
        return "in words" if name == BLANKED else name

    figures = [
        stop_reasons(summary(), called=called),
        forest(summary(), called=called),
        turns_and_tokens(rows(), summary(), called=called),
        strips(EXPERIMENT, rows(), called=called),
    ]
    for text in (figure.to_json() for figure in figures):
        assert "in words" in text and BLANKED not in text


def test_a_figure_as_data_leaves_colours_to_the_page() -> None:
    data = as_data(stop_reasons(summary()))
    assert set(data) == {"data", "layout"}
    assert "template" not in data["layout"]
    assert data["data"][0]["name"] == "final"
