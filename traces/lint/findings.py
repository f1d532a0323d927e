"""What the linter says: a finding names its rule, the place, the evidence and the cost.

Sentences are English templates with named fields, so that a page can say them in another language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How bad a finding is. The order of the members is that of their weight."""

    ERROR = "error"
    """The next request would be refused, or what the trace says happened did not happen."""
    WARNING = "warning"
    """Tokens, calls or time were wasted, or an answer cannot be trusted."""
    NOTE = "note"
    """Worth knowing; nothing need be wrong."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that the linter looks for, in words for people."""

    name: str
    """Its id, in snake case."""
    severity: Severity
    title: str
    says: tuple[str, ...]
    """The sentences of its findings: templates with named fields, the usual one first."""
    why: str
    """Why it matters, one sentence."""
    fix: str
    """What to do about it, one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One place of a trace at which a rule holds."""

    rule: Rule
    says: int = 0
    """Which of the rule's sentences says what was found."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the fields of the sentence stand for. They may hold words of the trace, cut short; never a secret."""
    message: int | None = None
    """Position of the message to look at first; None: the finding is about the run as a whole."""
    step: int | None = None
    """Number of the step, from 1."""
    call_id: str | None = None
    """The tool call that it is about."""
    evidence: tuple[int, ...] = ()
    """Positions of all messages that show it, in order."""
    cost_tokens: int | None = None
    """Tokens that it cost; None: unknown, or it cost none."""
    cost_estimated: bool = False
    """True where :attr:`cost_tokens` is our own count, not the provider's."""
    cost_calls: int | None = None
    """Tool or model calls that were made for nothing; None: unknown, or none."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.rule.severity

    @property
    def text(self) -> str:
        """What was found: an English template with the fields of :attr:`facts`."""
        return self.rule.says[self.says]

    @property
    def sentence(self) -> str:
        """What was found, in English."""
        return self.text.format(**self.facts)

    def to_dict(self) -> dict[str, Any]:
        """JSON data; positions of messages from 0, as in the trace file."""
        return {
            "rule": self.rule.name,
            "severity": str(self.severity),
            "text": self.sentence,
            "title": self.rule.title,
            "why": self.rule.why,
            "fix": self.rule.fix,
            "message": self.message,
            "step": self.step,
            "call_id": self.call_id,
            "evidence": list(self.evidence),
            "cost_tokens": self.cost_tokens,
            "cost_estimated": self.cost_estimated,
            "cost_calls": self.cost_calls,
        }
