"""Evidence: outside checks that say whether the task is done, whatever the model says about it.

A check is any callable that takes the trace and gives :class:`~agent.trace.Evidence`, or plainly True, False or None.
The dataclasses here are the common ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agent import jsontext
from agent.trace import Evidence, Trace

_SHOWN = 80
"""Characters of an answer that the words of a check repeat."""


class Check(Protocol):
    """One question about a finished run. It looks at facts (files, tables, results), not at what the model claims."""

    def __call__(self, trace: Trace) -> Evidence | bool | None:
        """The answer. None: it cannot be told. An exception is reported as "cannot be told", with its words."""
        ...


def verify(checks: Iterable[Check], trace: Trace) -> tuple[bool | None, list[Evidence]]:
    """Ask every check: ``(verified, answers)``, the answers in the order of the checks. Never raises.

    ``verified`` is False when some check failed, None when nothing was checked or some answer is unknown, else True.
    """
    answers = [_ask(check, trace) for check in checks]
    results = [answer.ok for answer in answers]
    if False in results:
        return False, answers
    return (True if results and None not in results else None), answers


def _ask(check: Check, trace: Trace) -> Evidence:
    name = getattr(check, "__name__", None) or repr(check)
    try:
        answer = check(trace)
    except Exception as error:
        return Evidence(check=name, ok=None, detail=f"the check itself failed: {type(error).__name__}: {error}")
    if not isinstance(answer, Evidence):
        return Evidence(check=name, ok=None if answer is None else bool(answer))
    return answer


@dataclass(frozen=True, slots=True)
class AnswerContains:
    """The final answer holds this text."""

    text: str

    def __call__(self, trace: Trace) -> Evidence:
        """Look at the final answer; upper and lower case count."""
        final = trace.outcome.final
        name = f"the answer contains {self.text!r}"
        if self.text in final:
            return Evidence(check=name, ok=True)
        shown = final if len(final) <= _SHOWN else f"{final[:_SHOWN]}…"
        return Evidence(check=name, ok=False, detail=f"the answer is {shown!r}" if final else "there is no answer")


@dataclass(frozen=True, slots=True)
class ToolSucceeded:
    """A tool ran and gave a result that is not an error."""

    name: str
    arguments: dict[str, Any] | None = None
    """The arguments that it must have been given; None: any."""

    def __call__(self, trace: Trace) -> Evidence:
        """Look at what was run, not at what was asked for."""
        runs = [run for step in trace.steps for run in step.tools if run.name == self.name]
        asked = [run for run in runs if self.arguments is None or run.arguments == self.arguments]
        wanted = "" if self.arguments is None else f" with {jsontext.dumps(self.arguments)}"
        name = f"{self.name} succeeded{wanted}"
        if any(run.ok for run in asked):
            return Evidence(check=name, ok=True)
        if asked:
            return Evidence(check=name, ok=False, detail="it gave only errors")
        detail = "it was never called with these arguments" if runs else "it was never called"
        return Evidence(check=name, ok=False, detail=detail)


@dataclass(frozen=True, slots=True)
class FileContains:
    """A file exists and, where a text is given, holds it."""

    path: Path
    text: str = ""

    def __call__(self, trace: Trace) -> Evidence:
        """Read the file as it is now."""
        what = f"contains {self.text!r}" if self.text else "exists"
        name = f"the file {self.path.name} {what}"
        if not self.path.is_file():
            return Evidence(check=name, ok=False, detail="there is no such file")
        ok = not self.text or self.text in self.path.read_text(encoding="utf-8")
        return Evidence(check=name, ok=ok, detail="" if ok else "the text is not in it")
