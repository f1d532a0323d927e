"""The real app on a free loopback port, a stub of an OpenAI-compatible server, and headless Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from playwright.sync_api import TimeoutError as NoAnswer

from pages.parts.just_drawn import SEEN_AFTER_S
from pages.parts.message_table import ROW_PX
from tests.serving import ROOT, Served, free_port, served

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",
]
"""The last one keeps the scripts that a page has compiled for the next page: they cost more than most tests."""

ALL_TRACES = re.compile("All traces|全部轨迹")
"""The button that only an open trace has."""

OPEN_MS = 60_000
"""Longest wait, in ms, for the whole page: the first one of a server and a browser has all to load and to parse."""

ANSWER_MS = 1_500
"""Longest wait, in ms, for the page to begin to be drawn after a press: what a press that does nothing costs a test."""

COUNT_DRAWINGS = """
window.labDrawings = 0;
new MutationObserver(changes => {
  if (changes.some(change => change.target.dataset.testScriptState === "running")) window.labDrawings++;
}).observe(document, {subtree: true, attributeFilter: ["data-test-script-state"]});
"""

TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What was heard before the first of two frames is drawn in the second."""

expect.set_options(timeout=15_000)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert path, "the browser tests need Chromium: install it, or name it by CHROMIUM"
    return {"executable_path": path, "args": CHROMIUM_FLAGS}


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    return {"viewport": {"width": 1280, "height": 720}, "locale": "en-GB"}


@pytest.fixture(scope="session")
def kept_page(browser: Browser, browser_context_args: dict[str, Any], app: str) -> Iterator[Page]:
    """A page of the app's site that stays open, so that its process and its cache stay too."""
    context = browser.new_context(**browser_context_args)
    page = context.new_page()
    page.goto(f"{app}/_stcore/health")
    yield page
    context.close()


@pytest.fixture
def context(kept_page: Page) -> Iterator[BrowserContext]:
    """One context for all tests; what a test has opened or stored in it is gone for the next one."""
    yield kept_page.context
    for page in kept_page.context.pages:
        if page is not kept_page:
            page.close()
    kept_page.context.clear_cookies()
    kept_page.evaluate("localStorage.clear()")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def serve(data: Path) -> Callable[..., Any]:
    """Start the app; as a context manager, so that a test can also kill a server of its own.

    Started again in the same way it is at the same address, as for a person, and the browser has its scripts already.
    """
    ports: dict[tuple[object, ...], int] = {}

    def start(folder: Path = data, options: Sequence[str] = ()) -> AbstractContextManager[Served]:
        port = ports.setdefault((folder, *options), free_port())
        return served(ROOT / "app.py", folder, port=port, options=("--", *options) if options else ())

    return start


@pytest.fixture(scope="session")
def app(serve: Callable[..., Any]) -> Iterator[str]:
    with serve() as server:
        yield server.url


# ---- the page ----


class Lab:
    """The page as a user sees it: buttons by name, the table by its hidden rows, the loop by its badges."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.add_init_script(COUNT_DRAWINGS)

    def open(self, url: str) -> Lab:
        self.page.goto(url)
        return self.drawn()

    def leave(self) -> str:
        """Go away from the app, which then hears nothing more of this tab; gives the address that was shown."""
        address = self.page.url
        self.page.goto("about:blank")
        return address

    def drawn(self) -> Lab:
        """Wait until the whole page was drawn for the first time; the switch of languages comes last."""
        expect(self.page.get_by_text("中文")).to_be_visible(timeout=OPEN_MS)
        self.settled()
        return self

    def settled(self) -> None:
        """Wait until the page rests: also what comes after drawing, such as listening to keys, is done."""
        self.page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
        self.page.evaluate("new Promise(done => requestIdleCallback(done, {timeout: 500}))")

    def looked_at(self) -> Lab:
        """As long as a person takes to see what another tab did: a press at once would be meant for what was before."""
        self.page.wait_for_timeout(SEEN_AFTER_S * 1000)
        return self

    @contextmanager
    def answered(self) -> Iterator[None]:
        """Do something to a page that rests, and wait until the page has answered it and rests again.

        The page begins to be drawn a moment after a press. On a busy machine that moment is long enough for a second
        press, and the framework folds what comes before it began: two presses would act as one, in either order.
        """
        self.settled()
        before = self.page.evaluate("window.labDrawings")
        yield
        with suppress(NoAnswer):  # a press that nothing listens to
            self.page.wait_for_function("before => window.labDrawings > before", arg=before, timeout=ANSWER_MS)
        self.settled()

    def key(self, key: str) -> None:
        """Press a shortcut, and wait for what it does."""
        with self.answered():
            self.page.keyboard.press(key)

    def fill(self, label: str, text: str) -> None:
        """Type into a field of the side bar and leave it."""
        field = self.page.get_by_label(label, exact=True)
        field.fill(text)
        field.blur()
        self.settled()

    def button(self, name: str) -> Locator:
        """The button of this name; its key stands in the name as well."""
        return (
            self.page.get_by_test_id("stButton")
            .get_by_role("button", name=re.compile(rf"(^|\s){name}( Shortcut \w)?$"))
            .first
        )

    @property
    def status(self) -> Locator:
        return self.page.locator(".st-key-status")

    @property
    def table(self) -> Locator:
        return self.page.locator("canvas table[role=grid]").first

    def rows(self, count: int) -> None:
        """Wait until the message table has so many rows; the header counts as one for the browser."""
        expect(self.table).to_have_attribute("aria-rowcount", str(count + 1))

    def cell(self, row: int, text: str) -> None:
        """Wait until row ``row`` (from 1) shows ``text``."""
        expect(self.table.locator(f'tr[aria-rowindex="{row + 1}"]')).to_contain_text(text)

    def select(self, row: int) -> None:
        """Select a row (from 1) of the table with the mouse, somewhere in its text."""
        grid = self.page.get_by_test_id("stDataFrame").first
        place = {"x": 420, "y": ROW_PX * row + ROW_PX // 2}
        grid.hover(position={"x": 420, "y": place["y"] - 4})  # the table takes clicks only where it saw the mouse come
        grid.hover(position=place)
        self.page.evaluate(TWO_FRAMES)
        with self.answered():
            grid.click(position=place)

    def open_row(self, row: int) -> None:
        """Press the title of a trace in the list, and wait until the page shows it: the address changes first."""
        grid = self.page.get_by_test_id("stDataFrame").first
        grid.click(position={"x": 120, "y": ROW_PX * row + ROW_PX // 2})
        expect(self.page.get_by_test_id("stButton").filter(has=self.page.get_by_text(ALL_TRACES))).to_be_visible()
        self.settled()


@pytest.fixture
def lab(page: Page) -> Lab:
    return Lab(page)


@pytest.fixture
def new_lab(context: BrowserContext) -> Callable[[], Lab]:
    return lambda: Lab(context.new_page())


# ---- a model server ----


@dataclass
class ModelServer:
    """What the stub was asked, and whether it may answer."""

    url: str
    gate: threading.Event = field(default_factory=threading.Event)
    """While it is not set, requests wait."""
    echo: bool = False
    """Answer with the key that came with the request, and nothing else."""
    turns: list[list[tuple[str, dict[str, Any]]]] = field(
        default_factory=lambda: [[("add", {"a": 2, "b": 3})], [("multiply", {"a": 5, "b": 4})]]
    )
    """The calls of each reply; after them comes the final answer."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    active: int = 0
    peak: int = 0
    """The most requests that were open at one time."""
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def wait_for_request(self, count: int) -> None:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.requests) >= count, timeout=15)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """Answers like a model that adds, multiplies and then says the result."""
    state = ModelServer("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.arrived:
                state.requests.append(body)
                state.active += 1
                state.peak = max(state.peak, state.active)
                state.arrived.notify_all()
            try:
                state.gate.wait(30)
                self._answer(body)
            finally:
                with state.arrived:
                    state.active -= 1

        def _answer(self, body: dict[str, Any]) -> None:
            number = sum(message["role"] == "assistant" for message in body["messages"])
            calls = state.turns[number] if number < len(state.turns) else []
            delta: dict[str, Any] = {"role": "assistant", "content": None if calls else "The result is 20."}
            if calls:
                delta["tool_calls"] = [
                    {
                        "index": index,
                        "id": f"c{number}{index}",
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(arguments)},
                    }
                    for index, (name, arguments) in enumerate(calls)
                ]
            if state.echo:
                calls, delta = [], {"role": "assistant", "content": f"You sent {self.headers['Authorization']}"}
            finish = "tool_calls" if calls else "stop"
            usage = {"prompt_tokens": 40 + 20 * number, "completion_tokens": 8, "total_tokens": 48 + 20 * number}
            head = {"id": "x", "object": "chat.completion.chunk", "model": body["model"]}
            chunks = [
                {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
                {**head, "choices": [], "usage": usage},
            ]
            text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """The test's output stays clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    state.gate.set()
    server.shutdown()
    server.server_close()
