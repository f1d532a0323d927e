"""Tokens, cost and settings in the attributes of OpenTelemetry spans, in the words of every convention in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.usage import Usage
from traces.reply import Reply
from traces.unfold import first, number, possible, unfold
from traces.wire.parts import words

_TOKENS = {
    "prompt_tokens": (
        "llm.token_count.prompt",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.usage.prompt_tokens",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
    ),
    "completion_tokens": (
        "llm.token_count.completion",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.usage.completion_tokens",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
    ),
    "total_tokens": (
        "llm.token_count.total",
        "llm.usage.total_tokens",
        "gen_ai.usage.total_tokens",
        "ai.usage.totalTokens",
    ),
    "cached_tokens": (
        "llm.token_count.prompt_details.cache_read",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "gen_ai.usage.details.cached_tokens",
        "gen_ai.usage.input_tokens.cached",
        "ai.usage.cachedInputTokens",
    ),
    "cache_write_tokens": (
        "llm.token_count.prompt_details.cache_write",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
    ),
    "reasoning_tokens": (
        "llm.token_count.completion_details.reasoning",
        "gen_ai.usage.details.reasoning_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.output_tokens.reasoning",
        "ai.usage.reasoningTokens",
    ),
}
"""Where each count stands, in the words of every convention."""


def tokens_of(value: Any) -> int | None:
    """A count of tokens, which may be written as text; None for anything else."""
    found = number(value)
    return int(found) if found is not None and 0 <= found < 1e15 else None


def cost_of(value: Any) -> float | None:
    """US dollars, which may be written as text. A cost of 0 means that the tool knows no price: None."""
    found = number(value)
    return found if found is not None and 0 < found < 1e9 else None


def usage_of(attributes: Mapping[str, Any]) -> Usage | None:
    """Tokens; cached ones that are larger than the whole prompt were counted beside it, and are added to it."""
    counts: dict[str, int] = {}
    for name, keys in _TOKENS.items():
        for key in possible(attributes, keys):
            value = first(attributes, key)
            if value is not None and (count := tokens_of(value)) is not None:
                counts[name] = count
                break
    if not counts:
        return None
    beside = counts.get("cached_tokens", 0) + counts.get("cache_write_tokens", 0)
    if beside > counts.get("prompt_tokens", beside):
        counts["prompt_tokens"] += beside
    return Usage.from_dict(counts)


def completed(usage: Usage, more: Usage) -> Usage:
    """``usage`` with the cached and the reasoning tokens that only another record of the same call knows."""
    return replace(
        usage,
        cached_tokens=usage.cached_tokens if usage.cached_tokens is not None else more.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens if usage.reasoning_tokens is not None else more.reasoning_tokens,
    )


def numbers_of(attributes: Mapping[str, Any], said: Reply) -> Reply:
    """The numbers of a model call: those of the attributes, then those that stand in the words themselves."""
    reasons = unfold(first(attributes, "gen_ai.response.finish_reasons", "ai.response.finishReason"))
    reason = reasons[0] if isinstance(reasons, list) and reasons else reasons
    model = first(attributes, "gen_ai.response.model", "ai.response.model", "llm.response.model", "llm.model_name")
    cost = number(first(attributes, "operation.cost", "llm.cost.total", "gen_ai.usage.cost"))
    waited = number(first(attributes, "ai.response.msToFirstChunk", "ai.stream.msToFirstChunk"))
    return Reply(
        usage=usage_of(attributes) or said.usage,
        finish_reason=said.finish_reason or words(reason),
        model=words(model) or said.model,
        cost=cost if cost is not None and 0 <= cost < 1e9 else None,
        first_token_ms=waited,
        error=said.error,
        id=said.id,
        unread=said.unread,
    )


def settings_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Temperature, limits and the like of a request."""
    given = unfold(first(attributes, "llm.invocation_parameters"))
    if isinstance(given, dict):
        return {key: value for key, value in given.items() if key not in ("messages", "tools", "functions", "model")}
    start = "gen_ai.request."
    return {
        key.removeprefix(start): value
        for key, value in attributes.items()
        if isinstance(key, str) and key.startswith(start) and key != "gen_ai.request.model" and key.count(".") == 2
    }
