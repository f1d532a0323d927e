"""One module per format, behind one protocol. To add a format, write a module and give it a place in ``READERS``."""

from __future__ import annotations

from typing import Protocol

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers import (
    atif,
    autogen,
    benchmark,
    inspect,
    journal,
    native,
    openai_chat,
    provider,
    sharegpt,
    smolagents,
    tau,
    tau2,
    who_and_when,
)


class Reader(Protocol):
    """What each module of this package is."""

    @property
    def NAME(self) -> str:
        """The format's name, as reports show it and a user types it."""
        ...

    def matches(self, document: Document, /) -> bool:
        """Whether keys that no other format has say that the document is of this format. Cheap; never raises."""
        ...

    def read(self, document: Document, out: ImportBuilder, /) -> None:
        """Hand everything to ``out``: conversations, and what could not be used.

        Raises:
            InputError: the document cannot be read at all.
        """
        ...


READERS: tuple[Reader, ...] = (
    native,
    journal,
    atif,
    inspect,
    tau2,
    tau,
    who_and_when,
    smolagents,
    autogen,
    sharegpt,
    benchmark,
    *provider.PROVIDERS,
    openai_chat,
)
"""The most specific format first: the first that matches reads the file."""
