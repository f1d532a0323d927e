"""Usage: what one model call took in tokens. ``None`` means "not reported" and is never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_TOKENS = 10**18
"""A number as large is no count of tokens."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, or of several added up.

    Cached tokens are part of the prompt and reasoning tokens are part of the completion; a reader of another convention
    converts.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    estimated: bool = False
    """True when some of the numbers are our own count, not the provider's."""

    @property
    def total(self) -> int | None:
        """The total as reported, else prompt and completion where both are known."""
        if self.total_tokens is not None:
            return self.total_tokens
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    @classmethod
    def from_openai(cls, data: Any) -> Usage | None:
        """Read the ``usage`` object of the OpenAI Chat API and its relatives; None where it says nothing.

        Fields may be missing or null. DeepSeek's ``prompt_cache_hit_tokens`` is read as cached tokens.
        """
        if not isinstance(data, Mapping):
            return None
        prompt_details = _mapping(data.get("prompt_tokens_details"))
        completion_details = _mapping(data.get("completion_tokens_details"))
        cached = _count(prompt_details.get("cached_tokens"))
        usage = cls(
            prompt_tokens=_count(data.get("prompt_tokens")),
            completion_tokens=_count(data.get("completion_tokens")),
            total_tokens=_count(data.get("total_tokens")),
            cached_tokens=cached if cached is not None else _count(data.get("prompt_cache_hit_tokens")),
            cache_write_tokens=_count(prompt_details.get("cache_write_tokens")),
            reasoning_tokens=_count(completion_details.get("reasoning_tokens")),
        )
        return None if usage == cls() else usage

    @classmethod
    def sum(cls, parts: Iterable[Usage | None]) -> Usage:
        """Add what is known. A field that no part reports stays None; estimates make the sum an estimate."""
        totals: dict[str, int] = {}
        estimated = False
        for part in parts:
            if part is None:
                continue
            estimated = estimated or part.estimated
            for name in _COUNTS:
                value = part.total if name == "total_tokens" else getattr(part, name)
                if value is not None:
                    totals[name] = totals.get(name, 0) + value
        return cls(**totals, estimated=estimated)

    def to_dict(self) -> dict[str, Any]:
        """All fields, ``None`` where nothing was reported."""
        return {**{name: getattr(self, name) for name in _COUNTS}, "estimated": self.estimated}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Usage:
        """Read what :meth:`to_dict` wrote; what is not a count is left out."""
        return cls(**{n: _count(data.get(n)) for n in _COUNTS}, estimated=bool(data.get("estimated")))


_COUNTS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def reported_cost(usage: Any) -> float | None:
    """US dollars, which OpenRouter reports among the tokens; None where there are none, or no sum that can be true."""
    cost = usage.get("cost") if isinstance(usage, Mapping) else None
    if isinstance(cost, bool) or not isinstance(cost, (int, float)):
        return None
    return float(cost) if 0 <= cost < 1e9 else None


def _count(value: Any) -> int | None:
    if value is None or (value.__class__ is int and 0 <= value < MOST_TOKENS):
        return value  # as it nearly always is
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or value < 0:
        return None
    return int(value) if value < MOST_TOKENS else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
