import pytest

from traces.annotations import Note, Notes
from traces.billing import Bill
from traces.figures import traces_figure
from traces.index import TraceInfo
from traces.library import SORTS, Wanted, narrow, sort, totals
from traces.prices import Price, PriceTable

TABLE = PriceTable(shipped=(Price(model="m", prompt=1, completion=2),))


def line(trace_id, **values):
    unknown = dict.fromkeys(TraceInfo.__struct_fields__)
    known = {"title": trace_id, "task": "", "path": f"/d/{trace_id}.json", "kind": "saved", "steps": 1, "messages": 2}
    return TraceInfo(**{**unknown, **known, "tool_calls": 0, "errors": 0, "id": trace_id, **values})


def bill(prompt, model="m"):
    tokens = Bill()
    tokens.add(model, prompt, 0)
    return tokens.text()


ONE = line("one", title="Sums", task="add 2 and 3", model="gpt-4o", format="openai-chat", outcome="final")
TWO = line("two", title="Weather", model="m", format="atif", kind="bundled", found_errors=0, found_warnings=2)
THREE = line("three", title="sums again", found_errors=0, found_warnings=0, found_notes=9)
NOTES = {
    "two": Notes("two", trace=Note("a strange Answer", ("odd",))),
    "three": Notes("three", messages={4: Note("", ("odd", "slow"))}),
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), ["one", "two", "three"]),
        (Wanted(text="SUMS"), ["one", "three"]),
        (Wanted(text="sums add"), ["one"]),
        (Wanted(text="strange"), ["two"]),
        (Wanted(text="one.json"), ["one"]),
        (Wanted(models=frozenset({"m", None})), ["two", "three"]),
        (Wanted(formats=frozenset({"atif"})), ["two"]),
        (Wanted(outcomes=frozenset({"final"})), ["one"]),
        (Wanted(kinds=frozenset({"saved"})), ["one", "three"]),
        (Wanted(tags=frozenset({"odd"})), ["two", "three"]),
        (Wanted(tags=frozenset({"slow"}), text="sums"), ["three"]),
        (Wanted(findings=True), ["two"]),
        (Wanted(text="nothing like it"), []),
    ],
)
def test_the_list_is_narrowed_by_what_is_wanted(wanted, found):
    assert [info.id for info in narrow([ONE, TWO, THREE], wanted, NOTES)] == found
    assert bool(wanted) == (len(found) < 3)


def test_what_is_not_reported_comes_last_whatever_the_order():
    lines = [line("a", tokens=None), line("b", tokens=1), line("c", tokens=5)]
    assert [info.id for info in sort(lines, "tokens")] == ["c", "b", "a"]
    assert [info.id for info in sort([line("b"), line("A"), line("c")], "title")] == ["A", "b", "c"]
    for by in SORTS:
        assert len(sort([ONE, TWO, THREE], by)) == 3
    assert [info.id for info in sort([ONE, THREE, TWO], "findings")] == ["two", "three", "one"]


def test_totals_say_how_many_traces_they_are_of():
    lines = [
        line("a", tokens=10, cost=0.5, duration_s=1.5),
        line("b", bill=bill(1_000_000)),
        line("c", bill=bill(5, "unheard of")),
        line("d", error="broken", messages=7),
    ]
    sums = totals(lines, TABLE)
    assert (sums.traces, sums.messages, sums.tokens, sums.tokens_known) == (3, 6, 10, 1)
    assert (sums.cost, sums.cost_known, sums.computed) == (pytest.approx(1.5), 2, True)
    assert (sums.duration_s, sums.duration_known) == (1.5, 1)
    assert totals([], TABLE).cost is None


def test_a_point_stands_for_its_trace_and_names_are_inert():
    figure = traces_figure(
        [1, None, 3], [1, 2, 3], ["<b>x</b>", "y", "z"], ["final"] * 3, x_title="Steps", y_title="Tokens"
    )
    (points,) = figure.data
    assert [point[0] for point in points.customdata] == [0, 2]
    assert points.customdata[0][1] == "&lt;b&gt;x&lt;/b&gt;"


def test_many_outcomes_share_a_colour_and_no_data_says_so():
    many = traces_figure(range(30), range(30), ["t"] * 30, [f"o{n}" for n in range(30)], x_title="x", y_title="y")
    assert len(many.data) == 8 and sum(len(group.x) for group in many.data) == 30
    empty = traces_figure([None], [1], ["t"], ["o"], x_title="x", y_title="y")
    assert not empty.data and empty.layout.annotations[0].text == "not reported"
