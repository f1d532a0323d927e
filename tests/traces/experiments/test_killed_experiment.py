"""kill -9 of the real command at any instant: going on gives the same table, and what was over is not done twice."""

from __future__ import annotations

import csv
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.traces.experiments.noting import marks, write_design
from traces.experiments.folder import Folder
from traces.experiments.running.ledger import read_rows

ROOT = Path(__file__).resolve().parents[3]
WAIT_S = 120


def command(design: Path, out: Path, *more: str) -> list[str]:
    own = str(design.with_name("own.py"))
    return [sys.executable, "-m", "traces", "ablate", str(design), "--out", str(out), "--tools-file", own, *more]


def finish(design: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(design, out, *more), cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S)


def killed(design: Path, out: Path, lines: int, after_s: float, *more: str, number: int = signal.SIGKILL) -> int:
    """Run the command until the ledger has so many lines, and then a little longer; gives how it ended."""
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command(design, out, *more), cwd=ROOT, **quiet)
    end = time.monotonic() + WAIT_S
    while process.poll() is None and len(_lines(out)) < lines:
        assert time.monotonic() < end
        time.sleep(0.005)
    time.sleep(after_s)
    os.kill(process.pid, number)
    return process.wait(WAIT_S)


def _lines(out: Path) -> Sequence[bytes]:
    ledger = Folder(out).ledger
    return ledger.read_bytes().splitlines() if ledger.exists() else []


def table(out: Path) -> list[dict[str, str]]:
    """The table without ids and times."""
    with Folder(out).table.open(newline="", encoding="utf-8-sig") as file:
        return [{**row, "trace_id": "", "started": ""} for row in csv.DictReader(file)]


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_again_and_again_the_table_is_that_of_an_undisturbed_experiment(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    design, out = write_design(tmp_path / "design", repeats=8, pace=0.01), tmp_path / "out"
    workers = ("--workers", str(seed))
    over: dict[str, int] = {}
    for time_of_death in range(3):
        done = 6 * time_of_death + chance.randrange(1, 5)
        resume = ("--resume",) if time_of_death else ()
        assert killed(design, out, done, chance.uniform(0, 0.06), *workers, *resume) == -signal.SIGKILL
        now = marks(tmp_path / "design")
        assert {trace_id: now[trace_id] for trace_id in over} == over, "what was over has not run again"
        over = {row.trace_id: now[row.trace_id] for row in read_rows(Folder(out))}
        assert len(over) >= done
    ended = finish(design, out, "--resume", *workers)
    assert ended.returncode == 0, ended.stderr
    now = marks(tmp_path / "design")
    assert {trace_id: now[trace_id] for trace_id in over} == over

    undisturbed = write_design(tmp_path / "again", repeats=8)
    assert finish(undisturbed, tmp_path / "other").returncode == 0
    assert table(out) == table(tmp_path / "other")
    rows = read_rows(Folder(out))
    assert {path.name for path in Folder(out).traces.iterdir()} == {f"{row.trace_id}.json" for row in rows}
    again = finish(design, out, "--resume")
    assert again.returncode == 0
    assert again.stdout == ended.stdout
    assert marks(tmp_path / "design") == now


def test_interrupted_by_the_keyboard_it_ends_cleanly_and_goes_on(tmp_path: Path) -> None:
    design, out = write_design(tmp_path / "design", repeats=8, pace=0.02), tmp_path / "out"
    assert killed(design, out, 3, 0.01, number=signal.SIGINT) == 130
    rows = read_rows(Folder(out))
    assert 3 <= len(rows) < 24
    assert not list(Folder(out).traces.glob("*.jsonl"))
    ended = finish(design, out, "--resume")
    assert ended.returncode == 0, ended.stderr
    assert [row["status"] for row in table(out)] == ["ended"] * 24


def test_a_second_process_says_who_runs_it_and_stops(tmp_path: Path) -> None:
    design, out = write_design(tmp_path / "design", repeats=20, pace=0.1), tmp_path / "out"
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    first = subprocess.Popen(command(design, out), cwd=ROOT, **quiet)
    try:
        end = time.monotonic() + WAIT_S
        while not _lines(out):
            assert time.monotonic() < end
            time.sleep(0.01)
        second = finish(design, out, "--resume")
        assert second.returncode == 2
        assert f"another process (number {first.pid}) is running this experiment" in second.stderr
    finally:
        first.kill()
        first.wait()
