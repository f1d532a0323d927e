"""What tests share: a tool that acts, a run that is begun, one that is played to its end, and the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent import FakeModel, Loop, Phase, RunResult, Tool, run
from agent.cli import main
from agent.protocol import violations


def _tool(answer: object = "ok", *, name: str = "act", ran: list[Any] | None = None, **options: Any) -> Tool:
    def act(**arguments: object) -> object:
        if ran is not None:
            ran.append((name, arguments))
        given = answer(**arguments) if callable(answer) else answer
        if isinstance(given, Exception):
            raise given
        return given

    return Tool(name=name, description="", parameters={"type": "object"}, func=act, **options)


def _started(*turns: Any, tools: list[Tool] | None = None, to: Phase | None = None, **options: Any) -> Loop:
    loop = Loop(FakeModel([*turns]), tools if tools is not None else [_tool()], **options)
    loop.start("go")
    while to is not None and loop.phase != to:
        assert loop.phase and not loop.waiting, f"the run does not come to its phase {to}"
        loop.advance()
    return loop


def _go(turns: list[Any], *tools: Tool, **options: Any) -> RunResult:
    result = run(FakeModel(turns), tools or [_tool()], "go", **options)
    assert violations(result.messages) == [], "whatever stops a run, its message list can be sent again"
    assert result.steps[-1].kind == ("final" if result.reason == "final" else "error")
    return result


@pytest.fixture
def make_tool() -> Callable[..., Tool]:
    """Makes the tool ``act``, which gives or raises ``answer``, or what ``answer`` returns; ``ran`` takes its calls."""
    return _tool


@pytest.fixture
def started() -> Callable[..., Loop]:
    """Begins a run of these turns of a fake model; ``to`` moves it on to that phase."""
    return _started


@pytest.fixture
def go() -> Callable[..., RunResult]:
    """Plays the turns of a fake model to the end of the run, which must be an end that fits its stop reason."""
    return _go


@pytest.fixture
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes away the settings of a live model that the environment of the tests may hold."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], no_settings_from_outside: None) -> Callable[..., tuple[int, str, str]]:
    """The command line in this process: gives its exit code, standard output and standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
