"""Traces in forms that other programs and people read. One module a format; secrets are taken out before any of them.

exported = export(trace, "html")
Path(exported.name).write_bytes(exported.data)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from agent.errors import InputError
from agent.trace import Trace
from traces.export import atif, csv, html, markdown, native, notebook, openai_messages, regression, script
from traces.redacting import Removed, without_secrets

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Exported:
    """A trace in another form, ready to be written to a file or sent to a browser."""

    data: bytes
    name: str
    """A file name that is safe in every file system, made of the title and the id of the trace."""
    mime: str
    removed: list[Removed] = field(default_factory=list)
    """The secrets that were taken out."""
    lost: list[str] = field(default_factory=list)
    """What this form has no place for, one sentence each."""


class Exporter(Protocol):
    """What each module of this package is."""

    @property
    def NAME(self) -> str:
        """The name of the format, as a user types it."""
        ...

    @property
    def SUFFIX(self) -> str:
        """How file names end."""
        ...

    @property
    def MIME(self) -> str:
        """The media type."""
        ...

    def losses(self, trace: Trace, /) -> list[str]:
        """What this form has no place for, one sentence each; without writing it."""
        ...

    def write(self, trace: Trace, language: str, /) -> bytes:
        """The trace in this form. Only forms for people have words of their own, in this language."""
        ...


EXPORTERS: tuple[Exporter, ...] = (native, openai_messages, atif, csv, markdown, notebook, html, script, regression)


def export(trace: Trace, format: str, *, secrets: Iterable[str] = (), language: str = "en") -> Exported:
    """A trace in another form, without its secrets.

    Args:
        trace: never changed.
        format: the name of an exporter: native, openai, atif, csv, markdown, notebook, html, script or pytest.
        secrets: exact values that must not leave, such as the key in use.
        language: of our own words in a form for people: en or zh.

    Raises:
        InputError: there is no such format, or no such language.
    """
    exporter = find_exporter(format)
    clean, removed = without_secrets(trace, secrets)
    data = exporter.write(clean, language)
    return Exported(data, file_name(clean, exporter.SUFFIX), exporter.MIME, removed, exporter.losses(clean))


def find_exporter(format: str) -> Exporter:
    """The exporter of this name.

    Raises:
        InputError: there is none.
    """
    for exporter in EXPORTERS:
        if format == exporter.NAME:
            return exporter
    raise InputError(f"there is no export format {format!r}; choose one of {', '.join(formats())}")


def formats() -> list[str]:
    """The names of all export formats."""
    return [exporter.NAME for exporter in EXPORTERS]


def file_name(trace: Trace, suffix: str) -> str:
    """``what-is-2-3-9f2c1ab04d77.json``: letters, digits and ``-``, so that no title leads out of a folder."""
    title = re.sub(r"[\W_]+", "-", trace.title or trace.task)[:_LONGEST_NAME].strip("-").lower()
    trace_id = re.sub(r"[^A-Za-z0-9_-]+", "-", trace.trace_id)[:64].strip("-")
    stem = "-".join(part for part in (title, trace_id) if part) or "trace"
    return f"{stem if '-' in stem else f'trace-{stem}'}{suffix}"
