"""The ledger: what stands in it is over, whatever happened to the process that wrote it."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.errors import InputError
from traces.experiments.cells import Cell
from traces.experiments.folder import Folder
from traces.experiments.rows import Row, Status
from traces.experiments.running.ledger import Ledger, made_again, read_lines, read_rows


def row(repeat: int, status: Status = "ended", **more: Any) -> Row:
    name = {"subject": "s", "model": "m", "condition": "c", "trace_id": f"{repeat:012}"}
    return Row(**name, repeat=repeat, seed=repeat, status=status, **more)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def add(folder: Folder, *rows: Row) -> None:
    with closing(Ledger(folder)) as ledger:
        for each in rows:
            ledger.add(each)


def test_what_was_added_is_read_back_in_its_order(folder: Folder) -> None:
    rows = [row(0, answer="中文 \u2028 and\nlines", cost=0.25), row(1, reason="final", verified=True)]
    assert read_rows(folder) == []
    add(folder, *rows)
    assert read_rows(folder) == rows


def test_runs_whose_names_hold_slashes_are_kept_apart(folder: Folder) -> None:
    """Names of models often do: another one ends where the name of a subject would go on."""
    one, other = replace(row(0), subject="a", model="b/c"), replace(row(0), subject="a/b", model="c")
    add(folder, one, other)
    assert read_rows(folder) == [one, other]
    cells = [Cell(each.subject, each.model, each.condition, each.repeat, each.seed) for each in (one, other)]
    assert [cell.key for cell in cells] == [one.key, other.key]
    assert len({cell.trace_id("e") for cell in cells}) == 2


def test_a_later_line_of_a_cell_wins(folder: Folder) -> None:
    add(folder, row(0, "error"), row(1), row(0))
    assert read_rows(folder) == [row(0), row(1)]
    assert [line.status for line in read_lines(folder)] == ["error", "ended", "ended"]
    assert made_again(read_lines(folder)) == 1


@pytest.mark.parametrize("kept", [1, 40, -1])
def test_a_torn_last_line_is_no_row_and_the_next_one_takes_its_place(folder: Folder, kept: int) -> None:
    add(folder, row(0), row(1))
    data = folder.ledger.read_bytes()
    first = data.index(b"\n") + 1
    folder.ledger.write_bytes(data[:first] + data[first:][:kept])
    assert read_rows(folder) == [row(0)]
    add(folder, row(2))
    assert read_rows(folder) == [row(0), row(2)]


@pytest.mark.parametrize("line", [b"{", b"[]", b"{}", b'{"subject": "s"}', b"\xff"])
def test_a_damaged_line_in_the_middle_is_told_with_its_number(folder: Folder, line: bytes) -> None:
    add(folder, row(0))
    folder.ledger.write_bytes(folder.ledger.read_bytes() + line + b"\n")
    add(folder, row(1))
    with pytest.raises(InputError, match=r"runs\.jsonl, line 2: it is no row of a run"):
        read_rows(folder)


@pytest.mark.parametrize(
    "odd", [{"tokens": "many"}, {"status": "fine"}, {"subject": None}, {"repeat": "0"}, {"verified": 1}, {"strip": 5}]
)
def test_a_value_of_another_type_is_told_before_anything_is_counted(folder: Folder, odd: dict[str, Any]) -> None:
    folder.ledger.write_text(json.dumps({**row(0).to_dict(), **odd}) + "\n")
    with pytest.raises(InputError, match=rf"runs\.jsonl, line 1: it is no row of a run .*{next(iter(odd))}"):
        read_rows(folder)


def test_rows_of_an_older_and_of_a_newer_program_are_read(folder: Folder) -> None:
    first, second = row(0).to_dict(), row(1).to_dict()
    del first["strip"], first["started"]
    lines = [json.dumps(first), json.dumps({**second, "unheard_of": [1]})]
    folder.ledger.write_text("\n".join(lines) + "\n")
    assert read_rows(folder) == [row(0), row(1)]


def test_a_full_disk_leaves_the_ledger_as_it_was(folder: Folder) -> None:
    import resource

    add(folder, row(0))
    size = folder.ledger.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(Ledger(folder)) as ledger:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
        try:
            with pytest.raises(OSError):
                ledger.add(row(1))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert folder.ledger.stat().st_size == size
        ledger.add(row(2))
    assert read_rows(folder) == [row(0), row(2)]
