"""Tools of one's own out of a Python file: what is loaded, and what is said about a file that cannot be used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent import InputError, Loop
from agent.scripts import load_script, parse_script
from agent.toolbox import pick
from agent.toolbox.own import load_all, load_tools

ROOT = Path(__file__).parents[2]
GREET = '''\
from agent import Tool, tool


@tool
def greet(name: str) -> str:
    """Say hello.

    Args:
        name: whom to greet
    """
    return f"hello {name}"


def helper() -> int:
    return 1


same = greet
raw = Tool(name="raw", description="By hand.", parameters={}, func=lambda: "raw")
'''


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def test_the_tools_of_a_file_are_those_at_its_top_level_in_their_order(write: Any) -> None:
    tools = load_tools(write(GREET))
    assert [tool.name for tool in tools] == ["greet", "raw"]
    parameters = tools[0].schema()["function"]["parameters"]
    assert parameters["properties"]["name"]["description"] == "whom to greet"
    assert tools[0].run({"name": "Ann"}).value == "hello Ann"


def test_a_file_may_postpone_its_annotations_and_import_its_neighbour(write: Any) -> None:
    write("from dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n    x: int\n", "points_of_mine.py")
    path = write(
        "from __future__ import annotations\n"
        "from agent import tool\n"
        "from points_of_mine import Point\n\n\n"
        "@tool\ndef x_of(point: Point) -> int:\n    '''The x.'''\n    return point.x\n"
    )
    before = list(sys.path)
    (tool,) = load_tools(path)
    assert tool.run({"point": {"x": 3}}).value == 3
    assert sys.path == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "mine.py: there is no tool in it; write @tool above a function"),
        ("x = 1\ndef broken(:\n", "mine.py, line 2: it is no valid Python: "),
        ("import no_such_module_of_mine\n", "mine.py, line 1: it fails when it is loaded: ModuleNotFoundError: No mod"),
        ("def f():\n    return 1 / 0\n\n\nf()\n", "mine.py, line 2: it fails when it is loaded: ZeroDivisionError"),
        ("raise SystemExit(3)\n", "mine.py, line 1: it ends the program when it is loaded"),
        (
            "from agent import tool\n\n\n@tool\ndef f(x: print) -> str:\n    return x\n",
            "mine.py, line 4: the function 'f'",
        ),
        (
            "from agent import tool\n\n\n@tool\ndef add(a: int) -> int:\n    return a\n",
            "mine.py: there is already a tool called 'add'; give this one another name",
        ),
        (
            "from agent import Tool\nt = Tool(name='t', description='', parameters={'type': 'no'}, func=print)\n",
            "mine.py: the tool 't': ",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_explained(write: Any, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load_tools(write(text))
    assert words in str(caught.value)


def test_a_file_that_is_missing_or_no_text_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.py: the file with your tools cannot be read: No such file"):
        load_tools(tmp_path / "gone.py")
    (tmp_path / "bytes.py").write_bytes(b"\xff\x00")
    with pytest.raises(InputError, match=r"bytes\.py"):
        load_tools(tmp_path / "bytes.py")


def test_two_files_may_not_bring_the_same_name(write: Any) -> None:
    first, second = write(GREET, "one.py"), write(GREET, "two.py")
    with pytest.raises(InputError, match=r"two\.py: there is already a tool called 'greet'"):
        load_all([first, second])


def test_a_registry_and_a_script_can_hold_own_tools(write: Any) -> None:
    own = load_tools(write(GREET))
    assert pick(["add", "greet"], own=own).names == ("add", "greet")
    text = "turns:\n  - calls: [{name: greet, arguments: {name: Ann}}]\n  - done\n"
    script = parse_script(text, own=own)
    assert script.tools == ("greet",)
    loop: Loop = script.loop()
    loop.start(script.task)
    loop.finish()
    assert loop.messages[-2].text == "hello Ann"
    assert load_script("calc", own).tools == ("add", "multiply")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, "-m", "agent", *arguments]
    return subprocess.run(done, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_line_runs_own_tools(write: Any) -> None:
    path = write(GREET)
    script = write("tools: [greet]\nturns:\n  - calls: [{name: greet, arguments: {name: Ann}}]\n  - done\n", "s.yaml")
    done = command("run", str(script), "--tools-file", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "greet({'name': 'Ann'}) -> hello Ann" in done.stdout


def test_the_command_line_explains_a_wrong_file(write: Any) -> None:
    for arguments in (["run", "calc"], ["ask", "hello"]):
        done = command(*arguments, "--tools-file", str(write("x = \n")))
        assert (done.returncode, done.stdout) == (2, "")
        assert "line 1: it is no valid Python" in done.stderr
        assert "Traceback" not in done.stderr
