"""Install what the tests need, then check and test everything. Standard library only: the one command of the README.

    python3 tests/run.py [--fresh] [PYTEST ARGUMENTS]

A virtual environment is kept in ``.venv-test`` (``--fresh`` begins with a new one). Chromium is installed by apt where
it is missing. The first check that fails ends the command with its exit code. Without arguments, the tests in the
browser, which mostly wait, run beside all others and are told after them.
"""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".venv-test"
PYTHON = HOME / "bin" / "python"
SOURCES = ("app.py", "agent", "traces", "pages", "tests")


def main(arguments: Sequence[str]) -> int:
    """Do it all; gives the exit code."""
    if "--fresh" in arguments:
        shutil.rmtree(HOME, ignore_errors=True)
    more = [argument for argument in arguments if argument != "--fresh"]
    install()
    for check in (("ruff", "check", *SOURCES), ("ruff", "format", "--check", *SOURCES), ("mypy",)):
        if code := module(*check):
            return code
    return module("pytest", *more) if more else everything()


def module(*command: str) -> int:
    """Run a module with its arguments; gives the exit code."""
    say(" ".join(command))
    return subprocess.run([PYTHON, "-m", *command], cwd=ROOT, check=False).returncode


def everything() -> int:
    """All tests; gives the exit code of the first that failed.

    Tests in the browser mostly wait, so they run beside all others, a file at a time, and beside each other when those
    have ended. What failed so runs once more alone: a browser on a machine whose processors are all taken can exceed
    any limit of time, and says nothing about the app by that.
    """
    waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for path in sorted((ROOT / "tests" / "browser").glob("test_*.py"), key=lambda path: -path.stat().st_size):
        waiting.put(path)
    told: dict[Path, subprocess.CompletedProcess[bytes]] = {}

    def in_turn() -> None:
        while True:
            try:
                path = waiting.get_nowait()
            except queue.Empty:
                return
            told[path] = subprocess.run(
                [PYTHON, "-m", "pytest", str(path)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )

    beside = threading.Thread(target=in_turn)
    beside.start()
    code = module("pytest", "-m", "not browser")
    in_turn()
    beside.join()
    for path, run_ in told.items():
        say(f"pytest {path.relative_to(ROOT)}")
        print(run_.stdout.decode(errors="replace"), flush=True)
    for path in [path for path, run_ in told.items() if run_.returncode]:
        code = code or module("pytest", "--last-failed", str(path))
    return code


def install() -> None:
    """The virtual environment with both lists of requirements, and a browser."""
    if not PYTHON.exists():
        say("virtual environment")
        made = subprocess.run([sys.executable, "-m", "venv", HOME], check=False)
        if made.returncode:
            apt("python3-venv")
            run([sys.executable, "-m", "venv", str(HOME)])
    say("requirements")
    lists = ("-r", "requirements.txt", "-r", "tests/requirements.txt")
    run([str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", *lists])
    if not (os.environ.get("CHROMIUM") or shutil.which("chromium")):
        say("chromium")
        apt("chromium")


def apt(package: str) -> None:
    """Install a Debian package, by sudo where that is needed."""
    rights = [] if os.geteuid() == 0 else ["sudo"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run([*rights, "apt-get", "update", "-qq"], environment)
    run([*rights, "apt-get", "install", "-y", "-qq", package], environment)


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command that must succeed."""
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if code:
        print(f"this failed with exit code {code}: {' '.join(command)}", file=sys.stderr)
        raise SystemExit(code)


def say(what: str) -> None:
    """Tell what comes next."""
    print(f"== {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
