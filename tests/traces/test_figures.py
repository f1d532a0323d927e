import math

import pytest

from agent.trace import ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces.figures import latency_per_step, tokens_per_step
from traces.tables import steps_frame


@pytest.fixture
def steps():
    run = ToolRun(tool_call_id="c", name="<img src=x>", latency_ms=500)
    return steps_frame(
        Trace(
            steps=[
                TraceStep(index=1, usage=Usage(100, 50, 150, 30, None, 40), latency_ms=1500, tools=[run]),
                TraceStep(index=2),
                TraceStep(index=3, usage=Usage(10, 5, 15, estimated=True), latency_ms=250),
            ]
        )
    )


def bars(figure):
    return {bar.name: [None if math.isnan(y) else y for y in bar.y] for bar in figure.data}


def test_tokens_are_stacked_and_missing_where_nothing_was_reported(steps):
    figure = tokens_per_step(steps)
    assert figure.layout.barmode == "stack"
    assert bars(figure) == {
        "Prompt": [70, None, 10],
        "Prompt, cached": [30, None, None],
        "Answer": [10, None, 5],
        "Reasoning": [40, None, None],
    }


def test_model_and_tools_are_stacked_in_seconds(steps):
    assert bars(latency_per_step(steps)) == {"Model": [1.5, None, 0.25], "Tools": [0.5, None, None]}


def test_names_out_of_a_trace_are_escaped(steps):
    figure = latency_per_step(steps)
    assert "&lt;img src=x&gt;" in figure.data[0].customdata[0]
    assert "<img" not in figure.to_json().replace("\\u003c", "<")


def test_an_estimate_and_a_missing_total_say_so(steps):
    hover = tokens_per_step(steps).data[0].customdata
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


@pytest.mark.parametrize("draw", [tokens_per_step, latency_per_step])
def test_a_chart_without_numbers_says_that_nothing_was_reported(draw):
    for trace in (Trace(), Trace(steps=[TraceStep(index=1)])):
        figure = draw(steps_frame(trace))
        assert [note.text for note in figure.layout.annotations] == ["not reported"]
        assert figure.layout.xaxis.visible is False
        assert figure.layout.yaxis.visible is False
