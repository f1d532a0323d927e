"""One module per format, behind one protocol. To add a format, write a module and give it a place in ``READERS``."""

from __future__ import annotations

from typing import Protocol

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers import (
    atif,
    autogen,
    benchmark,
    claude_code,
    codex,
    codex_exec,
    gemini_cli,
    gemini_stream,
    inspect,
    journal,
    langchain,
    langfuse,
    langsmith,
    mini_swe_agent,
    native,
    openai_agents,
    openai_chat,
    opencode,
    openhands,
    openinference,
    otlp_genai,
    provider,
    pydantic_ai,
    recording,
    sharegpt,
    smolagents,
    swe_agent,
    tau,
    tau2,
    trail,
    vercel_ui,
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
    recording,
    atif,
    mini_swe_agent,
    swe_agent,
    inspect,
    tau2,
    tau,
    who_and_when,
    trail,
    langfuse,
    openai_agents,
    langsmith,
    openinference,
    otlp_genai,
    codex,
    codex_exec,
    claude_code,
    gemini_cli,
    gemini_stream,
    opencode,
    smolagents,
    autogen,
    openhands,
    pydantic_ai,
    langchain,
    vercel_ui,
    sharegpt,
    benchmark,
    *provider.PROVIDERS,
    openai_chat,
)
"""The most specific format first: the first that matches reads the file."""
