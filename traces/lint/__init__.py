"""The linter: what is wrong with a trace, where, why it matters, what it cost and how to mend it."""

from __future__ import annotations

from agent.trace import Trace
from traces.lint.findings import Finding, Rule, Severity

__all__ = ["Finding", "Rule", "Severity", "lint"]


def lint(trace: Trace) -> list[Finding]:
    """Everything that the rules find in a trace, in the order of its messages. Never raises.

    It takes time in proportion to the length of the trace. What is about the run as a whole comes first.
    """
    return []
