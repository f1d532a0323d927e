"""The columns of the list of traces: counts, costs, findings; and deleting a line of it."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from agent.errors import InputError
from agent.trace import ModelInfo, Trace, TraceStep
from agent.usage import Usage
from tests.traces.conftest import call
from traces import Store, open_trace, save_trace
from traces.annotations import Annotations, Note
from traces.billing import TotalCost, bill_of, total_cost
from traces.glance import glance
from traces.lint import lint
from traces.listing import lines_of
from traces.prices import Price, PriceTable, step_costs
from traces.stated import state
from traces.trash import Trash

_USAGE = Usage(100, 10, cached_tokens=40)
TABLE = PriceTable(shipped=(Price(model="m", prompt=1, cached=0.5, completion=2),))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "saved", samples=tmp_path / "samples")


def priced(*costs, model="m", usage=_USAGE):
    steps = [TraceStep(index=n, cost=cost, usage=usage) for n, cost in enumerate(costs, 1)]
    return Trace(model=ModelInfo(name=model), steps=steps)


def test_the_list_counts_calls_and_errors_and_names_the_task(store):
    failed = {"role": "tool", "tool_call_id": "c2", "content": '{"error": "no"}'}
    store.add_upload(
        json.dumps(
            [
                {"role": "user", "content": "x" * 500},
                {"role": "assistant", "tool_calls": [call("c1"), call("c2")]},
                {"role": "tool", "tool_call_id": "c1", "content": "5"},
                failed,
            ]
        ).encode(),
        "chat.json",
    )
    (info,) = store.list()
    assert (info.tool_calls, info.errors, len(info.task)) == (2, 1, 200)


def test_a_glance_and_the_full_reading_give_the_same_line(store, trace):
    trace.steps[0].cost, trace.steps[0].tools[0].ok = 0.25, False
    path = save_trace(trace, store.folder)
    seen = glance(path.read_bytes())
    (full,) = open_trace(path)
    (info,) = store.list()
    assert seen is not None and seen.bill == bill_of(full, seen.cost) is not None
    assert (seen.tool_calls, seen.errors, seen.task, seen.cost) == (1, 1, trace.task, 0.25)
    assert (info.bill, info.tool_calls, info.errors) == (seen.bill, 1, 1)


def test_a_trace_with_stated_totals_is_left_to_the_full_reading(store, trace):
    state(trace, usage=Usage(1, 2, 3), cost=4.0, duration_s=None)
    path = save_trace(trace, store.folder)
    assert glance(path.read_bytes()) is None
    assert store.list()[0].cost == 4.0


def test_the_bill_of_a_trace_costs_what_its_steps_cost():
    trace = priced(None, None)
    bill = bill_of(trace, None)
    assert total_cost(None, bill, TABLE) == TotalCost(
        pytest.approx(sum(cost.value for cost in step_costs(trace, TABLE))), computed=True, complete=True
    )


def test_what_the_file_says_is_added_and_what_is_not_known_is_said():
    half = priced(0.5, None)
    assert total_cost(0.5, bill_of(half, 0.5), TABLE) == TotalCost(pytest.approx(0.5 + 100e-6), True, True)
    lost = priced(None, None)
    lost.steps[1].usage = None
    assert total_cost(None, bill_of(lost, None), TABLE) == TotalCost(pytest.approx(100e-6), True, False)
    other = priced(None)
    other.steps[0].model = "unheard of"
    assert total_cost(None, bill_of(other, None), TABLE) == TotalCost(None)
    assert bill_of(priced(0.5, 0.5), 1.0) is None
    assert total_cost(1.0, None, TABLE) == TotalCost(1.0, computed=False, complete=True)


def test_totals_that_the_file_states_are_billed_where_no_step_has_any():
    trace = priced(None, usage=None)
    assert bill_of(trace, None) is None
    state(trace, usage=Usage(1000, 0), cost=None, duration_s=None)
    assert total_cost(None, bill_of(trace, None), TABLE).value == pytest.approx(1e-3)
    assert bill_of(trace, 0.7) is None


@pytest.mark.parametrize("bill", ["", "{", "[]", '{"complete": 1, "models": {"m": [1]}}', '{"models": 3}'])
def test_a_bill_that_cannot_be_read_is_no_bill(bill):
    assert total_cost(0.1, bill, TABLE) == TotalCost(0.1)


def test_findings_are_unknown_until_a_file_is_checked_and_again_when_it_changes(store, trace):
    path = save_trace(trace, store.folder)
    (info,) = store.list()
    assert not info.checked
    store.check(info.path)
    (info,) = store.list()
    found = Counter(finding.severity for finding in lint(trace))
    assert info.checked
    assert (info.found_errors, info.found_warnings, info.found_notes) == (
        found["error"],
        found["warning"],
        found["note"],
    )
    save_trace(replace(trace, title="another"), store.folder)
    assert not store.list()[0].checked
    path.unlink()
    store.check(str(path))
    assert store.list() == []


def test_a_file_that_changed_while_it_was_checked_stays_unchecked(store, trace):
    save_trace(trace, store.folder)
    (info,) = store.list()
    stamp = (1, 1)
    store._index.note_findings([(stamp, info.path, info.number, (1, 2, 3))])
    assert not store.list()[0].checked


def test_deleting_takes_the_file_its_journal_and_its_notes_and_undo_brings_them_back(store, trace):
    path = save_trace(trace, store.folder)
    path.with_suffix(".jsonl").write_text("{}\n")
    Annotations(store.folder).write(trace.trace_id, Note("mine", ("good",)))
    infos = [info for info in store.list() if info.id == trace.trace_id]
    deleted = store.delete(infos)
    assert store.list() == [] and not Annotations(store.folder).of(trace.trace_id)
    assert sorted(deleted.names) == [path.name, path.with_suffix(".jsonl").name]
    Trash(store.folder).restore(deleted.id)
    assert {info.id for info in store.list()} >= {trace.trace_id}
    assert Annotations(store.folder).of(trace.trace_id).tags == ("good",)


def test_all_conversations_of_a_file_go_together(store, chat):
    store.add_upload(b"\n".join(json.dumps({"messages": chat[:n]}).encode() for n in (1, 2, 4)), "rows.jsonl")
    store.delete(store.list()[:1])
    assert store.list() == []


def test_a_bundled_trace_cannot_be_deleted(store, trace, tmp_path):
    save_trace(trace, tmp_path / "samples")
    with pytest.raises(InputError, match="not in the data folder"):
        store.delete(store.list())
    assert len(store.list()) == 1


def test_no_file_raises(tmp_path):
    from traces.index import Stamp

    (line,) = lines_of(str(tmp_path / "gone.json"), Stamp(1, 1), "saved")
    assert "gone.json" in line.error and line.number == -1
