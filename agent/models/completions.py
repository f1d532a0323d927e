"""The body of a reply (``chat.completion``), or the reason why there is none, read into a :class:`ModelReply`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from agent.models.base import ModelReply
from agent.models.http_errors import failed_body, failed_connection
from agent.models.replies import Reading, read_message
from agent.models.streams import MALFORMED
from agent.models.text_calls import find_text_calls
from agent.usage import Usage, reported_cost

_TEXT_CALL = (
    "The model wrote a tool call as text and the server did not read it as one. Start the server with its tool-call "
    "parser (llama.cpp: --jinja; vLLM: --enable-auto-tool-choice --tool-call-parser), or allow text calls."
)


class CompletionReader:
    """Reads what one request was answered with.

    Args:
        names: the tools that were on offer.
        secrets: values that no error may show.
        text_calls: turn calls that stand in the text into real ones.
    """

    def __init__(self, names: Collection[str], secrets: Collection[str], *, text_calls: bool = False) -> None:
        self._names = names
        self._secrets = secrets
        self._text_calls = text_calls

    def parse(self, data: bytes) -> Any:
        """The JSON of a whole body.

        Raises:
            CallFailed: it is none; most often the base URL names some web page.
        """
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            start = data[:200].decode("utf-8", "replace")
            words = f"its answer is no JSON, so the base URL may be wrong: {start!r}"
            raise failed_body({"error": words}, self._secrets) from None

    def parse_chunk(self, data: bytes) -> Mapping[str, Any]:
        """The JSON of one event of a stream.

        Raises:
            CallFailed: it is damaged, or an error in the middle of the stream.
        """
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            raise failed_connection("A piece of the stream was damaged: it is no JSON.", self._secrets) from None
        if not isinstance(chunk, Mapping) or chunk.get("error"):
            raise failed_body(chunk, self._secrets)
        return chunk

    def read(self, payload: Any, *, malformed: bool = False) -> ModelReply:
        """Read a ``chat.completion``.

        Args:
            payload: the JSON of the body.
            malformed: no call may run, because the pieces of the stream could not be told apart.

        Raises:
            CallFailed: it holds an error, or no message.
        """
        choices = payload.get("choices") if isinstance(payload, Mapping) and not payload.get("error") else None
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
        message = choice.get("message")
        if choice.get("error") or not isinstance(message, Mapping):
            raise failed_body({"error": choice["error"]} if choice.get("error") else payload, self._secrets)
        finish_reason = choice.get("finish_reason")
        finish_reason = finish_reason if isinstance(finish_reason, str) else None
        reading = self._checked(read_message(message, finish_reason=finish_reason), message, malformed)
        usage, model = payload.get("usage"), payload.get("model")
        return ModelReply(
            message=reading.message,
            usage=Usage.from_openai(usage),
            finish_reason=finish_reason,
            model=model if isinstance(model, str) else None,
            cost=reported_cost(usage),
            raw=reading.raw,
            warnings=reading.warnings,
        )

    def _checked(self, reading: Reading, raw: Mapping[str, Any], malformed: bool) -> Reading:
        """The reading, with calls that cannot run marked and calls that stand in the text found."""
        message, warnings = reading.message, reading.warnings
        if malformed:
            calls = tuple(replace(call, problem=MALFORMED) for call in message.tool_calls)
            return Reading(replace(message, tool_calls=calls), dict(raw), (*warnings, f"No call was run: {MALFORMED}."))
        if message.tool_calls or not self._names:
            return reading
        if not (found := find_text_calls(message.text, self._names)):
            return reading
        if not self._text_calls:
            return replace(reading, warnings=(*warnings, _TEXT_CALL))
        message = replace(message, content=None, tool_calls=tuple(found))
        return Reading(message, dict(raw), (*warnings, "The call was written as text and read from there."))
