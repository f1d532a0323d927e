"""What went wrong between us and a model server: the provider's words, the kind of failure, whether to try again.

An error arrives as an HTTP status, as a body with status 200, as a piece of a stream, or as no answer at all. All of
them become one :class:`CallFailed`. No key gets through: every word passes :mod:`agent.redact`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping
from typing import Any

from agent.errors import ModelError, ModelErrorKind
from agent.redact import redact, redact_text

LONGEST_WAIT_S = 120.0
"""A server that asks to wait longer than this gets no second try within the call."""

_SHOWN = 500
_RETRIED = frozenset((408, 409, 429))
_OVERFLOW_CODES = frozenset(("context_length_exceeded", "exceed_context_size_error", "string_above_max_length"))
_OVERFLOW_WORDS = re.compile(
    r"maximum context length|context_length_exceeded|exceeds? the (?:available |model's )?(?:maximum )?context"
    r"|prompt is too long|input token count|too large for model with|greater than the context length",
    re.IGNORECASE,
)
_QUOTA_CODES = frozenset(("insufficient_quota", "billing_hard_limit_reached", "billing_not_active"))
_HINTS = {
    401: "Check the API key.",
    404: "Check the base URL (it usually ends in /v1) and the model name.",
}


class CallFailed(Exception):
    """One attempt at a model call failed."""

    def __init__(self, error: ModelError, *, retryable: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.retryable = retryable
        self.retry_after_s = retry_after_s


def failed_status(status: int, headers: Mapping[str, str], body: str, secrets: Collection[str]) -> CallFailed:
    """An HTTP status of 400 or above.

    400, 401, 403, 404 and an exhausted quota are final; 408, 409, 429 and 5xx may be tried again. The context window of
    the model being too small is a kind of its own, in the words of OpenAI, vLLM, llama.cpp, Mistral and Gemini.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = body
    words, code = _words_and_code(data)
    overflow = status != 429 and _is_overflow(words, code)
    retryable = (status in _RETRIED or status >= 500) and not overflow and code not in _QUOTA_CODES
    error = _model_error(
        f"The model server answered {status}: {words or 'no explanation'}{_hint(words, status)}",
        secrets,
        kind="context_overflow" if overflow else "provider",
        status=status,
        code=code,
        raw=data,
    )
    return CallFailed(error, retryable=retryable, retry_after_s=_retry_after(headers))


def _hint(words: str, status: int) -> str:
    """What the user can do about this status, as a sentence after the server's words."""
    hint = _HINTS.get(status)
    return "" if hint is None else f" {hint}" if words.rstrip().endswith((".", "!", "?")) else f". {hint}"


def failed_body(data: Any, secrets: Collection[str]) -> CallFailed:
    """A body without an answer although the status was 200: an error object, or nothing at all.

    A code in the body that is an HTTP status counts as one.
    """
    words, code = _words_and_code(data)
    status = int(code) if code is not None and code.isdigit() and 400 <= int(code) <= 599 else None
    if status is not None:
        return failed_status(status, {}, json.dumps(data), secrets)
    overflow = _is_overflow(words, code)
    text = f"The model server reported an error: {words}" if words else "The model server sent no answer: no choices."
    return CallFailed(
        _model_error(text, secrets, kind="context_overflow" if overflow else "provider", code=code, raw=data)
    )


def failed_connection(what: str, secrets: Collection[str]) -> CallFailed:
    """No answer, or only a part of one: refused, reset, cut. May be tried again."""
    return CallFailed(_model_error(what, secrets, kind="connection"), retryable=True)


def failed_wait(kind: ModelErrorKind, what: str) -> CallFailed:
    """The wait for an answer was ended from our side: time is up, or the user stopped the run."""
    return CallFailed(ModelError(what, kind=kind))


def _model_error(
    text: str,
    secrets: Collection[str],
    *,
    kind: ModelErrorKind,
    status: int | None = None,
    code: str | None = None,
    raw: Any = None,
) -> ModelError:
    return ModelError(redact_text(text, secrets), kind=kind, status=status, code=code, raw=redact(raw, secrets))


def _words_and_code(data: Any) -> tuple[str, str | None]:
    """The explanation and the code of an error body, in the shapes that servers use."""
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, Mapping):
        return _short(data) if isinstance(data, str) else "", None
    error = data.get("error")
    if isinstance(error, str):
        error = {"message": error, "code": data.get("code")}
    if not isinstance(error, Mapping):
        error = data
    words = error.get("message") or error.get("detail") or error.get("msg") or ""
    if not words and error is not data:
        words = json.dumps(error, ensure_ascii=False)
    if isinstance(about := error.get("metadata"), Mapping) and about.get("raw"):
        words = f"{words}: {about['raw']}"  # OpenRouter: what the host behind it said
    code, kind = error.get("code"), error.get("type")
    named = kind if kind in _QUOTA_CODES or kind in _OVERFLOW_CODES or code in (None, "") else code
    return _short(words if isinstance(words, str) else json.dumps(words)), None if named is None else str(named)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _is_overflow(words: str, code: str | None) -> bool:
    return code in _OVERFLOW_CODES or _OVERFLOW_WORDS.search(words) is not None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    from email.utils import parsedate_to_datetime

    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
