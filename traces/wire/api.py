"""The APIs of the providers behind one protocol, and which of them a body is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from traces.reply import Reply
from traces.wire import anthropic, bedrock, gemini, ollama, openai_chat, responses


class Api(Protocol):
    """What the module of each API is."""

    @property
    def NAME(self) -> str:
        """The name of the format."""
        ...

    @property
    def REQUEST_KEYS(self) -> frozenset[str]:
        """Keys of a request that are no settings: they go to the messages, the tools and the model."""
        ...

    def is_request(self, value: Any, /) -> bool:
        """Whether ``value`` is a request body that can be of no API further down the list."""
        ...

    def is_message(self, value: Any, /) -> bool:
        """Whether ``value`` is a message, or another item of a plain list, as only this API writes it."""
        ...

    def is_response(self, value: Any, /) -> bool:
        """Whether ``value`` is a response body."""
        ...

    def is_piece(self, value: Any, /) -> bool:
        """Whether ``value`` is a piece of a streamed response, and not its last where the last one can stand alone."""
        ...

    def is_last(self, piece: Mapping[str, Any], /) -> bool:
        """Whether a stream ends with this piece."""
        ...

    def messages_of(self, body: Mapping[str, Any], /) -> list[Mapping[str, Any]] | None:
        """The messages of a request in OpenAI Chat form."""
        ...

    def tools_of(self, body: Mapping[str, Any], /) -> list[dict[str, Any]]:
        """The tools that a request offers, in OpenAI form."""
        ...

    def read_response(self, body: Mapping[str, Any], /) -> Reply:
        """What a response gave, or its error."""
        ...

    def join_pieces(self, pieces: Iterable[Mapping[str, Any]], /) -> dict[str, Any]:
        """The response body that the pieces of a stream add up to."""
        ...


APIS: tuple[Api, ...] = (gemini, responses, bedrock, anthropic, ollama, openai_chat)
"""The most specific first. What any of the last four could have sent is read as OpenAI Chat, which is right for all."""


def of_request(value: Any) -> Api | None:
    """The API of a request body."""
    return next((api for api in APIS if api.is_request(value)), None)


def of_response(value: Any) -> Api | None:
    """The API of a response body, or of one piece of a streamed one."""
    return next((api for api in APIS if api.is_response(value) or api.is_piece(value)), None)


def is_own_message(value: Any) -> bool:
    """Whether ``value`` is a message as only one of the APIs writes it; those of OpenAI Chat all others write too."""
    return any(api.is_message(value) for api in APIS if api is not openai_chat)


def joined(pieces: list[Any]) -> tuple[Mapping[str, Any], Api] | None:
    """The response that a list of pieces adds up to, and its API; None for a list of something else.

    Of several whole responses it is the last one.
    """
    found = [piece for piece in pieces if isinstance(piece, dict)]
    apis = (of_response(piece) for piece in found[:_LOOKED_AT])
    api = next((api for api in apis if api is not None), None)
    if api is None:
        return None
    whole = [piece for piece in found if api.is_response(piece) and not api.is_piece(piece)]
    if len(whole) == len(found) and api is not gemini:  # some Gemini models end every chunk
        return whole[-1], api
    return api.join_pieces(found), api


_LOOKED_AT = 20
