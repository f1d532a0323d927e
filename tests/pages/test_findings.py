"""The findings of the linter on a page: counts, list, places, both languages; words of a trace stay plain text."""

from __future__ import annotations

import string
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent import Message, ToolCall, Trace
from agent.trace import ToolRun, TraceStep
from pages.parts.finding_words import translations
from traces.lint import RULES, lint

HOSTILE = "![t](https://evil.example/p) <img src=x onerror=alert(1)> {0} {n}"


def page() -> None:
    """A page that shows nothing but the findings of the trace in the session."""
    import streamlit as st

    from pages.parts.findings import count_words, findings_panel
    from traces.lint import lint

    trace = st.session_state["trace"]
    st.code(count_words(lint(trace)))
    findings_panel(trace, lint(trace), key="f")


def opened(trace: Trace, **parameters: str) -> AppTest:
    app = AppTest.from_function(page, default_timeout=30)
    app.session_state["trace"] = trace
    for key, value in parameters.items():
        app.query_params[key] = value
    return drawn(app)


def drawn(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def trace_with_orphans(count: int, name: str = "c") -> Trace:
    trace = Trace()
    trace.add(Message("user", "go"), "user")
    for number in range(count):
        trace.add(Message("tool", "x", tool_call_id=f"{name}{number}"), "environment")
    return trace


def looping() -> Trace:
    trace = Trace()
    trace.add(Message("user", "go"), "user")
    for number in range(3):
        call = ToolCall("c", HOSTILE, {"a": 1})
        reply = trace.add(Message("assistant", None, tool_calls=(call,)), "model", number + 1)
        result = trace.add(Message("tool", "same", tool_call_id="c"), "environment", number + 1)
        run = ToolRun(tool_call_id="c", name=HOSTILE, arguments={"a": 1}, message=result, ok=True, decision="run")
        trace.steps.append(TraceStep(index=number + 1, reply=reply, tools=[run]))
    return trace


def test_a_sound_trace_says_so_and_shows_no_list() -> None:
    trace = Trace()
    trace.add(Message("user", "go"), "user")
    app = opened(trace)
    assert app.code[0].value == ""
    assert [caption.value for caption in app.caption] == ["The linter found nothing to remark on."]


def test_findings_are_counted_by_severity_and_a_button_selects_the_message() -> None:
    app = opened(trace_with_orphans(2))
    assert app.code[0].value == "✖ error 2"
    assert [button.label for button in app.button] == ["Message 2", "Message 3"]
    app.button[1].click()
    drawn(app)
    assert app.query_params["message"] == "3"


def test_hundreds_of_findings_come_in_pages_and_by_rule() -> None:
    app = opened(trace_with_orphans(300))
    assert len(app.button) == 6
    assert app.selectbox[0].options == ["All rules: 300", "✖ Result without a call: 300"]
    app.selectbox[0].select("orphan_result")
    drawn(app)
    assert len(app.button) == 6


def test_words_of_the_trace_are_plain_text() -> None:
    app = opened(looping())
    assert any(HOSTILE in text.value for text in app.text)
    assert all("evil.example" not in block.value for block in [*app.markdown, *app.caption])


def test_everything_is_said_in_chinese() -> None:
    app = opened(trace_with_orphans(1), lang="zh")
    assert app.code[0].value == "✖ 错误 1"
    assert app.text[0].value.startswith("消息 2 是 c0 的工具结果")


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_every_text_of_a_rule_has_a_chinese_form_with_the_same_fields(rule: Any) -> None:
    for text in (rule.title, *rule.says, rule.why, rule.fix):
        assert _fields(text) == _fields(translations()[text])


def test_no_translation_is_left_over() -> None:
    texts = {text for rule in RULES.values() for text in (rule.title, *rule.says, rule.why, rule.fix)}
    assert translations().keys() == texts


def test_findings_that_are_shown_are_those_of_the_linter() -> None:
    trace = looping()
    assert [finding.rule.name for finding in lint(trace)] == ["exact_loop"]


def _fields(text: str) -> set[tuple[str | None, str | None]]:
    return {(name, form) for _, name, form, _ in string.Formatter().parse(text) if name}
