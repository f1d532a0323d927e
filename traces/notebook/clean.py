"""What is taken out of a notebook before it leaves: the secrets of its trace, and those that somebody wrote down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.redact import redact_text
from traces.notebook.cells import Notebook
from traces.notebook.notes import PlacedNote
from traces.redacting import without_secrets


def cleaned(notebook: Notebook, notes: Sequence[PlacedNote]) -> tuple[Notebook, list[PlacedNote]]:
    """The notebook and its notes without secrets.

    Args:
        notebook: never changed.
        notes: of the learner.
    """
    trace, _ = without_secrets(notebook.trace)
    own = replace(notebook.own, words=redact_text(notebook.own.words))
    return replace(notebook, trace=trace, own=own), [replace(note, text=redact_text(note.text)) for note in notes]
