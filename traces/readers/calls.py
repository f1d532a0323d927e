"""Records that hold a model call, of whatever provider and in whatever wrapping: found, and made an exchange.

Recorders keep a request and a response as objects, as JSON text, as the text of an event stream or as a list of its
pieces; under ``request`` and ``response``, or in the words of nock, HAR, VCR, batch files and invocation logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from traces import lookalikes
from traces.growth import Exchange
from traces.readers.fields import amount, moment
from traces.reply import Reply
from traces.times import time_of, timestamp
from traces.wire import event_stream, openai_chat
from traces.wire.api import Api, joined, of_request, of_response
from traces.wire.parts import count

_REQUESTS = ("request", "request_body", "requestBody", "raw_request", "body", "params")
_RESPONSES = ("response", "response_body", "responseBody", "raw_response", "client_chunks", "result", "output")
_ANYBODYS = ("result", "output")
"""Words that are used for much else."""
_NO_SETTINGS = frozenset(
    (*_RESPONSES, "choices", "usage", "status", "latency_ms", "duration_ms", "seconds", "timestamp")
)
"""What stands beside a request in one object with it."""
_BODIES = (
    *("body", "json", "postData", "content", "data", "text", "string", "inputBodyJson", "outputBodyJson", "message"),
    *("chunks", "events", "ws_events", "sse_events"),
)
"""Keys under which a recorder keeps the body of a request or a response, beside its headers."""
_DEPTH = 3
_BEDROCK = "bedrock-runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One model call as a record holds it."""

    record: Mapping[str, Any]
    request: Mapping[str, Any] | None = None
    request_api: Api | None = None
    response: Mapping[str, Any] | None = None
    response_api: Api | None = None
    """None: the response says of no API that it is of it; most errors are such."""
    is_odd: bool = False
    """Whether there is an answer, but one that no API gives."""

    @property
    def format(self) -> str:
        """The format that the call is of."""
        if _BEDROCK in str(self.record.get("scope")):
            return "bedrock-converse"  # it serves other APIs too
        api = self.response_api or self.request_api
        return "" if api is None else api.NAME


def call_of(record: Any) -> Call | None:
    """The model call in a record; None where there is none, or one of a format that means something else by it.

    A list is a call where it holds the pieces of one streamed response.
    """
    if isinstance(record, list):
        whole = joined(record)
        return None if whole is None else Call(record={}, response=whole[0], response_api=whole[1])
    if not isinstance(record, dict) or lookalikes.name_of_record(record):
        return None
    request, request_api = _request(record)
    common: dict[str, Any] = {"record": record, "request": request, "request_api": request_api}
    for key in _RESPONSES:
        answer = None if request is record and key in _ANYBODYS else record.get(key)
        found = _response(answer, key) or _refused(record, answer)
        if found is not None and (request is not None or found[1] is not None):
            return Call(**common, response=found[0], response_api=found[1])
        if answer is not None and request is not None:
            return Call(**common, is_odd=True) if request.get("messages") else None  # the answer to something else
    if (api := of_response(record)) is not None:
        return Call(**common, response=record, response_api=api)
    return None if request is None else Call(**common)


def _request(record: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Api | None]:
    for candidate in _requests_in(record):
        if isinstance(candidate, dict) and (api := of_request(candidate)) is not None:
            return candidate, api
    return None, None


def _requests_in(record: Mapping[str, Any]) -> Iterator[Any]:
    if not isinstance(record.get("request"), (dict, str)):
        yield record
    for key in _REQUESTS:
        yield from _unwrapped(record.get(key))
    if isinstance(logged := record.get("input"), dict):  # an invocation log of Bedrock
        yield from _unwrapped(logged.get("inputBodyJson"))


def _response(value: Any, key: str) -> tuple[Mapping[str, Any], Api | None] | None:
    for candidate in _unwrapped(value):
        if isinstance(candidate, list):
            if (found := joined(candidate)) is not None:
                return found
        elif (api := of_response(candidate)) is not None:
            return joined([candidate]) if api.is_piece(candidate) else (candidate, api)
        elif isinstance(candidate, dict) and candidate.get("error"):
            return candidate, None
    return ({"error": value}, None) if isinstance(value, str) and value and key not in _ANYBODYS else None


def _refused(record: Mapping[str, Any], answer: Any) -> tuple[Mapping[str, Any], None] | None:
    """The answer as an error, where HTTP says that it is one."""
    status = _status(record)
    return ({"error": answer}, None) if isinstance(answer, dict) and status is not None and status >= 400 else None


def _unwrapped(value: Any, depth: int = 0) -> Iterator[Any]:
    """The value, and what it wraps: from the outside in. Text is read as JSON, JSON Lines or an event stream."""
    if isinstance(value, str):
        value = openai_chat.decoded(value) or event_stream.read(value) or openai_chat.read_sse(value) or _lines(value)
    if isinstance(value, list):
        value = [_event(item) for item in value]
    if isinstance(value, (dict, list)):
        yield value
    if isinstance(value, dict) and depth < _DEPTH:
        for key in _BODIES:
            if isinstance(inner := value.get(key), (dict, list, str)):
                yield from _unwrapped(inner, depth + 1)


def _event(item: Any) -> Any:
    """An event of a stream; some recorders keep its name and its data side by side."""
    if isinstance(item, dict) and "event" in item and isinstance(item.get("data"), str):
        return openai_chat.decoded(item["data"])
    return item


def _lines(text: str) -> list[Any] | None:
    """JSON Lines in a text, as Ollama streams; None where its first line is something else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or openai_chat.decoded(lines[0]) is None:
        return None
    return [openai_chat.decoded(line) for line in lines]


# -- exchanges -----------------------------------------------------------------------------------------------------


def exchange(call: Call, line: int | None) -> Exchange:
    """The call in one shape for all providers."""
    reply = None if call.response is None else _reply(call, call.response)
    request, api = call.request, call.request_api
    if request is None or api is None:
        return Exchange(messages=(), reply=reply, line=line)
    provider = (call.response or {}).get("provider")
    return Exchange(
        messages=[message for message in api.messages_of(request) or [] if isinstance(message, dict)],
        reply=reply,
        tools=api.tools_of(request),
        model=request.get("model") or request.get("modelId"),
        provider=provider if isinstance(provider, str) else None,
        settings={
            key: value for key, value in request.items() if key not in api.REQUEST_KEYS and key not in _NO_SETTINGS
        },
        line=line,
    )


def _reply(call: Call, body: Mapping[str, Any]) -> Reply:
    api = call.response_api
    reply = Reply(error=openai_chat.error_text(body.get("error"))) if api is None else api.read_response(body)
    latency = reply.latency_ms if reply.latency_ms is not None else _latency_ms(call.record)
    at = reply.at or _first_time(call.record, "timestamp", "created_at", "time")
    started = reply.started or _first_time(call.record, "startedDateTime", "started_at", "start_time")
    if started is None and reply.at is None and at is not None and latency is not None:
        began = timestamp(at)
        started = time_of(began - latency / 1000) if began is not None else None  # a log is written at the end
    unread = (*reply.unread, *(("events of a connection that hold more than the body beside them",) * _more(call)))
    return replace(reply, status=_status(call.record), latency_ms=latency, at=at, started=started, unread=unread)


def _more(call: Call) -> bool:
    """Whether a recorder of web sockets kept several requests, of which the body is the last."""
    request = call.record.get("request")
    events = request.get("ws_events") if isinstance(request, dict) else None
    return isinstance(events, list) and len(events) > 1 and call.request not in events


def _first_time(record: Mapping[str, Any], *keys: str) -> str | None:
    return next((at for key in keys if (at := moment(record.get(key))) is not None), None)


def _status(record: Mapping[str, Any]) -> int | None:
    response = record.get("response")
    inner = response if isinstance(response, dict) else {}
    places = (record.get("status"), inner.get("status_code"), inner.get("statusCode"), inner.get("status"))
    return next((status for value in places if (status := count(value)) is not None), None)


def _latency_ms(record: Mapping[str, Any]) -> float | None:
    for key, factor in (("latency_ms", 1), ("duration_ms", 1), ("seconds", 1000), ("duration_seconds", 1000)):
        if (value := amount(record.get(key))) is not None:
            return value * factor
    return None
