"""What a list of kept things remembers in a session: its last deletion, and a field for files that empties itself."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from traces.trash import Deleted


@dataclass(frozen=True, slots=True)
class LastDeleted:
    """The last deletion of this session that was not undone."""

    key: str
    """Of the session state."""

    def note(self, deleted: Deleted, title: str) -> None:
        """Remember it, so that it can be undone."""
        st.session_state[self.key] = (deleted, title)

    def get(self) -> tuple[Deleted, str] | None:
        """The deletion, and the title of what is gone."""
        found: tuple[Deleted, str] | None = st.session_state.get(self.key)
        return found

    def forget(self) -> None:
        """It was undone, or cannot be."""
        st.session_state.pop(self.key, None)


@dataclass(frozen=True, slots=True)
class Uploads:
    """A field for files, which gets another key after each file, so that it is empty again."""

    key: str
    """Of the session state, and the beginning of the field's key."""

    @property
    def field(self) -> str:
        """The key of the field."""
        return f"{self.key}-{st.session_state.get(self.key, 0)}"

    def count(self) -> None:
        """The file of the field was taken."""
        st.session_state[self.key] = int(st.session_state.get(self.key, 0)) + 1
