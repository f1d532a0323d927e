"""Tokens, cost and settings in the attributes of OpenTelemetry spans, in the words of every convention in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.usage import Usage
from traces.reply import Reply
from traces.unfold import first, number, unfold
from traces.wire.parts import words


def usage_of(attributes: Mapping[str, Any]) -> Usage | None:
    """Tokens; cached ones that are larger than the whole prompt were counted beside it, and are added to it."""

    def count(*keys: str) -> int | None:
        value = next((n for key in keys if (n := number(first(attributes, key))) is not None), None)
        return None if value is None or not 0 <= value < 1e15 else int(value)

    prompt = count(*_PROMPT)
    cached, written = count(*_CACHED), count(*_WRITTEN)
    if prompt is not None and (cached or 0) + (written or 0) > prompt:
        prompt += (cached or 0) + (written or 0)
    usage = Usage(
        prompt_tokens=prompt,
        completion_tokens=count(*_COMPLETION),
        total_tokens=count("llm.token_count.total", "llm.usage.total_tokens", "gen_ai.usage.total_tokens", *_TOTAL),
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=count(*_REASONING),
    )
    return None if usage == Usage() else usage


_PROMPT: tuple[str, ...] = (
    "llm.token_count.prompt",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.usage.prompt_tokens",
)
_PROMPT += ("ai.usage.inputTokens", "ai.usage.promptTokens")
_COMPLETION: tuple[str, ...] = (
    "llm.token_count.completion",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
)
_COMPLETION += ("llm.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens")
_TOTAL: tuple[str, ...] = ("ai.usage.totalTokens",)
_CACHED: tuple[str, ...] = ("llm.token_count.prompt_details.cache_read", "gen_ai.usage.cache_read.input_tokens")
_CACHED += ("gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.details.cache_read_tokens")
_CACHED += ("gen_ai.usage.details.cached_tokens", "ai.usage.cachedInputTokens", "gen_ai.usage.input_tokens.cached")
_WRITTEN: tuple[str, ...] = ("llm.token_count.prompt_details.cache_write", "gen_ai.usage.cache_creation.input_tokens")
_WRITTEN += ("gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.details.cache_write_tokens")
_REASONING: tuple[str, ...] = ("llm.token_count.completion_details.reasoning", "gen_ai.usage.details.reasoning_tokens")
_REASONING += ("gen_ai.usage.reasoning_tokens", "ai.usage.reasoningTokens", "gen_ai.usage.output_tokens.reasoning")


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
    return replace(
        said,
        usage=usage_of(attributes) or said.usage,
        finish_reason=said.finish_reason or words(reason),
        model=words(model) or said.model,
        cost=cost if cost is not None and 0 <= cost < 1e9 else None,
        first_token_ms=waited,
        at=None,
        started=None,
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
