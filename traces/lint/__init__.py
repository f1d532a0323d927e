"""The linter: what is wrong with a trace, where, why it matters, what it cost and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence

from agent.trace import Trace
from traces.lint import arguments, cache, claims, habits, leaks, loops, numbers, protocol, replies
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Material
from traces.sizes import Size

__all__ = ["RULES", "Finding", "Rule", "Severity", "lint"]

_GROUPS = (protocol, arguments, loops, replies, claims, cache, numbers, leaks, habits)
RULES: dict[str, Rule] = {rule.name: rule for group in _GROUPS for rule in group.RULES}
"""Every rule by its name, the protocol first."""


def lint(trace: Trace, sizes: Sequence[Size] | None = None) -> list[Finding]:
    """Everything that the rules find in a trace, in the order of its messages.

    It takes time in proportion to the length of the trace. What is about the run as a whole comes first.

    Args:
        trace: the trace.
        sizes: what :func:`traces.sizes.message_sizes` gave for it, where the caller has that already.
    """
    material = Material(trace, sizes)
    found = [finding for group in _GROUPS for finding in group.check(material)]
    return sorted(found, key=lambda finding: -1 if finding.message is None else finding.message)
