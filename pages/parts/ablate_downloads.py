"""What an experiment can be taken away as: its report, its table, a test that pins the finding, the whole folder."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.parts import address
from pages.parts.words import t
from traces.experiments.folder import Folder
from traces.experiments.report.writing import write_report


def downloads(folder: Folder) -> None:
    """Draw the menu of an experiment that is over. A file is made only when its button is pressed.

    Args:
        folder: of the experiment.
    """
    with st.popover(t("Export"), icon=":material/download:", key="ablate-export"):
        _button(t("Report (HTML)"), folder, folder.report, "text/html", "report")
        _button(t("Table (CSV)"), folder, folder.table, "text/csv", "table")
        _button(t("Test that pins the finding"), folder, folder.test, "text/x-python", "test")
        name = f"experiment-{folder.path.name}.zip"
        language = address.language()  # now, as above
        _download(t("Everything (zip)"), lambda: zipped(folder, language), name, "application/zip", "zip")


def _button(label: str, folder: Folder, path: Path, mime: str, key: str) -> None:
    language = address.language()  # now: the file is made outside of the session

    def make() -> bytes:
        write_report(folder, language)
        return path.read_bytes()

    _download(label, make, path.name, mime, key)


def _download(label: str, make: Callable[[], bytes], name: str, mime: str, key: str) -> None:
    st.download_button(
        label,
        make,
        file_name=name,
        mime=mime,
        on_click="ignore",
        key=f"ablate-download-{key}",
        width="stretch",
    )


def zipped(folder: Folder, language: str) -> bytes:
    """The whole folder with a fresh report, as one zip that unpacks into a folder of its own."""
    write_report(folder, language)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.path.rglob("*")):
            inside = path.relative_to(folder.path)
            if path.is_file() and not any(part.startswith(".") for part in inside.parts):
                archive.write(path, Path(f"experiment-{folder.path.name}") / inside)
    return whole.getvalue()
