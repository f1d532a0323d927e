"""A server of an app as a process of its own: what it takes of the machine, and what it has left on disk."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from agent.events import Phase
from agent.moments import moments
from agent.recovery import recover
from agent.trace import Trace
from traces import read_file

ROOT = Path(__file__).resolve().parents[1]
UNSET = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL")


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path
    """What it said."""

    def cpu_s(self) -> float:
        """Seconds of processor time up to now."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def rss_mb(self) -> float:
        """Memory in use, in MB."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 1e6)

    def threads(self) -> int:
        """Threads that are alive."""
        return int(psutil.Process(self.process.pid).num_threads())

    def files(self) -> int:
        """Open files and sockets."""
        return int(psutil.Process(self.process.pid).num_fds())


@contextmanager
def served(app: Path, data: Path, *, port: int | None = None, options: Sequence[str] = ()) -> Iterator[Served]:
    """Start an app, and kill it in the end.

    Args:
        app: its file.
        data: the data folder.
        port: of the server; None: a free one.
        options: of the server, as on its command line.
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(port), *options]
    env = {key: value for key, value in os.environ.items() if key not in UNSET}
    env |= {"AGENT_LAB_DATA": str(data), "PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none"}
    data.mkdir(parents=True, exist_ok=True)
    log = data / ".server.log"
    with (
        log.open("ab") as told,
        subprocess.Popen(command, cwd=ROOT, env=env, stdout=told, stderr=told) as process,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            yield Served(f"http://127.0.0.1:{port}", process, log)
        finally:
            process.kill()


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(url)


def phases_on_disk(data: Path, run_id: str) -> int | None:
    """How many phases of a run its journal or its trace file holds; None where there is neither."""
    journal, saved = data / f"{run_id}.jsonl", data / f"{run_id}.json"
    for _ in range(2):  # a run that ends meanwhile lets its journal go when its trace is there
        if saved.is_file():
            return len(moments(read_file(saved, saved.name).traces[0])) - 1
        if journal.is_file():
            snapshot = recover(journal.read_bytes())
            phase = snapshot["phase"]
            return len(moments(Trace.from_dict(snapshot["trace"]), phase and Phase(phase))) - 1
    return None
