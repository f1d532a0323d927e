"""The forms for people in both languages: every text of ours has its Chinese, and no text of the trace is touched."""

from __future__ import annotations

import ast
import json
import re
import string
from pathlib import Path

import pytest

from agent import Message, Trace
from agent.errors import InputError
from agent.trace import Entry, TraceStep
from agent.usage import Usage
from traces.export import export
from traces.export.words import LANGUAGES, sayer, table

FOLDER = Path(__file__).parents[2] / "traces" / "export"
ROLES = {"system", "developer", "user", "assistant", "tool", "function", "model", "code", "environment"}
"""Words that the page looks up by the value that stands in the trace."""


def said() -> set[str]:
    """Every text that the exporters and the script of the page say."""
    found = set(re.findall(r'\bt\("([^"]+)"', (FOLDER / "transcript.js").read_text(encoding="utf-8")))
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                assert isinstance(node.args[0], ast.Constant), "texts are written out where they are used"
                found.add(node.args[0].value)
    return found | ROLES


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_text_has_its_chinese_and_none_is_left_over() -> None:
    assert said() == set(table("zh"))
    assert [text for text, chinese in table("zh").items() if fields(text) != fields(chinese)] == []


def test_an_unknown_language_is_refused_by_a_sentence() -> None:
    with pytest.raises(InputError, match="choose one of en, zh"):
        sayer("fr")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("format", ["html", "markdown"])
def test_words_of_the_trace_stay_as_they_are(format: str, language: str) -> None:
    trace = Trace(trace_id="t1", title="Task {n}")
    trace.messages = [Message("user", "not reported {n}"), Message("assistant", "system")]
    trace.entries = [Entry(maker="user"), Entry(maker="model")]
    trace.steps = [TraceStep(index=1, reply=1, usage=Usage(1200, 30, 1230, 1000), latency_ms=12)]
    page = export(trace, format, language=language).data.decode()
    assert "not reported {n}" in page
    assert "Task {n}" in page
    assert ("提示 1,200（缓存 1,000）" in page) is (language == "zh")
    assert ("1,200 prompt (1,000 cached)" in page) is (language == "en")


def test_the_page_says_which_language_it_speaks() -> None:
    trace = Trace(trace_id="t1")
    assert '<html lang="zh-Hans">' in export(trace, "html", language="zh").data.decode()
    page = export(trace, "html").data.decode()
    assert '<html lang="en">' in page
    data = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert data is not None
    assert json.loads(data[1])["words"] == {}
