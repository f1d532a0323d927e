"""The APIs of single providers: requests, responses, streams, logs of all these, and plain lists of their messages.

One log may hold the calls of several providers: an agent can move from one to another. It is of the format of its last
call, and every call in it is read by the rules of its own API.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.call_log import CallLog, format_of, plain_records_of, records_of
from traces.wire import anthropic, bedrock, gemini, ollama, responses
from traces.wire.api import Api

_LOOKED_AT = 20
_LIST_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class ProviderReader:
    """The reader of one API."""

    api: Api
    converted: Callable[[list[Mapping[str, Any]]], list[Mapping[str, Any]]]
    """Messages of a plain list in OpenAI Chat form."""

    @property
    def NAME(self) -> str:
        """The format's name."""
        return self.api.NAME

    def matches(self, document: Document) -> bool:
        """The last call of the log is of this API, or the messages of the list are."""
        records = plain_records_of(document)
        if self._is_list(records):
            return True
        for record in reversed(records[-_LOOKED_AT:]):
            if isinstance(record, list) and self._is_list(record):
                return True
            if (name := format_of(record)) is not None:
                return name == self.NAME
        return False

    def read(self, document: Document, out: ImportBuilder) -> None:
        """Read every record; what is no call and no message is counted as unread."""
        records = list(records_of(document))
        if self._is_list([record for record, _ in records]):
            self._read_list(records, out)
            return
        log = CallLog(out)
        for record, line in records:
            if isinstance(record, list) and self._is_list(record):
                self._read_list([(item, line) for item in record], out)
            elif not log.add(record, line):
                out.unread("a record that is no message, request, response or exchange of this format")
        log.finish()

    def _is_list(self, records: list[Any]) -> bool:
        """Whether the records are messages one after another, and not calls."""
        first = [record for record in records[:_LIST_LOOKED_AT] if isinstance(record, dict)]
        if not any(self.api.is_message(record) for record in first):
            return False
        spoken = [record for record in first if not self.api.is_response(record)]
        return bool(spoken) and all("messages" not in record and "request" not in record for record in spoken)

    def _read_list(self, records: list[tuple[Any, int | None]], out: ImportBuilder) -> None:
        trace = out.trace()
        found = [(record, line) for record, line in records if isinstance(record, dict)]
        for _ in range(len(records) - len(found)):
            out.unread("an entry of a message list that is no message")
        if self.api is responses:  # one answer is several items
            for message in self.converted([record for record, _ in found]):
                trace.message(message)
            return
        for record, line in found:
            if self.api.is_response(record):
                trace.reply(self.api.read_response(record), line=line)
            else:
                for message in self.converted([record]):
                    trace.message(message, line=line)


def _each(
    converted: Callable[[Mapping[str, Any]], list[Mapping[str, Any]]],
) -> Callable[[list[Mapping[str, Any]]], list[Mapping[str, Any]]]:
    return lambda messages: [made for message in messages for made in converted(message)]


PROVIDERS = (
    ProviderReader(bedrock, _each(bedrock.converted)),
    ProviderReader(gemini, _each(gemini.converted)),
    ProviderReader(anthropic, _each(anthropic.converted)),
    ProviderReader(responses, responses.converted),
    ProviderReader(ollama, _each(ollama.converted)),
)
"""The most specific first."""
