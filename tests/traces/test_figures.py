import json
import math

import pytest

from agent.trace import ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces.composition import Composition, Part, StepContext
from traces.figures import (
    MOST_BARS,
    context_per_step,
    cost_so_far,
    latency_per_step,
    legend_height,
    timeline_figure,
    tokens_per_step,
    tool_use,
)
from traces.tables import runs_frame, steps_frame
from traces.timeline import timeline


@pytest.fixture
def traced():
    runs = [
        ToolRun(tool_call_id="c", name="<img src=x>", latency_ms=500, message=2),
        ToolRun(tool_call_id="d", name="look", latency_ms=100, message=3, ok=False),
    ]
    return Trace(
        steps=[
            TraceStep(
                index=1,
                usage=Usage(100, 50, 150, 30, None, 40),
                latency_ms=1500,
                first_token_ms=400,
                reply=1,
                tools=runs,
            ),
            TraceStep(index=2),
            TraceStep(index=3, usage=Usage(10, 5, 15, estimated=True), latency_ms=250, reply=4),
        ]
    )


@pytest.fixture
def steps(traced):
    return steps_frame(traced)


@pytest.fixture
def latencies(traced):
    return latency_per_step(steps_frame(traced), runs_frame(traced))


def bars(figure):
    return {bar.name: [None if y is None or math.isnan(y) else pytest.approx(y) for y in bar.y] for bar in figure.data}


def test_tokens_are_stacked_and_missing_where_nothing_was_reported(steps):
    figure = tokens_per_step(steps)
    assert figure.layout.barmode == "stack"
    assert bars(figure) == {
        "Prompt": [70, None, 10],
        "Prompt, cached": [30, None, None],
        "Answer": [10, None, 5],
        "Reasoning": [40, None, None],
    }


def test_first_token_model_and_each_tool_are_stacked_in_seconds(latencies):
    assert bars(latencies) == {
        "First token": [0.4, None, None],
        "Model": [1.1, None, 0.25],
        "&lt;img src=x&gt;": [0.5, None, None],
        "look": [0.1, None, None],
    }


def test_names_out_of_a_trace_are_escaped(traced, latencies):
    for figure in (latencies, tool_use(runs_frame(traced)), timeline_figure(timeline(traced))):
        assert "&lt;img src=x&gt;" in json.dumps(figure.to_plotly_json(), default=list)
        assert "<img" not in figure.to_json().replace("\\u003c", "<")


def test_each_bar_knows_its_message(traced, steps, latencies):
    assert [point[0] for point in tokens_per_step(steps).data[0].customdata] == [1, None, 4]
    assert [point[0] for point in latencies.data[0].customdata] == [1, None, 4]
    assert {point[0] for bar in timeline_figure(timeline(traced)).data for point in bar.customdata} == {1, 2, 3, 4}
    assert {point[0] for point in tool_use(runs_frame(traced)).data[0].customdata} == {3, None}


def test_of_many_steps_the_largest_of_each_group_is_drawn_and_keeps_its_number():
    trace = Trace(steps=[TraceStep(index=n, reply=n, usage=Usage(n % 7, 1, n % 7 + 1)) for n in range(1, 4001)])
    trace.steps[1234].usage = Usage(9_000, 1, 9_001)
    figure = tokens_per_step(steps_frame(trace), selected=1234)
    (bar,) = [bar for bar in figure.data if bar.name == "Prompt"]
    assert len(bar.x) == 118
    assert (bar.y[36], bar.customdata[36][0]) == (9_000, 1235)
    assert "1235 (the largest of 34 steps)" in bar.customdata[36][1]
    assert {after - before for before, after in zip(bar.x, bar.x[1:], strict=False)} == {34}
    assert abs(bar.x[36] - 1235) < 34
    assert bar.selectedpoints == (36,)


def test_few_enough_steps_have_a_bar_each():
    trace = Trace(steps=[TraceStep(index=n, reply=n, usage=Usage(n, 1, n + 1)) for n in range(1, MOST_BARS + 1)])
    assert list(tokens_per_step(steps_frame(trace)).data[0].x) == list(range(1, MOST_BARS + 1))


def test_cost_adds_up_and_what_is_unknown_adds_nothing():
    figure = cost_so_far([1, 2, 3], [0.5, None, 0.25], [0, 1, 2], computed=True)
    assert list(figure.data[0].y) == [0.5, 0.5, 0.75]
    assert figure.data[0].line.dash == "dot"
    assert cost_so_far([1], [None], [0], computed=False).layout.annotations[0].text == "not reported"


def test_tools_show_what_failed(traced):
    figure = tool_use(runs_frame(traced))
    found = {bar.name: dict(zip(figure.layout.yaxis.ticktext, bar.x, strict=True)) for bar in figure.data}
    assert found == {
        "Failed": {"look": 1, "&lt;img src=x&gt;": None},
        "Unknown": {"look": None, "&lt;img src=x&gt;": 1},
    }
    hover = [point[1] for bar in tool_use(runs_frame(traced)).data for point in bar.customdata]
    assert any("Errors: 100%" in text and "0.10 s" in text for text in hover)


def test_long_names_of_tools_keep_their_end_and_never_share_a_bar():
    names = [f"a_server_with_a_long_name__{what}_and_a_long_end_as_well" for what in ("read", "write")]
    runs = [ToolRun(tool_call_id=name, name=name, ok=True) for name in names]
    figure = tool_use(runs_frame(Trace(steps=[TraceStep(index=1, reply=0, tools=runs)])))
    assert [len(set(bar.y)) for bar in figure.data] == [2]
    assert all("…" in label and label.endswith("as_well") for label in figure.layout.yaxis.ticktext)


def test_a_legend_of_many_or_long_names_asks_for_room(latencies):
    names = [f"a_tool_with_a_long_name_{n}" for n in range(5)]
    runs = [ToolRun(tool_call_id=name, name=name, latency_ms=1.0) for name in names]
    trace = Trace(steps=[TraceStep(index=1, reply=0, tools=runs)])
    assert legend_height(latencies) == 0 < legend_height(latency_per_step(steps_frame(trace), runs_frame(trace)))


def test_the_parts_of_the_context_are_stacked_against_the_window():
    found = Composition((Part("system"), Part("result", "look")), (StepContext(1, (10, 30), 40, True, False),), 100)
    figure = context_per_step(found, {1: 7})
    assert bars(figure) == {"System": [10], "look": [30]}
    assert figure.data[0].customdata[0][0] == 7
    assert "100" in figure.layout.annotations[0].text


def test_an_estimate_and_a_missing_total_say_so(steps):
    hover = [point[1] for point in tokens_per_step(steps).data[0].customdata]
    assert "not reported" in hover[1]
    assert "(estimated)" in hover[2]
    assert "estimated" not in hover[0]


def test_labels_are_translated_and_colours_can_be_chosen(steps):
    figure = tokens_per_step(steps, t=lambda text: f"«{text}»", colours={"cached": "red"})
    assert figure.data[0].name == "«Prompt»"
    assert figure.layout.yaxis.title.text == "«Tokens»"
    assert [bar.marker.color for bar in figure.data if bar.name == "«Prompt, cached»"] == ["red"]


def test_zoom_stays_when_the_run_goes_on(steps):
    assert tokens_per_step(steps).layout.uirevision == tokens_per_step(steps[:1]).layout.uirevision


def test_the_selected_step_is_highlighted(steps):
    assert all(bar.selectedpoints == (1,) for bar in tokens_per_step(steps, selected=1).data)


@pytest.mark.parametrize("trace", [Trace(), Trace(steps=[TraceStep(index=1)])])
def test_a_chart_without_numbers_says_that_nothing_was_reported(trace):
    steps, runs = steps_frame(trace), runs_frame(trace)
    figures = (tokens_per_step(steps), latency_per_step(steps, runs), timeline_figure(timeline(trace)), tool_use(runs))
    for figure in figures:
        assert [note.text for note in figure.layout.annotations] == ["not reported"]
        assert figure.layout.xaxis.visible is False
        assert figure.layout.yaxis.visible is False
