"""A trace in which every text is hostile, on every page and in every place that shows it: nothing is read as markup."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from traces.store import SAMPLES

pytestmark = pytest.mark.browser

MARKS = {
    ":red[mark-a]": "mark-a",
    "**mark-b**": "mark-b",
    "$mark-c$": "mark-c",
    "<b>mark-d</b>": "mark-d",
    "`mark-e`": "mark-e",
    ":green-badge[mark-f]": "mark-f",
    "[mark-g](javascript:alert(1))": "mark-g",
}
"""Markup with a word in it. Where a word stands on the page without what is before it here, it was read as markup."""

HOSTILE = (
    " ".join(MARKS)
    + " ![i](http://evil.example/p.png) <img src=http://evil.example/i.png onerror=\"document.title='owned'\">"
    "<script>document.title='owned'</script><iframe srcdoc='<script>parent.document.title=1</script>'></iframe>"
    ' https://evil.example/ :material/home: \x1b[31mred\x1b[0m \x00 \u202e =HYPERLINK("http://evil.example") ../../x'
)

KEPT = {"schema", "trace_id", "created", "at", "started", "decision", "kind", "role", "maker", "type"}
"""Keys whose values the format says."""

ADDED = """
window.labMarkup = new Set();
const look = node => {
  if (node.nodeType !== 1) return;
  for (const each of [node, ...node.querySelectorAll("*")]) {
    const link = each.getAttribute("href") || each.getAttribute("src") || each.getAttribute("xlink:href") || "";
    if (/evil|^javascript:/i.test(link) || each.hasAttribute("srcdoc") || each.hasAttribute("onerror")
        || each.classList.contains("katex")) window.labMarkup.add(each.outerHTML.slice(0, 200));
  }
};
document.addEventListener("DOMContentLoaded", () => {
  new MutationObserver(changes => changes.forEach(change => change.addedNodes.forEach(look)))
    .observe(document, {subtree: true, childList: true});
});
"""


def hostile(value: Any, key: str = "") -> Any:
    """The same JSON with every text and every key of one's own made hostile."""
    if isinstance(value, dict):
        own = key in ("arguments", "properties", "config")
        return {f"{name} {HOSTILE}" if own else name: hostile(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [hostile(item, key) for item in value]
    if key == "arguments" and isinstance(value, str):
        return json.dumps({HOSTILE: HOSTILE})
    return f"{value} {HOSTILE}" if isinstance(value, str) and key not in KEPT else value


@pytest.fixture
def two_hostile(data):
    """Two of them in the data folder, newer than all others; with an unknown role and maker, and a failed call."""
    base = json.loads((SAMPLES / "parallel.json").read_text())
    paths = []
    for number in (1, 2):
        trace = hostile(base) | {"trace_id": f"hostile-{number}", "created": f"2032-01-0{number}T00:00:00Z"}
        trace["messages"][0]["role"] = trace["entries"][0]["maker"] = trace["entries"][0]["agent"] = HOSTILE
        trace["messages"][-1]["content"] += f" {number}"
        trace["steps"][0]["tools"][0]["ok"] = False
        trace["steps"][0]["cost"] = 0.5
        trace["notes"] = [{"kind": HOSTILE, "text": HOSTILE, "step": 1}]
        trace["interventions"] = [{"kind": HOSTILE, "step": 1, "params": {HOSTILE: HOSTILE}}]
        trace[HOSTILE] = HOSTILE
        paths.append(data / f"hostile-{number}.json")
        paths[-1].write_text(json.dumps(trace))
    yield
    for path in paths:
        path.unlink()


@pytest.fixture
def watched(lab):
    """The page, with what it asks for and what of a trace became markup; both are looked at when the test is over."""
    asked: list[str] = []
    lab.page.on("request", lambda request: asked.append(request.url))
    lab.page.add_init_script(ADDED)
    yield lab
    assert [url for url in asked if "evil" in url] == []
    harmless(lab)


def harmless(lab) -> None:
    """Nothing on the page as it stands now was read as markup."""
    lab.settled()
    assert lab.page.evaluate("[...window.labMarkup]") == []
    assert "owned" not in lab.page.title()
    text = lab.page.evaluate("document.body.textContent")
    for markup, word in MARKS.items():
        before = re.escape(markup[: markup.index(word)])
        bare = re.search(rf"(?<!{before}){word}", text)
        assert bare is None, text[max(0, bare.start() - 80) : bare.end() + 40]


def test_every_part_of_a_trace_shows_hostile_texts_as_they_are(app, watched, two_hostile) -> None:
    page = watched.page
    watched.open(f"{app}/traces?trace=hostile-1&message=1")
    watched.rows(5)
    assert "mark-a" in page.evaluate("document.body.textContent")
    for message in range(1, 6):
        watched.select(message)
        expect(page.get_by_text(f"Message {message}", exact=True)).to_be_visible()
        harmless(watched)
    for tab in ("Findings", "Notes", "Request", "Tools"):
        page.get_by_role("tab", name=tab).first.click()
        harmless(watched)
    for chart in ("Time", "Context", "Cost", "Tools"):
        page.get_by_test_id("stButtonGroup").get_by_text(chart, exact=True).click()
        expect(page.locator(".js-plotly-plot")).to_have_count(1)
        harmless(watched)
    for field in ("Roles", "Tools"):
        page.get_by_role("combobox", name=field, exact=True).click()
        expect(page.get_by_role("option").first).to_be_visible()
        harmless(watched)
        page.get_by_role("option").first.click()
        page.keyboard.press("Escape")
        harmless(watched)
    page.get_by_text("Read as").first.click()
    harmless(watched)
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("button", name="Trace (JSON)")).to_be_visible()
    harmless(watched)


def test_the_list_shows_hostile_titles_as_they_are(app, watched, two_hostile) -> None:
    page = watched.page
    watched.open(f"{app}/traces")
    watched.cell(1, "mark-a")
    harmless(watched)
    page.get_by_label("Model", exact=True).click()
    expect(page.get_by_role("option").filter(has_text="mark-a").first).to_be_visible()
    harmless(watched)
    page.keyboard.press("Escape")
    page.get_by_text("Chart of the traces").click()
    expect(page.locator(".js-plotly-plot path.point").first).to_be_attached()
    harmless(watched)
    watched.select(1)
    expect(page.locator(".st-key-open-line")).to_be_visible()
    harmless(watched)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Moved to the trash")).to_be_visible()
    harmless(watched)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Moved to the trash")).to_be_hidden()


def test_a_comparison_shows_hostile_texts_as_they_are(app, watched, two_hostile) -> None:
    page = watched.page
    watched.open(f"{app}/compare?a=hostile-1&b=hostile-2")
    expect(page.get_by_text("they part at message")).to_be_visible()
    harmless(watched)
    for tab in ("Steps", "Numbers"):
        page.get_by_role("tab", name=tab).click()
        harmless(watched)
    page.get_by_role("combobox").first.click()
    expect(page.get_by_role("option").filter(has_text="mark-a").first).to_be_visible()
    harmless(watched)


def test_a_file_with_a_hostile_shape_can_be_read_by_its_columns(app, watched) -> None:
    records = [{f"who {HOSTILE}": HOSTILE, f"words {HOSTILE}": HOSTILE, "who": HOSTILE, "words": HOSTILE}] * 3
    watched.open(f"{app}/traces")
    content = json.dumps({HOSTILE: records}).encode()
    file = {"name": "<img src=x onerror=1> $x$ **b**.json", "mimeType": "application/json", "buffer": content}
    watched.page.locator('input[type="file"]').first.set_input_files(file)
    expect(watched.page.get_by_text("Read it by its columns")).to_be_visible()
    harmless(watched)


def test_a_message_of_ten_megabytes_and_broken_characters_open_at_once(app, watched) -> None:
    messages = [
        {"role": "user", "content": HOSTILE * 25_000},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "\ud800", "function": {"name": "\udfff", "arguments": "\ud800"}}],
        },
        {"role": "tool", "tool_call_id": "\ud800", "content": "\ud83d \x00 \x1b[2J"},
    ]
    content = json.dumps({"messages": messages, "model": "\ud800"}).encode()
    file = {"name": "..\\..\\huge.json", "mimeType": "application/json", "buffer": content}
    watched.open(f"{app}/traces")
    watched.page.locator('input[type="file"]').first.set_input_files(file)
    watched.rows(3)
    watched.settled()
    for message in range(1, 4):
        watched.select(message)
        expect(watched.page.get_by_text(f"Message {message}", exact=True)).to_be_visible()
        harmless(watched)
    expect(watched.page.get_by_test_id("stException")).to_have_count(0)
