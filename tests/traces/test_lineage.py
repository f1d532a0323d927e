"""The family of a run: who was forked from whom, whatever the files say or leave out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import FakeModel, Loop, Phase, Trace
from agent.fork import fork
from agent.moments import moments
from agent.trace import Source
from traces import Store, TraceInfo, open_trace, save_trace
from traces.glance import glance
from traces.lineage import Member, family, fork_point


def line(trace_id: str, parent: str | None = None, at: str | None = None, created: str = "") -> TraceInfo:
    unknown: dict[str, Any] = dict.fromkeys(TraceInfo.__slots__)
    return TraceInfo(**{**unknown, "id": trace_id, "parent": parent, "at": at, "created": created})


def shape(members: list[Member]) -> list[tuple[str, int]]:
    return [(member.id, member.depth) for member in members]


def test_a_run_of_its_own_is_a_family_of_one() -> None:
    assert shape(family([line("a"), line("b")], "a")) == [("a", 0)]
    assert family([], "a") == [Member("a", 0, None)]


def test_the_family_is_the_same_seen_from_every_member() -> None:
    infos = [line("c", "b"), line("d", "a", created="2"), line("a"), line("b", "a", created="1"), line("x")]
    expected = [("a", 0), ("b", 1), ("c", 2), ("d", 1)]
    assert [shape(family(infos, member)) for member in "abcd"] == [expected] * 4


def test_any_number_of_forks_of_one_point_are_all_listed_oldest_first() -> None:
    infos = [line("a"), *(line(f"f{n}", "a", "2 approve", created=f"{n}") for n in (3, 1, 2, 0))]
    _, *forks = family(infos, "a")
    assert [(member.id, member.step, member.phase) for member in forks] == [
        (f"f{n}", 2, Phase.APPROVE) for n in range(4)
    ]


def test_a_parent_that_is_gone_still_holds_its_children_together() -> None:
    members = family([line("b", "gone"), line("c", "gone")], "b")
    assert shape(members) == [("gone", 0), ("b", 1), ("c", 1)]
    assert members[0].info is None


@pytest.mark.parametrize("circle", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a"}])
def test_runs_that_name_each_other_are_listed_once(circle: dict[str, str]) -> None:
    infos = [line(trace_id, parent) for trace_id, parent in circle.items()] + [line("leaf", "a")]
    for member in (*circle, "leaf"):
        assert sorted(trace_id for trace_id, _ in shape(family(infos, member))) == sorted([*circle, "leaf"])


def test_a_chain_of_any_length() -> None:
    infos = [line(str(n), str(n - 1) if n else None) for n in range(5000)]
    assert shape(family(infos, "4999")) == [(str(n), n) for n in range(5000)]


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([None, *"abcdefg"])), st.sampled_from("abcdef"))
def test_no_member_is_lost_or_doubled(parents: dict[str, str | None], start: str) -> None:
    infos = [line(trace_id, parent) for trace_id, parent in parents.items()]
    found = [trace_id for trace_id, _ in shape(family(infos, start))]
    assert start in found
    assert len(set(found)) == len(found)
    children = {trace_id for trace_id, parent in parents.items() if parent in found}
    assert children <= set(found)


@pytest.mark.parametrize(
    ("parent", "at", "expected"),
    [
        (None, None, (None, None)),
        ("9f2c1ab04d77", {"step": 2, "phase": "approve"}, ("9f2c1ab04d77", "2 approve")),
        ("9f2c1ab04d77", {"step": 3, "phase": None}, ("9f2c1ab04d77", "3 end")),
        ("9f2c1ab04d77", {"step": 3, "phase": ["x"]}, ("9f2c1ab04d77", "3 end")),
        ("9f2c1ab04d77", "somewhere", ("9f2c1ab04d77", None)),
        ("9f2c1ab04d77", {"step": True}, ("9f2c1ab04d77", None)),
        ("../etc", {"step": 1}, (None, None)),
        (["a"], {"step": 1}, (None, None)),
    ],
)
def test_the_point_of_a_fork_in_a_line_of_the_list(parent: Any, at: Any, expected: tuple[Any, Any]) -> None:
    assert fork_point(parent, at) == expected


def test_the_store_lists_a_fork_with_its_parent_by_a_glance_and_by_a_full_reading(tmp_path: Path) -> None:
    model = FakeModel(["done"])
    parent = Loop(model, journal=tmp_path)
    parent.start("go")
    parent.finish()
    point = moments(parent.trace)[1]
    going_on = Loop.resume(fork(parent.trace, point), model=model, journal=tmp_path)
    over = Loop.resume(fork(parent.trace, point), model=model, journal=tmp_path)
    over.finish()
    listed = {info.id: (info.parent, info.at, info.kind) for info in Store(tmp_path).list()}
    assert listed[going_on.trace.trace_id] == (parent.trace.trace_id, "1 call", "interrupted")
    assert listed[over.trace.trace_id] == (parent.trace.trace_id, "1 call", "saved")
    assert listed[parent.trace.trace_id] == (None, None, "saved")
    data = (tmp_path / f"{over.trace.trace_id}.json").read_bytes()
    seen = glance(data)
    assert seen is not None
    assert (seen.parent, seen.at) == fork_point(open_trace(data)[0].source.parent, open_trace(data)[0].source.at)


def test_a_damaged_point_of_a_fork_is_no_reason_not_to_list_a_trace(tmp_path: Path) -> None:
    trace = Trace(title="t", source=Source(kind="fork", parent="p", at={"step": 1, "phase": {}}))
    odd = replace(trace, trace_id="odd-1", source=replace(trace.source, at=["x"]))
    save_trace(trace, tmp_path)
    save_trace(odd, tmp_path)
    listed = {info.id: (info.parent, info.at) for info in Store(tmp_path).list() if info.kind != "bundled"}
    assert listed == {trace.trace_id: ("p", "1 end"), "odd-1": ("p", None)}
