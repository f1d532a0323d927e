"""The exported page in a real browser, opened from disk: nothing is requested, nothing of the trace is run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from agent import Message, ToolCall, Trace
from agent.trace import Entry, ToolRun, TraceStep
from traces.export import export

pytestmark = pytest.mark.browser

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HOSTILE = [
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 2</script>",
    "<img src=https://evil.test/a.png onerror='window.ran = 3'>",
    "<iframe srcdoc='<script>parent.ran = 4</script>'></iframe>",
    "<!--<script>",
    "![x](https://evil.test/b.png) [y](javascript:window.ran=5)",
    "\u2028</style><style>body{background:url(https://evil.test/c)}",
]


def made() -> Trace:
    """Hostile texts in every place that the page shows, an image, a call with a failed result, and a needle."""
    trace = Trace(trace_id="t1", title=HOSTILE[1], task=HOSTILE[0])
    calls = (ToolCall("c1", HOSTILE[2], {"q": HOSTILE[1]}),)
    trace.messages = [Message("user", text) for text in HOSTILE]
    trace.messages += [
        Message("user", [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]),
        Message("user", [{"type": "image_url", "image_url": {"url": "https://evil.test/d.png"}}]),
        Message("assistant", None, calls, extra={"reasoning": HOSTILE[0]}),
        Message("tool", "a needle in the result", tool_call_id="c1"),
        Message(HOSTILE[2], "an odd role"),
    ]
    trace.entries = [Entry(maker=HOSTILE[0], agent=HOSTILE[3], at=HOSTILE[1]) for _ in trace.messages]
    run = ToolRun(tool_call_id="c1", name=HOSTILE[2], message=10, ok=False)
    trace.steps = [TraceStep(index=1, reply=9, tools=[run], model=HOSTILE[1], finish_reason=HOSTILE[0])]
    trace.notes = [{"kind": "x", "text": HOSTILE[2]}]
    return trace


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Callable[..., Page]:
    """Opens the exported page of a trace from disk and fails the test when anything else is requested."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: pytest.fail(f"the page's script failed: {error}"))

    def open_page(trace: Trace, fragment: str = "", language: str = "en") -> Page:
        path = tmp_path / "trace.html"
        path.write_bytes(export(trace, "html", language=language).data)
        page.goto(f"{path.as_uri()}{fragment}")
        expect(page.locator("article")).to_have_count(len(trace.messages))
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        return page

    return open_page


def test_the_page_speaks_chinese(opened: Callable[..., Page]) -> None:
    page = opened(made(), language="zh")
    expect(page.get_by_role("searchbox", name="搜索所有消息")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("12 条消息中的 12 条")
    expect(page.get_by_text("✗ 工具失败了")).to_be_attached()
    heads = page.locator("dt, h2, p.small").all_text_contents()
    assert not any(word in text for text in heads for word in ("made by", "Messages", "asks for"))
    assert page.evaluate("window.ran") is None


def test_nothing_is_requested_and_nothing_of_the_trace_runs(opened: Callable[..., Page]) -> None:
    trace = made()
    page = opened(trace)
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    assert page.locator("script").count() == 2
    assert page.locator("iframe, style ~ style, link[href^=http]").count() == 0
    assert page.locator("img").count() == 1, "one image of the file itself; the one from elsewhere is only named"
    assert page.locator("img").evaluate("image => image.complete && image.naturalWidth") == 1
    for number, text in enumerate(HOSTILE, 1):
        assert page.locator(f"#m{number} pre").evaluate("pre => pre.textContent") == text
    refused = page.evaluate("fetch('https://evil.test/').then(() => 'sent', () => 'refused')")
    assert refused == "refused", "the policy lets not even our own script send anything"


def test_the_page_searches_everything_and_filters(opened: Callable[..., Page]) -> None:
    page = opened(made())
    shown = page.locator("article:visible")
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    expect(shown).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("1 of 12 messages")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#m11"
    page.get_by_role("searchbox").fill("")
    expect(shown).to_have_count(12)
    page.get_by_label("user 9").uncheck()
    expect(shown).to_have_count(3)
    page.get_by_label("errors only").check()
    expect(shown).to_have_count(1)
    page.get_by_role("link", name="#10").click()
    expect(page.locator("#m10")).to_be_in_viewport()


def test_a_link_lands_on_its_message_in_light_and_dark(opened: Callable[..., Page]) -> None:
    trace = Trace(trace_id="t1")
    for number in range(5000):
        trace.messages.append(Message("user", f"message {number} " + "word " * 2000 * (number % 5 == 0)))
        trace.entries.append(Entry(maker="user"))
    page = opened(trace, "#m4321")
    expect(page.locator("#m4321")).to_be_in_viewport()
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.get_by_role("button", name="Light / dark").click()
    assert page.evaluate(ground) != before
    page.get_by_role("searchbox").fill("message 4877")
    expect(page.locator("article:visible")).to_have_count(1)


def test_a_trace_is_handed_out_by_the_menu(app: str, lab: Any) -> None:
    secret = "sk-proj-Abcdefgh12345678Zz"
    messages = [{"role": "user", "content": f"use {secret}"}, {"role": "assistant", "content": "Done."}]
    lab.open(f"{app}/traces")
    lab.page.locator('input[type="file"]').set_input_files(
        {"name": "log.json", "mimeType": "application/json", "buffer": json.dumps(messages).encode()}
    )
    lab.page.get_by_role("button", name="Export").click()
    expect(lab.page.get_by_text("Secrets are taken out of every file: 3 here.")).to_be_visible()
    with lab.page.expect_download() as download:
        lab.page.get_by_role("button", name="Web page (HTML)").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename.endswith(".html")
    assert "Done." in text
    assert secret not in text
