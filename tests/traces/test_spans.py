"""Spans: times in every form, each span once, trees that hold together."""

import pytest

from traces.spans.tree import Span, forest, merged, moment, walk


@pytest.mark.parametrize(
    "written",
    [
        1_780_000_000.5,
        1_780_000_000_500,
        1_780_000_000_500_000,
        "1780000000500000000",
        [1_780_000_000, 500_000_000],
        "2026-05-28T20:26:40.500Z",
        "2026-05-28 20:26:40.500000+00:00",
        "2026-05-28T20:26:40.500",
        "2026-05-28T20:26:40.500Z.482589",
        "2026-05-28T22:26:40.500000000+02:00",
    ],
)
def test_times_are_read_in_every_form(written):
    assert moment(written) == pytest.approx(1_780_000_000.5)


@pytest.mark.parametrize("written", [None, "None", "", True, 5, float("nan"), [1], ["a", 2], {}, "yesterday"])
def test_what_is_no_time_is_unknown(written):
    assert moment(written) is None


def test_a_span_that_was_written_twice_counts_once_with_its_end():
    begun = Span(id="1", trace="t", started=1.0)
    ended = Span(id="1", trace="t", started=1.0, ended=2.0)
    assert merged([begun, ended, begun]) == [ended]


def test_spans_stand_below_their_parents_in_the_order_of_their_start():
    spans = [Span(id="c", parent="a", started=3.0), Span(id="b", parent="a", started=2.0), Span(id="a", started=1.0)]
    roots, cut = forest(spans)
    assert ([root.id for root in roots], [span.id for span in walk(roots)], cut) == (["a"], ["a", "b", "c"], 0)


def test_a_span_whose_parent_is_missing_is_a_root():
    roots, _ = forest([Span(id="a", parent="gone"), Span(id="b", parent="a")])
    assert [(root.id, [child.id for child in root.children]) for root in roots] == [("a", ["b"])]


def test_circles_are_cut_at_the_span_that_began_first():
    circle = [Span(id="b", parent="a", started=2.0), Span(id="a", parent="b", started=1.0), Span(id="s", parent="s")]
    roots, cut = forest(circle)
    assert ({root.id for root in roots}, sorted(span.id for span in walk(roots)), cut) == (
        {"a", "s"},
        ["a", "b", "s"],
        1,
    )


def test_a_deep_chain_is_no_problem():
    spans = [Span(id=str(number), parent=str(number - 1)) for number in range(20_000)]
    assert len(list(walk(forest(spans)[0]))) == 20_000
