"""What learners write runs apart: every way out that we know ends in a sentence, and honest programs work."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from traces.lessons.exercises.sandbox import process
from traces.lessons.exercises.sandbox.process import run_apart
from traces.lessons.exercises.sandbox.restricted import ProgramError
from traces.lessons.exercises.sandbox.tool_work import work

ROOT = Path(__file__).parents[3]
RUN = {"arguments": {"a": 1}, "task": "What?", "answer": "That."}


def tool(code: str, *calls: dict[str, Any], **options: Any) -> dict[str, Any]:
    return run_apart("tool", {"calls": list(calls), "run": RUN}, code, **options)


def here(code: str) -> dict[str, Any]:
    try:
        return work(code, {"calls": [{"a": 1}], "run": RUN})
    except ProgramError as error:
        return {"remarks": [said.to_dict() for said in error.remarks]}


def body(code: str) -> str:
    """A tool with one parameter that does this."""
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    return f"@tool\ndef act(a: int = 1):\n{lines}\n"


def refusal(code: str, *, apart: bool = True, **options: Any) -> dict[str, Any]:
    """The one sentence, in both languages, that a program ends in.

    Args:
        apart: in a process of its own; else the first wall alone has to hold, which takes no time.
    """
    answer = tool(code, {"a": 1}, **options) if apart else here(code)
    if "results" in answer:  # a tool may fail: then the model is told
        (result,) = answer["results"]
        assert not result["ok"], result
        return {"en": json.loads(result["text"])["error"], "line": None}
    (said, *_) = answer["remarks"]
    assert said["en"]
    assert any("\u4e00" <= letter <= "\u9fff" for letter in said["zh"])
    assert "Traceback" not in said["en"]
    return dict(said)


# ---- what an honest program can do ----

EVERYTHING = '''
import math
from enum import Enum
from typing import Literal, Optional
from agent import tool, ToolFailure

class Size(Enum):
    """How large it is."""
    SMALL = "s"
    LARGE = "l"

RATES = {"s": 1, "l": 2}

def rate(size: Size) -> int:
    found: int = RATES[size.value]
    found += 0
    return found

@tool(name="price", description="Prices something.")
def any_name(
    count: int,
    size: Size = Size.SMALL,
    kind: Literal["new", "used"] = "new",
    tags: list[str] | None = None,
    more: Optional[dict[str, float]] = None,
    exact: bool = False,
):
    """Not shown.

    Args:
        count: how many
    """
    if count < 0:
        raise ToolFailure("count must not be negative", retryable=False)
    first, *rest = [rate(size) * n for n in range(count + 1)]
    names = sorted(tags or [], key=lambda each: -len(each))
    print("counted", count)
    return {"sum": sum(rest) + first, "root": math.floor(math.sqrt(count)), "text": f"{count:03d} {names!r}"}
'''


def test_an_honest_program_can_use_what_a_tool_needs() -> None:
    answer = tool(EVERYTHING, {"count": 4, "size": "l", "tags": ["a", "bb"]}, {"count": -1}, {"count": 1, "size": "x"})
    assert answer["remarks"] == []
    first, negative, wrong = answer["results"]
    assert json.loads(first["text"]) == {"sum": 20, "root": 2, "text": "004 ['bb', 'a']"}
    assert json.loads(negative["text"]) == {"error": "count must not be negative", "retryable": False}
    assert not wrong["ok"]
    about = answer["schema"]["function"]
    assert (about["name"], about["description"]) == ("price", "Prices something.")
    properties = about["parameters"]["properties"]
    assert properties["count"] == {"description": "how many", "type": "integer"}
    assert properties["size"]["enum"] == ["s", "l"]
    assert properties["kind"]["enum"] == ["new", "used"]
    assert properties["tags"]["anyOf"] == [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}]
    assert about["parameters"]["required"] == ["count"]
    assert answer["printed"].startswith("counted 4\n")


def test_the_docstring_of_a_tool_that_prints_reaches_the_model() -> None:
    answer = tool('@tool\ndef act(a: int):\n    """It acts."""\n    print(a)\n    return a\n', {"a": 1})
    assert answer["schema"]["function"]["description"] == "It acts."


def test_the_run_is_one_of_the_real_loop() -> None:
    answer = tool("@tool\ndef double(a: int):\n    return 2 * a\n")
    assert [message["role"] for message in answer["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert answer["messages"][2]["content"] == "2"


# ---- ways out through names ----

NAMES = [
    "().__class__.__base__.__subclasses__()",
    "f'{().__class__}'",
    "'{0.__class__}'.format(a)",
    "'{a.__class__}'.format_map({'a': a})",
    "str.format('{0.__class__}', a)",
    "getattr(a, '__class__')",
    "setattr(a, 'x', 1)",
    "hasattr(a, '__class__')",
    "type(a)",
    "type('X', (), {})",
    "vars()",
    "globals()",
    "locals()",
    "dir(a)",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'eval')",
    "open('/etc/passwd')",
    "input()",
    "breakpoint()",
    "help()",
    "memoryview(b'a')",
    "object()",
    "super()",
    "__import__('os')",
    "__builtins__",
    "__build_class__",
    "act.__globals__",
    "act.__code__",
    "(lambda: 0).func_globals",
    "(x for x in [1]).gi_frame",
    "(x for x in [1]).gi_frame.f_back.f_globals",
    "(x for x in [1]).gi_code",
    "a.real.__class__",
    "_getattr_(a, '__class__')",
    "_print_",
    "tool.__closure__",
]


@pytest.mark.parametrize("expression", NAMES)
def test_nothing_leads_from_a_value_to_the_inside_of_python(expression: str) -> None:
    assert "cannot be used here" in refusal(body(f"return {expression}"), apart=False)["en"]


STATEMENTS = [
    "import os",
    "import sys as agent",
    "from os import path",
    "import enum.os",
    "from . import process",
    "from __future__ import annotations",
    "from agent import Loop",
    "from agent import *",
    "from enum import sys",
    "import importlib",
    "async def f(): pass",
    "with open('x'): pass",
    "try:\n    pass\nexcept* ValueError:\n    pass",
    "match 1:\n    case 1: pass",
    "class A: pass",
    "class A(str): pass",
    "class A(Exception): pass",
    "class A(metaclass=tool): pass",
    "from enum import Enum\nclass A(Enum):\n    def f(self): return 1",
    "from enum import Enum\nclass A(Enum):\n    _missing_ = 1",
    "from enum import Enum\nclass A(Enum):\n    B = lambda: 1",
    "from enum import Enum\n@tool\nclass A(Enum):\n    B = 1",
    "from enum import Enum\nclass A(Enum, Exception):\n    B = 1",
    "@print\ndef f(): pass",
    "@(lambda f: f)\ndef f(): pass",
    "@tool(name=open)\ndef f(): pass",
    "@tool(timeout=1)\ndef f(): pass",
    "def f(x=open('/etc/passwd')): pass",
    "def f(x=().__class__): pass",
    "a = 1\na.x = 2",
    "del ().x",
    "global __builtins__",
    "tool = 1\ntool.x = 2",
    "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame",
    "try:\n    1 / 0\nexcept Exception as e:\n    e.with_traceback(None)",
    "try:\n    ''.nothing\nexcept Exception as e:\n    e.obj",
    "Literal['a']",
    "Enum('X', {'A': 1, '__str__': lambda self: 'x'})",
    "from enum import Enum\nclass A(Enum): pass",
    "from enum import Enum\nclass A(Enum):\n    B = 1\nA('X', {'__str__': print})",
    "import math as _getattr_",
    "from math import pi as _getattr_",
    "def _getattr_(a, b): return a",
    "def f(_getattr_): return a",
    "def f(*_getattr_): return a",
    "f = lambda _getattr_: 1",
    "for _getattr_ in [1]: pass",
    "x = [1 for _write_ in [1]]",
    "x = (_getattr_ := 1)",
    "try:\n    1 / 0\nexcept Exception as _getattr_: pass",
    "__name__ = 'os'",
    "x: ().__class__ = 1",
    "''.join.__self__",
    "tool(len)",
    "tool(tool)",
    "int.mro()",
    "math.sys",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_statement_opens_a_way(statement: str) -> None:
    refusal(f"{statement}\n{body('return 1')}" if "__future__" not in statement else statement, apart=False)


HINTS = [
    '\'__import__("os").system("true")\'',
    "open('/etc/passwd')",
    "list['os']",
    "Optional['os']",
    "Literal[open('x')]",
    "().__class__",
    "a.b",
    "object",
    "type",
    "[int][0]",
    "dict[int, str]",
    "(int if True else str)",
    "f'{1}'",
    "list[" * 12 + "int" + "]" * 12,
]


@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_is_read_and_never_evaluated(hint: str) -> None:
    said = refusal(f"@tool\ndef act(a: {hint}):\n    return 1\n", apart=False)
    assert said["line"] == 2


def test_another_value_under_the_name_of_a_type_is_no_hint() -> None:
    answer = tool("int = open = 3\n@tool\ndef act(a: int):\n    return 1\n", {"a": 1})
    assert answer["schema"]["function"]["parameters"]["properties"]["a"] == {"type": "integer"}


# ---- ways to use up the machine ----


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("while True: pass", "takes too long"),
        ("return 10 ** 10 ** 8 % 7", "takes too long"),
        ("return sum(n for n in range(10 ** 12))", "takes too long"),
        ("return 'a' * 10 ** 10", "too much memory"),
        ("x = [0]\nwhile True: x.append('a' * 10 ** 6)", "memory"),
        ("while True:\n    try:\n        act(1)\n    except Exception: pass", "takes too long"),
    ],
)
def test_a_program_that_takes_too_much_is_ended(code: str, words: str) -> None:
    assert words in refusal(f"def act(a): return act(a)\n\ndef go():\n{_indented(code)}\n\ngo()\n")["en"]


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.splitlines())


@pytest.mark.parametrize(
    "code",
    [
        "def f(): return f()\nf()",
        "x = []\nfor _ in range(100000): x = [x]\nprint(x)",
        "(" * 3000,
        "[" * 90 + "]" * 90 + "\nx = 1 +" * 2000,
        "x = " + "-" * 15000 + "1",
        "\0",
        "\ud800",
        "def f(:",
    ],
)
def test_a_program_that_is_too_deep_or_no_python_ends_in_a_sentence(code: str) -> None:
    refusal(code)


def test_what_is_printed_and_given_back_is_cut() -> None:
    answer = tool(body("for n in range(5000): print('a' * 1000)\nreturn 'b' * 10 ** 6"), {"a": 1})
    assert len(answer["printed"]) == 5000
    assert len(answer["results"][0]["text"]) == 2000
    assert len(answer["messages"][2]["content"]) == 2000


def test_what_comes_back_can_stand_on_a_page() -> None:
    answer = tool("@tool\ndef act(a: int):\n    '''\\ud800'''\n    print('\\ud800')\n    return '\\ud800'\n", {"a": 1})
    assert answer["printed"].startswith("\ufffd\n")
    assert json.dumps(answer, ensure_ascii=False).encode()


def test_a_value_that_holds_itself_is_no_result_without_end() -> None:
    answer = here(body("x = []\nx.append(x)\nreturn [x, act, {1, 2}]"))
    assert "<cycle>" in answer["results"][0]["text"]


def test_the_time_limit_holds_where_nothing_else_does() -> None:
    said = refusal("while True: pass", wall_s=0.7)
    assert "takes too long" in said["en"]


def test_a_long_program_is_not_even_begun() -> None:
    assert "too long" in refusal("#" * 30_000)["en"]


def test_programs_run_a_few_at_a_time_and_all_come_to_their_end() -> None:
    answers: list[dict[str, Any]] = []
    several = [threading.Thread(target=lambda: answers.append(tool(body("return a"), {"a": 7}))) for _ in range(5)]
    for each in several:
        each.start()
    for each in several:
        each.join()
    assert [answer["results"][0]["text"] for answer in answers] == ["7"] * 5


def test_who_waits_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "WAIT_S", 0.01)
    held = [process._slots().acquire() for _ in range(process.SLOTS)]
    try:
        assert "Try again" in refusal(body("return 1"))["en"]
    finally:
        for _ in held:
            process._slots().release()


# ---- the second wall, for who is through the first ----

BEHIND = {
    "a file of the system": "open('/etc/passwd')",
    "a file of the project": f"open({str(ROOT / 'README.md')!r})",
    "a file to write": "open('out.txt', 'w')",
    "a library to write over": f"open({str(ROOT / 'agent' / 'loop.py')!r}, 'a')",
    "the environment of the server": "open('/proc/self/environ')",
    "another program": "import subprocess; subprocess.run(['true'])",
    "a shell": "import os; os.system('true')",
    "a fork": "import os; os.fork()",
    "a signal to the server": "import os; os.kill(os.getppid(), 0)",
    "a folder": "import os; os.listdir('/')",
    "a socket": "import socket; socket.socket()",
    "a name on the network": "import socket; socket.getaddrinfo('localhost', 80)",
    "a library in C": "import ctypes; ctypes.CDLL(None)",
    "another interpreter, which would know of no wall": (
        '__import__("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters").create()'
    ),
    "the names of the wall": (
        "walls._REFUSED = ('x',); walls._LIBRARY = ''; walls._refusal = walls._roots = print; open('/etc/passwd')"
    ),
    "the names of Python": (
        "import builtins, pathlib; pathlib.PurePath.is_relative_to = lambda *_: True; "
        "builtins.any = builtins.isinstance = lambda *_: True; "
        "builtins.str = type('str', (str,), {'startswith': any, 'endswith': any}); open('/etc/passwd')"
    ),
    "a folder beside a library": "import os; os.listdir(os.path.dirname(os.__file__) + '-beside')",
    "the way up from a library": "import os; open(os.path.dirname(os.__file__) + '/../../x.py')",
    "more memory": "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
}


@pytest.mark.parametrize("code", BEHIND.values(), ids=BEHIND)
def test_the_process_itself_can_reach_nothing(code: str, tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import subprocess, socket, ctypes, os\n"
        "from traces.lessons.exercises.sandbox import walls\n"
        "walls.close(2)\n"
        f"try:\n    {code.replace('; ', chr(10) + '    ')}\n"
        "except (PermissionError, RuntimeError, OSError) as error:\n    print('refused', type(error).__name__)\n"
        "else:\n    print('done')\n"
    )
    command = [sys.executable, "-I", "-B", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("refused"), done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


def test_a_library_can_still_be_loaded_behind_the_wall(tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from traces.lessons.exercises.sandbox import walls\n"
        "walls.close(2)\nimport colorsys\nprint(colorsys.rgb_to_hsv(0, 0, 0))\n"
    )
    command = [sys.executable, "-I", "-B", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("(0"), done.stderr


def test_a_program_ends_also_when_the_server_is_gone(tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from traces.lessons.exercises.sandbox import walls\n"
        "walls.end_after(0.5)\nwalls.close(5)\n"
        "while True: pass\n"
    )
    done = subprocess.run([sys.executable, "-I", "-B", "-c", program], cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 1
