"""What the model is told where a tool fails: an error that it can read, without secrets, and never a crash."""

import asyncio
import json

import pytest

from agent.errors import ToolFailure
from agent.messages import ToolCall
from agent.tools import ToolRegistry, tool


class Falsy(Exception):
    def __bool__(self):
        return False


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "said", "retryable"),
    [
        (ValueError("too small"), "ValueError: too small", True),
        (KeyError("x"), "KeyError: 'x'", True),
        (RuntimeError(), "RuntimeError", True),
        (ConnectionError("refused"), "ConnectionError: refused", True),
        (FileNotFoundError("a.txt"), "FileNotFoundError: a.txt", True),
        (PermissionError("not yours"), "PermissionError: not yours", False),
        (NotImplementedError("later"), "NotImplementedError: later", False),
        (Falsy("empty"), "Falsy: empty", True),
        (Unspeakable(), "Unspeakable", True),
        (asyncio.CancelledError("gone"), "CancelledError: gone", True),
        (StopIteration(), "StopIteration", True),
        (ToolFailure("no such city: Atlantis"), "no such city: Atlantis", True),
        (ToolFailure("the shop is closed for good", retryable=False), "the shop is closed for good", False),
    ],
)
def test_an_exception_is_a_result(error, said, retryable):
    @tool
    def fail() -> str:
        raise error

    result = ToolRegistry([fail]).run(ToolCall("c", "fail"))
    assert result.value == {"error": said, "retryable": retryable}
    assert json.loads(result.text) == result.value
    assert (result.ok, result.retryable, result.timed_out) == (False, retryable, False)


def test_an_async_tool_that_fails_inside_a_running_loop_is_a_result():
    async def broken() -> str:
        raise ValueError("no")

    async def caller():
        return tool(name="broken")(lambda: broken()).run({})

    assert asyncio.run(caller()).value == {"error": "ValueError: no", "retryable": True}


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_the_wish_to_end_the_program_is_no_result(error):
    @tool
    def leave() -> str:
        raise error

    with pytest.raises(error):
        ToolRegistry([leave]).call(ToolCall("c", "leave"))


def test_an_error_text_holds_no_secret_and_no_address():
    @tool
    def fetch() -> str:
        raise RuntimeError(f"401 for Authorization: Bearer sk-abcdef0123456789abcdef in {object()!r}")

    said = ToolRegistry([fetch]).call(ToolCall("c", "fetch"))
    assert "sk-abcdef" not in said
    assert "0x" not in said
