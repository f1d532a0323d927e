"""Install what the tests need, then check and test everything. Standard library only: the one command of the README.

    python3 tests/run.py [--fresh] [PYTEST ARGUMENTS]

A virtual environment is kept in ``.venv-test`` (``--fresh`` begins with a new one). Chromium is installed by apt where
it is missing. The first check that fails ends the command with its exit code. Without arguments, the
tests run in parts beside each other, each told when it has ended.
"""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".venv-test"
PYTHON = HOME / "bin" / "python"
BROWSER = ROOT / "tests" / "browser"
AT_A_TIME = 3
"""Parts that run beside each other: one more than the processors, since a browser also waits."""
SHARES = 4
"""Parts of the tests in the browser. Each starts one browser, which parses the scripts of the page once."""
FEW = 5
"""Folders of so few files of tests run together with others."""
NO_TESTS = 5
"""The exit code of pytest where all tests of a part need something that is not there."""
SOURCES = ("app.py", "agent", "traces", "pages", "tests")


def main(arguments: Sequence[str]) -> int:
    """Do it all; gives the exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so would tests
    if "--fresh" in arguments:
        shutil.rmtree(HOME, ignore_errors=True)
    more = [argument for argument in arguments if argument != "--fresh"]
    install()
    for check in (("ruff", "check", *SOURCES), ("ruff", "format", "--check", *SOURCES)):
        if code := module(*check):
            return code
    return module("mypy") or module("pytest", *more) if more else everything()


def module(*command: str) -> int:
    """Run a module with its arguments; gives the exit code."""
    say(" ".join(command))
    return subprocess.run([PYTHON, "-m", *command], cwd=ROOT, check=False).returncode


def everything() -> int:
    """The type checker and all tests, in parts that run beside each other; gives the first exit code of a failure.

    Tests in the browser mostly wait, so three parts run at a time on two processors. What failed in a browser
    runs once more alone: on a machine whose processors are all taken it can exceed any limit of time, and says nothing
    about the app by that.
    """
    waiting: queue.SimpleQueue[tuple[str, ...]] = queue.SimpleQueue()
    for part in parts():  # what failed is remembered for each part by itself: they end at the same time
        waiting.put(("pytest", "-o", f"cache_dir=.pytest_cache/{Path(part[0]).stem}", *part))
    waiting.put(("mypy",))
    failed: list[tuple[tuple[str, ...], int]] = []
    printing = threading.Lock()

    def in_turn() -> None:
        while True:
            try:
                part = waiting.get_nowait()
            except queue.Empty:
                return
            command = [str(PYTHON), "-m", *part]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            with printing:
                say(" ".join(part))
                print(done.stdout.decode(errors="replace"), flush=True)
                if done.returncode not in (0, NO_TESTS):
                    failed.append((part, done.returncode))

    workers = [threading.Thread(target=in_turn) for _ in range(AT_A_TIME)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    code = 0
    for part, part_code in failed:
        again = part[-1].startswith(str(BROWSER.relative_to(ROOT)))
        code = code or (module(*part, "--last-failed") if again else part_code)
    return code


def parts() -> list[list[str]]:
    """Shares of the files in the browser, each folder of tests, and what is quick: the long ones begin first."""
    shares: list[list[Path]] = [[] for _ in range(SHARES)]
    for path in sorted(BROWSER.glob("test_*.py"), key=size, reverse=True):
        min(shares, key=lambda share: sum(map(size, share))).append(path)
    tests = [path for path in (ROOT / "tests").iterdir() if path != BROWSER]
    folders = {path: len(list(path.rglob("test_*.py"))) for path in tests if path.is_dir()}
    large = sorted((path for path in folders if folders[path] > FEW), key=lambda path: -folders[path])
    small = [path for path in folders if 0 < folders[path] <= FEW]
    quick = [*small, *(ROOT / "tests").glob("test_*.py")]
    return [[str(path.relative_to(ROOT)) for path in part] for part in (*shares, *([path] for path in large), quick)]


def size(path: Path) -> int:
    """How long a file of tests is, which tells about how long it takes."""
    return path.stat().st_size


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
