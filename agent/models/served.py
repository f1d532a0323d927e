"""Which models a server offers, so that nobody must type the name of the only one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent.errors import InputError, ModelError
from agent.models.http_errors import failed_connection, failed_status, failed_wait
from agent.models.openai_chat import OPENAI_URL, OpenAIModel

if TYPE_CHECKING:
    import openai

_TIMEOUT_S = 10.0
_NO_LIST = frozenset((404, 405, 501))
"""What a server answers that has models but no list of them."""


def model_names(base_url: str | None = None, api_key: str | None = None, *, timeout_s: float = _TIMEOUT_S) -> list[str]:
    """The names that ``GET /models`` of an OpenAI-compatible server gives.

    Args:
        base_url: where the API begins; default: ``OPENAI_BASE_URL``, else OpenAI itself.
        api_key: default: ``OPENAI_API_KEY``.
        timeout_s: seconds to wait, never more than 10: a list takes no time.

    Raises:
        InputError: the URL or the key cannot be used, or the server has no list of models.
        ModelError: the server cannot be reached, refused the key or failed, in its own words.
    """
    import openai

    url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).strip().removesuffix("/chat/completions")
    server = OpenAIModel("any", base_url=url, api_key=api_key)
    key, wait_s = server.secrets[0], min(_TIMEOUT_S, timeout_s)
    try:
        with openai.OpenAI(base_url=server.base_url, api_key=key, timeout=wait_s, max_retries=0) as client:
            return [model.id for model in client.models.list().data or ()]
    except openai.APITimeoutError:
        words = f"The model server {server.provider} sent nothing for {wait_s:g} seconds."
        raise failed_wait("timeout", words).error from None
    except openai.APIStatusError as error:
        raise _refusal(error, server) from None
    except openai.APIConnectionError as error:
        words = f"The model server {server.provider} cannot be reached ({error.__cause__ or error})."
        raise failed_connection(words, server.secrets).error from None
    except (openai.OpenAIError, ValueError, AttributeError, TypeError):
        words = f"The answer of {server.provider} is no list of models. Check the base URL (it usually ends in /v1)."
        raise ModelError(words) from None


def _refusal(error: openai.APIStatusError, server: OpenAIModel) -> InputError | ModelError:
    if error.status_code in _NO_LIST:
        text = f"the server {server.provider} has no list of models, so the model must be named"
        return InputError(f"{text} (status {error.status_code})")
    return failed_status(error.status_code, error.response.headers, error.response.text, server.secrets).error
