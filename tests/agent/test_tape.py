"""An append-only file that is written through memory."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.tape import ROOM, Tape

ROOT = Path(__file__).resolve().parents[2]


def test_what_was_appended_is_there_at_once_and_alone_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    tape = Tape(path)
    tape.append(b"one\n")
    tape.append("zwei äöü\n".encode())
    written = "one\nzwei äöü\n".encode()
    assert path.read_bytes().rstrip(b"\0") == written
    tape.close()
    assert path.read_bytes() == written
    tape.close()


def test_it_grows_beyond_its_room(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "a")
    pieces = [bytes([65 + n % 26]) * (ROOM // 3) for n in range(10)] + [b"x" * (3 * ROOM)]
    for piece in pieces:
        tape.append(piece)
    tape.close()
    assert (tmp_path / "a").read_bytes() == b"".join(pieces)


def test_a_file_that_cannot_be_made_leaves_nothing_open(tmp_path: Path) -> None:
    before = len([*Path("/proc/self/fd").iterdir()])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM - 1, hard))
    try:
        for _ in range(5):
            with pytest.raises(OSError, match="File too large"):
                Tape(tmp_path / "a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_it_may_be_renamed_meanwhile(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "a")
    tape.append(b"1")
    (tmp_path / "a").rename(tmp_path / "b")
    tape.append(b"2")
    tape.close()
    assert (tmp_path / "b").read_bytes() == b"12"


def test_nothing_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    code = """
import pathlib, sys, time
from agent.tape import Tape
tape = Tape(pathlib.Path(sys.argv[1]))
for n in range(5000):
    tape.append(f"{n}\\n".encode())
print("written", flush=True)
time.sleep(60)
"""
    path = tmp_path / "a"
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "written"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert path.read_bytes().rstrip(b"\0").split() == [str(n).encode() for n in range(5000)]


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        Tape(tmp_path / "missing" / "a")
