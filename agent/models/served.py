"""Which models a server offers, so that nobody must type the name of the only one."""

from __future__ import annotations

import os

from agent.errors import InputError
from agent.models.openai_chat import OPENAI_URL, OpenAIModel
from agent.redact import redact_text

_TIMEOUT_S = 10.0


def model_names(base_url: str | None = None, api_key: str | None = None) -> list[str]:
    """The names that ``GET /models`` of an OpenAI-compatible server gives.

    Args:
        base_url: where the API begins; default: ``OPENAI_BASE_URL``, else OpenAI itself.
        api_key: default: ``OPENAI_API_KEY``.

    Raises:
        InputError: the URL or the key cannot be used, or the server did not say.
    """
    import openai

    url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).strip().removesuffix("/chat/completions")
    server = OpenAIModel("any", base_url=url, api_key=api_key)
    key = api_key or os.environ.get("OPENAI_API_KEY") or "no-key"
    try:
        with openai.OpenAI(base_url=url, api_key=key, timeout=_TIMEOUT_S, max_retries=0) as client:
            return [model.id for model in client.models.list().data or ()]
    except (openai.OpenAIError, ValueError, AttributeError, TypeError) as error:
        words = redact_text(" ".join(str(error).split()), secrets=[key])
        raise InputError(
            f"the server {server.provider} does not say which models it has, so one must be named ({words[:200]})"
        ) from error
