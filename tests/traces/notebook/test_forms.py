"""A notebook as Markdown and as a page: all of it is there, and nothing that anybody wrote becomes markup."""

from __future__ import annotations

import json
import re
import string
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from agent import Trace
from agent.messages import Message
from tests.traces.notebook.papers import lesson_notebook, troubled
from traces.notebook import jupyter, markdown, page
from traces.notebook.cells import Notebook, Own
from traces.notebook.clean import cleaned
from traces.notebook.markdown import escaped
from traces.notebook.notes import PlacedNote

HOSTILE = "<script>alert(1)</script> [x](http://e.x) # not a title\n# nor this\n1. nor a list\n* www.e.x `a` $b$"
NOTES = [
    PlacedNote("a", "trace", "on the whole"),
    PlacedNote("b", "message-3", HOSTILE),
    PlacedNote("c", "end", "at the end"),
]


def without_code(text: str) -> str:
    """Markdown without its fenced blocks and code spans."""
    text = re.sub(r"^(`{3,})\n.*?\n\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(`+) .*? \1", "", text)


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_markdown_holds_the_lesson_the_run_and_the_notes_in_their_order() -> None:
    text = markdown.write(lesson_notebook(), NOTES).decode()
    wanted = ["# A sum, run once", "on the whole", "## The lesson", "## The run begins", "## THINK · call · step 1",
              "## Predict and notice", "## OBSERVE · append · step 1", "My note on message 4", "## The end",
              "at the end", "## Afterwards"]  # fmt: skip
    places = [text.index(each) for each in wanted]
    assert places == sorted(places)
    assert "THINK: prepare → [call] → TOOL_CALL: approve → execute" in text


def test_in_markdown_nothing_of_a_run_a_lesson_or_a_note_is_active() -> None:
    for notebook in (Notebook(troubled()), lesson_notebook()):
        text = markdown.write(notebook, NOTES).decode()
        rest = without_code(text)
        assert "<" not in rest
        assert not re.search(r"(?<!\\)\[[^\]]*\]\(", rest)
        assert "http:" not in rest
        assert "# nor this" not in re.sub(r"\\#", "", rest)
        assert "$b$" not in rest


def test_escaping_keeps_every_sign_and_reads_as_it_was() -> None:
    made = escaped(string.punctuation + "\n- x\n12) y\n+ z\n=")
    back = re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", made))
    assert back.replace("  \n", "\n") == string.punctuation + "\n- x\n12) y\n+ z\n="
    assert escaped("1. a\n001. b\n2026) c") == "1\\. a  \n001\\. b  \n2026\\) c"
    assert escaped("plain words, nothing else.") == "plain words, nothing else."


def test_the_page_needs_no_script_and_requests_nothing() -> None:
    found = Tags(page.write(Notebook(troubled()), NOTES).decode())
    assert "script" not in found.tags
    assert "b" not in found.tags
    assert {address for address in found.addresses if not address.startswith("#ring-")} == {"data:,"}
    words = "".join(found.words)
    assert "<script>alert(1)</script>" in words
    assert "the disk is <full>" in words


def test_the_pictures_are_drawn_once_and_told_in_words() -> None:
    text = page.write(lesson_notebook()).decode()
    assert len(re.findall("<symbol ", text)) == 7
    used = re.findall(r'<use href="#([a-z-]+)">', text)
    assert used == ["ring-prepare", "ring-call", "ring-append", "ring-append", "ring-call", "ring-call", "ring-done"]
    assert 'aria-label="The loop in THINK: call acts"' in text


@pytest.mark.parametrize("form", [markdown, page])
def test_our_own_words_are_chinese_where_that_is_asked_for_and_those_of_the_trace_stay(form: object) -> None:
    notebook = lesson_notebook("zh")
    text = form.write(notebook, NOTES, lambda sentence: f"译 {sentence}").decode()  # type: ignore[attr-defined]
    for word in ("算一次加法", "第 1 步", "调用模型", "停止原因", "运行的回答", "我的笔记"):
        assert word in text
    assert "The model" not in text


def test_an_image_of_a_message_stands_in_the_page_itself() -> None:
    trace = Trace(trace_id="t1")
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{dot}"}}]
    trace.add(Message("user", parts), "user")
    assert f"data:image/png;base64,{dot}" in page.write(Notebook(trace)).decode()


def test_every_form_holds_what_the_learner_predicted_and_wrote_as_plain_words() -> None:
    notebook = replace(lesson_notebook(), own=Own({"1-append.maker": "model"}, f"my words\n\n{HOSTILE}", True))
    text = markdown.write(notebook).decode()
    cells = json.loads(jupyter.write(notebook))["cells"]
    told = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for form in (text, told):
        assert "**My prediction** · model (not right)" in form
        assert "**My answer** · my words" in form and "**The answer of the lesson** · Any two" in form
        assert "<script" not in form and not re.search(r"(?<!\\)\[x\]\(", form)
    found = Tags(page.write(notebook).decode())
    words = "".join(found.words)
    assert "My prediction · model (not right)" in words and f"My answer · my words\n\n{HOSTILE}" in words
    assert "script" not in found.tags


def test_secrets_of_the_run_and_of_the_notes_stay_here() -> None:
    key = "sk-proj-" + "Ab3dEf6hIj9k" * 4
    notebook = replace(lesson_notebook(), own=Own(words=f"I used {key}"))
    notebook.trace.add(Message("user", f"my key is {key}"), "user")
    for form in (markdown, page, jupyter):
        assert key.encode() not in form.write(*cleaned(notebook, [PlacedNote("a", "end", f"do not lose {key}")]))
    assert key in notebook.trace.messages[-1].text
