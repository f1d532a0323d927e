"""What litellm, through which many agents ask any provider, adds to the OpenAI Chat form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.usage import Usage
from traces.reply import Reply
from traces.wire import openai_chat


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body as litellm keeps it."""
    return replace(openai_chat.read_response(body), usage=read_usage(body.get("usage")))


def read_usage(data: Any) -> Usage | None:
    """Read a ``usage`` object that may give the cache in Anthropic's words. Its prompt holds the cache already."""
    if not isinstance(data, Mapping):
        return None
    cached = {
        "cached_tokens": data.get("cache_read_input_tokens", data.get("cache_read_tokens")),
        "cache_write_tokens": data.get("cache_creation_input_tokens", data.get("cache_write_tokens")),
    }
    details = data.get("prompt_tokens_details")
    known = {key: value for key, value in details.items() if value is not None} if isinstance(details, Mapping) else {}
    completion = data.get("completion_tokens_details") or {"reasoning_tokens": data.get("reasoning_tokens")}
    return Usage.from_openai(
        {**data, "prompt_tokens_details": {**cached, **known}, "completion_tokens_details": completion}
    )
