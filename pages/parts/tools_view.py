"""The tools on offer: what the model is told about each of them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent import jsontext
from agent.asked import Asked, asked_in
from agent.models.json_action import KEY, to_chat
from agent.trace import Trace, TraceStep
from pages.parts.message_view import text_block
from pages.parts.words import t
from traces.requests import body_text

MOST = 30
"""Most tools drawn one by one; the rest stands in the JSON of all of them."""


def tools_view(trace: Trace, step: TraceStep | None = None, *, key: str) -> None:
    """Draw every tool with its description and parameters, and its schema as the model sees it.

    Args:
        trace: whose tools; a trace that nobody changes meanwhile.
        step: the step in which they were on offer; None: as they are now.
        key: names the widgets.
    """
    asked = asked_in(trace, step or TraceStep(index=0))
    tools = as_sent(asked)
    if not tools:
        called = any(message.tool_calls for message in trace.messages)
        st.caption(t("The file does not say which tools were on offer.") if called else t("No tool is on offer."))
        return
    st.caption(t("All that the model knows about the tools is what stands here. It never sees their code."))
    for number, schema in enumerate(tools[:MOST]):
        _tool(schema, native=asked.protocol != KEY, key=f"{key}-{number}")
    if len(tools) > MOST:
        st.caption(t("{n} more tools stand in the JSON of all of them.", n=len(tools) - MOST))
        text_block(body_text({"tools": tools}), key=f"{key}-all", file_name="tools.json")
    if asked.protocol == KEY:
        st.caption(t("This model knows no tools of its own: the program writes them into the system text."))
        text_block(to_chat([], asked.tools)[0].text, key=f"{key}-instruction", file_name="instruction.txt")


def as_sent(asked: Asked) -> list[dict[str, Any]]:
    """The schemas in the dialect of the host, as they stand in the body of a request."""
    body = asked.form.body([], asked.tools if asked.protocol != KEY else [])
    return list(body.get("tools") or asked.tools)


def _tool(schema: dict[str, Any], *, native: bool, key: str) -> None:
    function = _object(schema.get("function"))
    with st.container(border=True, key=key, gap="xsmall"):
        lines = _parameters(_object(function.get("parameters"))) or [t("It takes no parameters.")]
        about = [str(function.get("name") or "?"), str(function.get("description") or t("no description"))]
        for text in (*about, "\n".join(lines)):
            st.text(jsontext.clean(text))
        if native:
            with st.expander(
                t("Schema as the model sees it"), type="compact", key=f"{key}-open", on_change="rerun"
            ) as box:
                if box.open:
                    text_block(body_text(schema), key=f"{key}-schema", file_name="tool.json")


def _parameters(schema: dict[str, Any]) -> list[str]:
    """One line a parameter: its name, its type, whether it must be given, and what it is."""
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    lines = []
    for name, about in _object(schema.get("properties")).items():
        about = _object(about)
        must = t("required") if name in needed else t("optional")
        words = f"{'●' if name in needed else '○'} {name}: {_type(about)} ({must})"
        description = about.get("description")
        lines.append(f"{words} {description}" if description else words)
    return lines


def _type(about: dict[str, Any]) -> str:
    """The type as JSON Schema has it; what is chosen from a list, or from several types, in full."""
    if isinstance(about.get("enum"), list):
        return " | ".join(map(str, about["enum"]))
    if isinstance(about.get("anyOf"), list):
        return " | ".join(_type(_object(each)) for each in about["anyOf"])
    kind = about.get("type")
    return " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind or t("anything"))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
