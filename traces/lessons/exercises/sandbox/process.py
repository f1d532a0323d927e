"""The server's side: it starts the process in which a learner's program runs, waits, and never reads or runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from agent import jsontext
from traces.lessons.exercises.remark import Remark, remark

MOST_CHARACTERS = 20_000
"""Of a program."""
WALL_S = 10.0
"""Seconds after which a program is ended, whatever it does."""
CPU_S = 2
"""Seconds of computing that a program may take, where the system can count them."""
SLOTS = 2
"""Programs that run on this server at the same time."""
WAIT_S = 60.0
"""Seconds that a program waits for its turn."""
MOST_BYTES = 400_000
"""Of what the process may answer."""

_ROOT = Path(__file__).parents[4]
_BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from traces.lessons.exercises.sandbox.child import main; main()"
)


def run_apart(work: str, data: Mapping[str, Any], code: str, *, wall_s: float = WALL_S) -> dict[str, Any]:
    """Run a program in a process of its own, after those that wait already.

    Args:
        work: what is done with it, by the name that :mod:`.child` knows.
        data: what that needs, as JSON data.
        code: the program.
        wall_s: seconds that it may take.

    Returns:
        What the work gave, as JSON data that is not to be trusted; ``remarks`` holds what was wrong. Never raises for
        anything that the program does.
    """
    if len(code) > MOST_CHARACTERS:
        return _only(
            remark(
                f"The program is too long: it may have {MOST_CHARACTERS:,} characters.",
                f"程序太长：最多 {MOST_CHARACTERS:,} 个字符。",
            )
        )
    if not _slots().acquire(timeout=WAIT_S):
        return _only(
            remark(
                "Many programs are being run here at the moment. Try again in a minute.",
                "现在有很多程序在排队运行，请过一分钟再试。",
            )
        )
    try:
        return _run({"work": work, "data": dict(data), "code": code, "wall_s": wall_s}, wall_s)
    finally:
        _slots().release()


@cache
def _slots() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(SLOTS)


def _run(task: dict[str, Any], wall_s: float) -> dict[str, Any]:
    payload = json.dumps(task).encode()
    with tempfile.TemporaryDirectory(prefix="exercise-", ignore_cleanup_errors=True) as folder:
        try:
            process = _start(folder)
        except OSError as error:
            return _only(remark(f"The program cannot be started here: {error}", f"这里无法启动程序：{error}"))
        said, in_time = _talk(process, payload, wall_s)
    return _answer(said, in_time, process.returncode)


def _start(folder: str) -> subprocess.Popen[bytes]:
    """The child: isolated, without the environment (Windows needs to know where its own folder is), in a session of
    its own so that whatever it might start ends with it."""
    paths = [str(_ROOT), *(path for path in sys.path if path and path != str(_ROOT))]
    env = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ} if os.name == "nt" else {}
    return subprocess.Popen(
        [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BEGIN, json.dumps(paths)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=env,
        close_fds=True,
        start_new_session=os.name != "nt",
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _talk(process: subprocess.Popen[bytes], payload: bytes, wall_s: float) -> tuple[bytes, bool]:
    """Give the child its work and read what it says, both within the time; then it ends, willing or not."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    said: list[bytes] = []
    until = time.monotonic() + wall_s

    def ask() -> None:
        with suppress(OSError):  # it ended before it had read all
            stdin.write(payload)
            stdin.close()
        said.append(stdout.read(MOST_BYTES + 1))

    talk = threading.Thread(target=ask, daemon=True)
    talk.start()
    talk.join(wall_s)
    in_time = not talk.is_alive()
    if in_time and len(said[0]) <= MOST_BYTES:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
    _end(process)
    talk.join(5)
    with suppress(OSError):
        stdin.close()
    stdout.close()
    return (said[0] if said else b""), in_time


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _answer(said: bytes, in_time: bool, returncode: int | None) -> dict[str, Any]:
    out_of_cpu = getattr(signal, "SIGXCPU", None)
    if not in_time or (out_of_cpu is not None and returncode == -out_of_cpu):
        return _only(
            remark(
                "The program takes too long and was ended. Is there a loop that never comes to its end?",
                "程序运行时间太长，已被终止。是不是有一个永远不会结束的循环？",
            )
        )
    if len(said) > MOST_BYTES:
        return _only(remark("The program says too much and was ended.", "程序输出太多，已被终止。"))
    try:
        answer = json.loads(jsontext.dumps(json.loads(said)))  # no half surrogate pairs: no page can be sent with one
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        return answer
    return _only(
        remark(
            "The program was ended by the system: it most likely needs too much memory.",
            "程序被系统终止：很可能用了太多内存。",
        )
    )


def _only(said: Remark) -> dict[str, Any]:
    return {"remarks": [said.to_dict()]}
