"""Letting the linter look at the traces of the list: in the background, on demand."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import streamlit as st

from pages.parts.data import data_folder, store
from pages.parts.words import t
from traces.index import INTERRUPTED, TraceInfo
from traces.store import Store


class Checking:
    """One thread that checks files, shared by all sessions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, None] = {}
        self.done = self.total = 0
        self.busy = False

    def start(self, store: Store, paths: Sequence[str]) -> None:
        """Check these files, after those that wait already."""
        with self._lock:
            if not self.busy:
                self.done = self.total = 0
            new = [path for path in dict.fromkeys(paths) if path not in self._waiting]
            self._waiting.update(dict.fromkeys(new))
            self.total += len(new)
            if self._waiting and not self.busy:
                self.busy = True
                threading.Thread(target=self._work, args=(store,), daemon=True).start()

    def _work(self, store: Store) -> None:
        while (path := self._next()) is not None:
            store.check(path)
            self.done += 1

    def _next(self) -> str | None:
        with self._lock:
            path = next(iter(self._waiting), None)
            if path is None:
                self.busy = False
            else:
                del self._waiting[path]
            return path


@st.cache_resource(max_entries=4, show_spinner=False)
def _checking(folder: str) -> Checking:
    return Checking()


def checking_line(infos: Sequence[TraceInfo]) -> None:
    """Draw the button that checks what was not checked yet, or how far that is; nothing where all is checked."""
    checking = _checking(str(data_folder()))
    if checking.busy:
        _progress(checking)
        return
    unchecked = [info.path for info in infos if not info.checked and info.error is None and info.kind != INTERRUPTED]
    if unchecked:
        st.button(
            t("Check {n} traces with the linter", n=f"{len(unchecked):,}"),
            icon=":material/rule:",
            type="tertiary",
            key="check-traces",
            on_click=checking.start,
            args=(store(), unchecked),
        )


@st.fragment(run_every=0.7)
def _progress(checking: Checking) -> None:
    done, total = checking.done, checking.total
    st.progress(
        min(1.0, done / max(total, 1)),
        t("The linter looks at the traces: {n} of {all}", n=f"{done:,}", all=f"{total:,}"),
    )
    if not checking.busy:
        st.rerun()
