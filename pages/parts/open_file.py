"""The ways to a file of one's own: dropped or chosen in the side bar, or named by its path."""

from __future__ import annotations

import contextlib
from pathlib import Path
from urllib.parse import unquote, urlsplit

import streamlit as st

from agent.errors import AgentError
from pages.parts import address
from pages.parts.data import private, store
from pages.parts.words import t
from traces.container import MAX_UNPACKED

UPLOAD_MB = 200
_PATH_FIELD = "path-field"


def open_fields() -> None:
    """Draw the fields in the side bar.

    A file that comes from the browser is kept in the data folder, under its own bytes: the same file is kept once, and
    a link to a message of it is good in every browser. One that is named by its path stays where it is; only this
    machine may ask for one.
    """
    with st.sidebar:
        st.file_uploader(
            t("Open a file"),
            key=_upload_key(),
            accept_multiple_files=True,
            max_upload_size=UPLOAD_MB,
            help=t(
                "A saved trace or log of any agent: JSON, JSON Lines, gzip or zip. It is copied into the data folder, "
                "so that links to it work; delete it in the list."
            ),
            on_change=_take_uploads,
        )
        st.caption(t("Up to {n} MB; a larger file is marked red and not opened.", n=UPLOAD_MB))
        if private():
            st.text_input(
                t("Or the path of a file on this machine"),
                key=_PATH_FIELD,
                placeholder="~/logs/run.jsonl",
                help=t(
                    "Up to {n} MB. It is read where it is, and followed while another program writes it.",
                    n=MAX_UNPACKED // 1024**2,
                ),
                on_change=_take_path,
            )


def _upload_key() -> str:
    return f"{address.UPLOAD}-{address.uploads()}"


def _take_uploads() -> None:
    """Keep the files that the field holds; open the only one, and list several."""
    files = address.setting(_upload_key()) or []
    address.count_upload()
    opened: list[str] = []
    for file in files:
        try:
            lines = store().add_upload(file.getvalue(), file.name)
        except (AgentError, OSError) as error:
            address.tell(f"{file.name}: {error}")
            continue
        first = lines[0]
        if first.id:
            address.opened().update(line.id for line in lines)
            opened.append(first.id)
        else:
            address.tell(f"{file.name}: {first.error}")
    if len(opened) == 1:
        address.open_trace(opened[0])
    elif opened:
        address.close_trace()
        address.tell(t("{n} files were added to the list.", n=len(opened)))


def _take_path() -> None:
    """Open the file. A path that leads to none stays in the field, so that it can be put right."""
    path = _path_in(str(address.setting(_PATH_FIELD) or ""))
    if path is None:
        return
    try:
        folder = path.is_dir() if path.exists() else None
    except (OSError, ValueError) as error:  # no right to look, or no path at all
        address.tell(str(error))
        return
    if folder is None:
        address.tell(t("{path} is not there.", path=path))
    elif folder:
        address.tell(t("{path} is a folder; name a file in it.", path=path))
    else:
        address.put(_PATH_FIELD, "")
        address.open_path(str(path))


def _path_in(text: str) -> Path | None:
    """The path that was typed, or pasted from a shell or a file manager; None for nothing."""
    text = text.strip().strip("\"'")
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    path = Path(text)
    with contextlib.suppress(RuntimeError):  # ~somebody, who is not known here
        path = path.expanduser()
    return path.absolute() if text else None
