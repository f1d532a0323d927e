"""A file that a tab uploads, as a browser does: asked for an address, sent there, and told to the page."""

from __future__ import annotations

import asyncio
from typing import Any

import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.bench.class_client import Tab

_XSRF = "_streamlit_xsrf"


async def upload(tab: Tab, name: str, data: bytes) -> None:
    """Give a file to the first field for files on the page, and wait until the page is drawn.

    Raises:
        requests.HTTPError: the server does not take it.
    """
    ask = BackMsg()
    ask.file_urls_request.request_id, ask.file_urls_request.session_id = "1", tab.session
    ask.file_urls_request.file_names.append(name)
    urls = (await tab.request(ask, "file_urls_response")).file_urls[0]
    await asyncio.to_thread(_send, tab.server, urls.upload_url, name, data)
    state = WidgetState(id=tab.elements("file_uploader")[0].id)
    info = UploadedFileInfo(file_id=urls.file_id, name=name, size=len(data), file_urls=urls)
    state.file_uploader_state_value.uploaded_file_info.append(info)
    await tab.change(state)


def _send(server: str, path: str, name: str, data: bytes) -> None:
    with requests.Session() as session:
        session.get(f"{server}/_stcore/health", timeout=10)
        headers: dict[str, Any] = {"X-Xsrftoken": session.cookies.get(_XSRF, "")}
        session.put(f"{server}{path}", files={"file": (name, data)}, headers=headers, timeout=10).raise_for_status()
