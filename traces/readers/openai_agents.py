"""OpenAI Agents SDK: traces and spans as its exporters give them, and the saved state of a run.

Spec: openai/openai-agents-python, ``src/agents/tracing/span_data.py``, ``spans.py`` and ``run_state.py``. Spans stand
in the order of their ends; those of the Responses API hold no words, which are then known from the tool runs alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.repair import as_text
from traces.reply import Reply
from traces.spans.conversations import read_spans
from traces.spans.dialects import answered, asked
from traces.spans.tree import AGENT, MODEL, OTHER, TOOL, Span, ToolUse, Words, moment
from traces.unfold import object_in, unfold
from traces.wire import responses
from traces.wire.parts import listed, mapping, words

NAME = "openai-agents"
_LOOKED_AT = 50
_KINDS = {"agent": AGENT, "generation": MODEL, "response": MODEL, "function": TOOL}
_DEEPEST = 4


# -- finding -------------------------------------------------------------------------------------------------------


def matches(document: Document) -> bool:
    """Some of the first records are traces or spans of this SDK, or the state of a run."""
    return any(
        _is_state(record) or any(True for _ in _items(record, _LOOKED_AT)) for record in document.records[:_LOOKED_AT]
    )


def _is_state(value: Any) -> bool:
    return isinstance(value, dict) and "$schemaVersion" in value and isinstance(value.get("generated_items"), list)


def _items(value: Any, most: int | None = None, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Traces and spans of one record, which may be wrapped as an event, or be a list of them; of the first ``most``."""
    if isinstance(value, list) and depth < _DEEPEST:
        for item in value[:most]:
            yield from _items(item, most, depth + 1)
    if not isinstance(value, dict):
        return
    if value.get("object") in ("trace", "trace.span") and "id" in value:
        yield value
        if depth < _DEEPEST:
            yield from _items(value.get("spans"), most, depth + 1)
    elif depth < _DEEPEST:
        for key in ("data", "span", "trace", "spans", "items"):
            yield from _items(value.get(key), most, depth + 1)


def read(document: Document, out: ImportBuilder) -> None:
    """Read every trace and span of the file, or the state of a run."""
    spans: list[Span] = []
    titles: dict[str, str] = {}
    remarks: list[tuple[str, str]] = []
    for number, record in enumerate(document.records):
        if _is_state(record):
            _read_state(record, out)
            continue
        found = list(_items(record))
        if not found:
            out.unread("a record that is neither a trace nor a span")
        for item in found:
            if item.get("object") == "trace":
                titles[as_text(item["id"])] = as_text(item.get("workflow_name") or "")
            else:
                spans.append(_span(item, document.line_of(number)))
                remarks += [(as_text(item.get("trace_id") or ""), text) for text in _remarks(item)]
    begun = read_spans(spans, out, titles)
    for trace, text in dict.fromkeys(remarks):
        if begun.get(trace):
            begun[trace][0].note("guardrail", text)


def _remarks(item: Mapping[str, Any]) -> Iterator[str]:
    data = mapping(item.get("span_data"))
    if data.get("type") == "guardrail" and data.get("triggered") is True:
        yield f"the guardrail {as_text(data.get('name') or '')} stopped the run"


# -- spans ---------------------------------------------------------------------------------------------------------


def _span(item: Mapping[str, Any], line: int | None) -> Span:
    data = mapping(item.get("span_data"))
    kind = _KINDS.get(str(data.get("type")), OTHER)
    name = as_text(data.get("name") or data.get("type") or "")
    error = item.get("error")
    return Span(
        id=as_text(item.get("id") or ""),
        trace=as_text(item.get("trace_id") or ""),
        parent=words(item.get("parent_id")),
        name=name,
        kind=kind,
        agent=name if kind == AGENT else "",
        started=moment(item.get("started_at")),
        ended=moment(item.get("ended_at")),
        error=as_text(mapping(error).get("message") or error) if error else None,
        read=partial(_words, data),
        use=partial(_use, data, name, bool(error)),
        line=line,
    )


def _words(data: Mapping[str, Any]) -> Words:
    """A generation holds what was said; a response only its numbers, except where somebody added the rest."""
    response = object_in(data.get("response"))
    told, gave = asked(data.get("input")), answered(data.get("output") or response.get("output"))
    model = words(data.get("model")) or words(response.get("model"))
    usage = usage_of(data.get("usage")) or usage_of(response.get("usage"))
    return Words(
        messages=told.messages,
        answer=gave.messages,
        reply=replace(gave.reply, usage=usage or gave.reply.usage, model=model),
        tools=responses.tools_of(response),
        model=model,
        settings=_settings(data),
        plain=told.plain if told.messages else gave.plain,
    )


def _settings(data: Mapping[str, Any]) -> dict[str, Any]:
    given = object_in(data.get("model_config"))
    return {key: value for key, value in given.items() if value is not None}


def usage_of(data: Any) -> Usage | None:
    """Tokens in the names of either API of OpenAI; states keep details as lists, and zeros where nothing was asked."""
    if not isinstance(data, dict):
        return None
    data = {key: value[0] if isinstance(value, list) and value else value for key, value in data.items()}
    usage = responses.usage_of(data) if "input_tokens" in data else Usage.from_openai(data)
    return usage if usage is not None and (usage.total or usage.prompt_tokens or usage.completion_tokens) else None


def _use(data: Mapping[str, Any], name: str, failed: bool) -> ToolUse:
    output = data.get("output")
    return ToolUse(
        name=name,
        arguments=unfold(data.get("input")),
        result=None if output is None else as_text(output),
        ok=False if failed else None,
    )


# -- the state of a run --------------------------------------------------------------------------------------------


def _read_state(state: Mapping[str, Any], out: ImportBuilder) -> None:
    """What was asked and what was made since, call by call; a run may wait for a person."""
    about = mapping(state.get("trace"))
    trace = out.trace(as_text(about.get("workflow_name") or ""))
    asked_with = state.get("original_input")
    for message in responses.messages_of({"input": asked_with if isinstance(asked_with, (str, list)) else []}):
        trace.message(message)
    items = [item for item in listed(state.get("generated_items")) if item.get("type") != "tool_approval_item"]
    known = listed(asked_with)
    items = [item for item in items if item.get("raw_item") not in known]  # a handoff makes them part of the input
    replies = [_reply(response) for response in listed(state.get("model_responses"))]
    for agent, own in groupby(items, key=lambda item: words(mapping(item.get("agent")).get("name"))):
        for message in responses.converted([mapping(item.get("raw_item")) for item in own]):
            trace.message(message, agent=agent if message.get("role") == "assistant" else None)
            if message.get("role") == "assistant" and replies:
                trace.numbers(replies.pop(0))
    trace.reported(usage=usage_of(mapping(state.get("context")).get("usage")))
    _end(state, trace)


def _reply(response: Mapping[str, Any]) -> Reply:
    return Reply(usage=usage_of(response.get("usage")), id=words(response.get("response_id")))


def _end(state: Mapping[str, Any], trace: TraceBuilder) -> None:
    step = mapping(state.get("current_step"))
    waits = listed(mapping(step.get("data")).get("interruptions"))
    names = [as_text(item.get("tool_name") or mapping(item.get("raw_item")).get("name") or "") for item in waits]
    if names:
        trace.outcome("interrupted", detail=f"the run waits for a person to approve {', '.join(names)}")
