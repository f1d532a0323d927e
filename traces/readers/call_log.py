"""The calls of a file, one after another, as conversations: whole calls, pieces of streams, chains of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.growth import Conversations, Exchange
from traces.importing import ImportBuilder
from traces.readers.calls import Call, call_of, exchange
from traces.wire.api import APIS, Api, is_own_message, of_response
from traces.wire.parts import kind_of, words

_LOOKED_AT = 20
_PENDING = ("queued", "in_progress")
"""An answer that is made in the background has one of these states at first; it is asked for again later."""
_RECORDING = ""
"""Stands for the answer before in a recording of answers alone: one run, made to be played again in this order."""


class CallLog:
    """Calls of any provider, one after another, as conversations."""

    def __init__(self, out: ImportBuilder) -> None:
        self._out = out
        self._log = Conversations(out)
        self._pieces: list[Mapping[str, Any]] = []
        self._pieces_api: Api | None = None
        self._pieces_line: int | None = None
        self._answers: dict[str, _Chained] = {}
        self._whole: set[str | None] = set()
        """Ids of the answers that are there."""

    def add(self, record: Any, line: int | None) -> bool:
        """Add one record: a call, or a piece of a streamed response. False where it is neither."""
        api = _piece_api(record) or (self._pieces_api if _belongs(record, self._pieces_api) else None)
        if api is not None:
            self._add_piece(record, api, line)
            return True
        self.finish()
        call = call_of(record)
        if call is None:
            return False
        if call.is_odd:
            self._out.unread("an answer of no known form; what was asked is shown")
        self._add(call, exchange(call, line))
        return True

    def finish(self) -> None:
        """The log is over; a stream without its end counts as it is."""
        pieces, api, line = self._pieces, self._pieces_api, self._pieces_line
        self._pieces, self._pieces_api = [], None
        if pieces and api is not None:
            call = Call(record={}, response=api.join_pieces(pieces), response_api=api)
            self._add(call, exchange(call, line))

    def _add_piece(self, piece: Mapping[str, Any], api: Api, line: int | None) -> None:
        if not self._pieces or api is not self._pieces_api or _other_stream(self._pieces[-1], piece):
            self.finish()
            self._pieces_api, self._pieces_line = api, line
        self._pieces.append(piece)
        if api.is_last(piece):
            self.finish()

    def _add(self, call: Call, made: Exchange) -> None:
        """Add a call; one that names what it goes on from holds new messages only."""
        reply, name = made.reply, None if made.reply is None else made.reply.id
        if call.request is None and name in self._whole:
            return  # the same answer, asked for again
        if reply is not None and reply.finish_reason in _PENDING:
            made = replace(made, reply=None)
        elif name is not None:
            self._whole.add(name)
        before = self._before(call, name)
        system = [message for message in made.messages if message.get("role") == "system"][:1]
        if before is not None and system and system == before.system:
            made = replace(made, messages=made.messages[1:])
        trace = self._log.add(made, after=None if before is None else before.trace)
        for key in (name, _conversation_of(call), _RECORDING if _is_recording(call) else None):
            if key is not None:
                self._answers[key] = _Chained(trace, system or ([] if before is None else before.system))

    def _before(self, call: Call, name: str | None) -> _Chained | None:
        if _is_recording(call):
            return self._answers.get(_RECORDING)
        if call.request is None and name in self._answers:
            return self._answers[name]
        named = words((call.request or call.response or {}).get("previous_response_id")) or _conversation_of(call)
        return None if named is None else self._answers.get(named)


@dataclass(frozen=True, slots=True)
class _Chained:
    """An answer that a later request can name."""

    trace: TraceBuilder
    system: list[Mapping[str, Any]] = field(default_factory=list)


def _is_recording(call: Call) -> bool:
    return call.request is None and str(call.record.get("method")).startswith("generateContent")


def _conversation_of(call: Call) -> str | None:
    """The id of the conversation that the provider keeps, where a request goes on with one."""
    held = (call.request or {}).get("conversation")
    held = held.get("id") if isinstance(held, dict) else held
    return words(held)


def format_of(record: Any) -> str | None:
    """The format of the call that a record is, or of the stream that it is a piece of."""
    if (api := _piece_api(record)) is not None:
        return api.NAME
    call = call_of(record)
    return None if call is None else call.format


def _piece_api(record: Any) -> Api | None:
    return next((api for api in APIS if api.is_piece(record)), None)


def _other_stream(before: Mapping[str, Any], piece: Mapping[str, Any]) -> bool:
    """Whether a piece begins another response than that of the piece before, or names another."""
    if kind_of(piece) in _BEGINNINGS or "messageStart" in piece:
        return True
    names = ((before.get(key), piece.get(key)) for key in ("id", "responseId", "response_id"))
    return any(mine and theirs and mine != theirs for mine, theirs in names)


_BEGINNINGS = ("message_start", "response.created")


def _belongs(record: Any, api: Api | None) -> bool:
    """Whether a whole response is the end of the stream whose pieces came before."""
    return api is not None and of_response(record) is api and api.is_last(record)


def records_of(document: Document) -> Iterator[tuple[Any, int | None]]:
    """The records with their lines; those of a list inside, where one object holds the log or the conversation."""
    records = plain_records_of(document)
    lines = document.lines if records is document.value else None
    return zip(records, repeat(None) if lines is None else lines, strict=False)


def plain_records_of(document: Document) -> list[Any]:
    """The same without the lines."""
    value = document.value
    if isinstance(value, dict):
        inside = value["log"] if isinstance(value.get("log"), dict) else value
        for held in (inside.get(key) for key in _LISTS):
            if isinstance(held, list) and any(_is_known(item) for item in held[:_LOOKED_AT]):
                return held
    return document.records


_LISTS = ("entries", "interactions", "exchanges", "calls", "requests", "history", "items", "data")
"""Keys under which one object holds a log of calls (HAR and VCR among them) or a conversation."""


def _is_known(item: Any) -> bool:
    call = call_of(item)
    return (call is not None and call.response_api is not None) or is_own_message(item)
