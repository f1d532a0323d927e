"""The attributes of OpenTelemetry spans, in the words of every convention that is in use.

OpenInference (``llm.*``, Arize-ai/openinference ``spec/``), OpenTelemetry's own ``gen_ai.*``, Traceloop's numbered
``gen_ai.prompt.N``, the Vercel AI SDK (``ai.*``), pydantic-ai and Google's agent kit. One span may speak several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from traces.repair import as_text
from traces.reply import Reply
from traces.spans.dialects import NOTHING, Said, answered, asked, packed
from traces.spans.numbers import numbers_of, settings_of, usage_of
from traces.spans.tree import AGENT, MODEL, OTHER, TOOL, ToolUse, Words
from traces.unfold import branch, first, unfold
from traces.wire import gen_ai, openai_chat
from traces.wire.parts import Parts, linked, listed, mapping, words

Attributes = Mapping[str, Any]
Events = Sequence[tuple[str, Attributes]]
"""``(name, attributes)`` of each event of a span."""

_KINDS = {
    "LLM": MODEL,
    "TOOL": TOOL,
    "AGENT": AGENT,
    "chat": MODEL,
    "text_completion": MODEL,
    "generate_content": MODEL,
    "completion": MODEL,
    "execute_tool": TOOL,
    "invoke_agent": AGENT,
    "create_agent": AGENT,
    "llm": MODEL,
    "tool": TOOL,
    "agent": AGENT,
    "GENERATION": MODEL,
    "generation": MODEL,
}
_KIND_KEYS = (
    "openinference.span.kind",
    "langfuse.observation.type",
    "gen_ai.operation.name",
    "llm.request.type",
    "traceloop.span.kind",
    "langsmith.span.kind",
)
_VERCEL_CALL = re.compile(r"ai\.\w+\.(doGenerate|doStream)\b")
_VERCEL_RUN = re.compile(r"ai\.(generate|stream)(Text|Object)\b")
_AGENT_NAME = re.compile(r"(?:invoke_agent |agent_run )?\[?(.*?)\]?(?: run)?$")


# -- kinds ---------------------------------------------------------------------------------------------------------


def kind_of_span(name: str, attributes: Attributes) -> str:
    """model, tool, agent or other."""
    operation = str(first(attributes, "ai.operationId", "operation.name") or name)
    if operation.startswith("ai."):
        if _VERCEL_CALL.match(operation):
            return MODEL
        if operation.startswith("ai.toolCall"):
            return TOOL
        return AGENT if _VERCEL_RUN.match(operation) else OTHER
    for key in _KIND_KEYS:
        said = first(attributes, key)
        if isinstance(said, str) and said:
            kind = _KINDS.get(said) or _KINDS.get(said.lower())
            if kind or key == "openinference.span.kind":
                return kind or OTHER
    return _guessed(attributes)


def _guessed(attributes: Attributes) -> str:
    """The kind of a span that does not say it."""
    if first(attributes, "gen_ai.tool.name", "tool.name", "gen_ai.tool.call.id") is not None:
        return TOOL
    if first(attributes, "gen_ai.agent.name", "agent_name", "all_messages_events") is not None:
        return AGENT
    if first(attributes, "gen_ai.request.model", "llm.model_name") is None:
        return OTHER
    asked_embedding = str(first(attributes, "gen_ai.operation.name") or "").startswith("embed")
    return OTHER if asked_embedding or usage_of(attributes) is None else MODEL


def agent_name(name: str, attributes: Attributes, kind: str) -> str:
    """The agent's name that a span says; of an agent's own span its name without the words round it."""
    said = first(attributes, "gen_ai.agent.name", "agent.name", "agent_name", "ai.telemetry.functionId")
    if isinstance(said, str) and said:
        return said
    if kind != AGENT or name.startswith("ai."):
        return ""
    found = _AGENT_NAME.match(name)
    return (found[1] if found else name) or name


# -- model calls ---------------------------------------------------------------------------------------------------


def words_of(attributes: Attributes, events: Events = ()) -> Words:
    """What a model or an agent was told and what it said, with the numbers."""
    told = next((said for said in _told(attributes, events) if said.messages), NOTHING)
    gave = next((said for said in _gave(attributes, events) if said.messages), NOTHING)
    system = _instructions(attributes)
    if system:
        given = [as_text(message.get("content")) for message in told.messages if message.get("role") == "system"]
        system = [message for message in system if message["content"] not in given]
    model = first(
        attributes, "gen_ai.request.model", "llm.request.model", "ai.model.id", "llm.model_name", "model_name"
    )
    provider = first(
        attributes, "gen_ai.provider.name", "llm.provider", "gen_ai.system", "llm.system", "ai.model.provider"
    )
    reply = numbers_of(attributes, gave.reply)
    if reply.finish_reason is None and (reason := _raw_reason(attributes)):
        reply = replace(reply, finish_reason=reason)
    return Words(
        messages=[*system, *told.messages],
        answer=gave.messages,
        reply=reply,
        tools=_tools(attributes) or told.tools or gave.tools,
        model=words(model),
        provider=words(provider),
        settings=settings_of(attributes),
        plain=told.plain if told.messages else gave.plain,
    )


def _told(attributes: Attributes, events: Events) -> Iterator[Said]:
    yield from _openinference(branch(attributes, "llm.input_messages"))
    yield _given(attributes, "gen_ai.input.messages", "gen_ai.prompt.messages")
    yield _numbered(branch(attributes, "gen_ai.prompt"), "user")
    yield _given(attributes, "ai.prompt.messages", "ai.prompt")
    yield _evented(attributes, events, answers=False)
    for key in ("gcp.vertex.agent.llm_request", *_INPUTS):
        yield asked(first(attributes, key))


def _gave(attributes: Attributes, events: Events) -> Iterator[Said]:
    yield from _openinference(branch(attributes, "llm.output_messages"))
    yield answered(first(attributes, "gen_ai.output.messages"))
    yield _numbered(branch(attributes, "gen_ai.completion"), "assistant")
    yield _vercel(attributes)
    yield _evented(attributes, events, answers=True)
    for key in ("gcp.vertex.agent.llm_response", *_OUTPUTS):
        yield answered(first(attributes, key))


def _raw_reason(attributes: Attributes) -> str | None:
    """The finish reason in the response as it came, which conventions for messages leave out."""
    raw = unfold(first(attributes, "output.value"))
    return answered(raw).reply.finish_reason if isinstance(raw, dict) else None


_INPUTS: tuple[str, ...] = (
    "input.value",
    "traceloop.entity.input",
    "langfuse.observation.input",
    "request_data",
    "input",
)
_OUTPUTS: tuple[str, ...] = (
    "output.value",
    "traceloop.entity.output",
    "langfuse.observation.output",
    "response_data",
    "output",
)
_OUTPUTS += ("all_messages_events", "pydantic_ai.all_messages", "final_result")


def _given(attributes: Attributes, *keys: str) -> Said:
    return asked(first(attributes, *keys))


def _instructions(attributes: Attributes) -> list[Mapping[str, Any]]:
    value = unfold(first(attributes, "gen_ai.system_instructions"))
    if isinstance(value, list):
        value = "\n".join(as_text(mapping(part).get("content") or part) for part in value)
    return [{"role": "system", "content": value}] if isinstance(value, str) and value else []


def _openinference(items: Any) -> Iterator[Said]:
    """Messages of OpenInference: objects under ``message``, or the message itself; a gap is a message without words."""
    if isinstance(items, list):
        messages = [_of_openinference(item) for item in items if isinstance(item, dict)]
        yield Said(messages=[message for message in messages if message], plain=False)


def _of_openinference(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    data = branch(item, "message")
    data = data if isinstance(data, dict) else item
    role = data.get("role")
    if not isinstance(role, str):
        return None
    said = Parts()
    content = data.get("content")
    if isinstance(content, str) and content:
        said.text(content)
    for part in listed(branch(data, "contents")):
        _add_content(said, branch(part, "message_content"))
    for entry in listed(branch(data, "tool_calls")):
        call = mapping(branch(entry, "tool_call"))
        function = mapping(branch(call, "function"))
        arguments = function.get("arguments")
        said.call(call.get("id"), function.get("name"), arguments if arguments != "" else None)
    message = said.message({"model": "assistant"}.get(role, role))
    if name := words(data.get("function_call_name")):
        message["function_call"] = {"name": name, "arguments": data.get("function_call_arguments_json")}
    for key in ("tool_call_id", "name"):
        if isinstance(value := data.get(key), str):
            message[key] = value
    return message


def _add_content(said: Parts, part: Any) -> None:
    kind, text = mapping(part).get("type"), mapping(part).get("text")
    url = branch(mapping(part), "image.image.url")
    if kind == "reasoning" and isinstance(text, str):
        said.thought(text)
    elif isinstance(text, str):
        said.text(text)
    elif isinstance(url, str):
        said.add(linked(url))
    elif isinstance(part, dict):
        said.add(part)


def _numbered(items: Any, role: str) -> Said:
    """Traceloop's ``gen_ai.prompt.0.role``; others keep one JSON text under ``gen_ai.prompt``."""
    if not isinstance(items, list):
        return asked(items) if role == "user" else answered(items)
    if not all(item is None or isinstance(item, dict) for item in items):
        return Said()
    messages = [item if "parts" in item else _of_traceloop(item, role) for item in items if item]
    reason = next((r for item in listed(items) if (r := words(item.get("finish_reason")))), None)
    said = asked(messages) if role == "user" else answered(messages)
    return replace(said, reply=Reply(finish_reason=reason))


def _of_traceloop(item: Mapping[str, Any], role: str) -> Mapping[str, Any]:
    message = {"role": item.get("role") or role, "content": unfold(item.get("content"))}
    if isinstance(message["content"], dict) or not _is_content(message["content"]):
        message["content"] = item.get("content")
    if calls := listed(branch(item, "tool_calls")):
        message["tool_calls"] = [
            {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("arguments")}}
            for call in calls
        ]
    if words(item.get("tool_call_id")):
        message["tool_call_id"] = item["tool_call_id"]
    if words(item.get("reasoning")):
        message["reasoning_content"] = item["reasoning"]
    return message


def _is_content(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(mapping(p).get("type"), str) for p in value)


def _vercel(attributes: Attributes) -> Said:
    keys = ("ai.response.text", "ai.response.toolCalls", "ai.response.object", "ai.response.reasoning")
    text, calls, made, thought = (first(attributes, key) for key in (*keys,))
    text = text if text is not None else made
    if text is None and calls is None and thought is None:
        text = first(attributes, "ai.result.text", "ai.result.object")
        calls = first(attributes, "ai.result.toolCalls")
        if text is None and calls is None:
            return Said()
    said = answered({"text": as_text(text) if text is not None else None, "toolCalls": calls or []})
    if isinstance(thought, str) and said.messages:
        said = replace(said, messages=[{**said.messages[0], "reasoning_content": thought}])
    return said


def _evented(attributes: Attributes, events: Events, *, answers: bool) -> Said:
    """Messages that stand in events: one each, or all of them in one."""
    messages = [
        message
        for name, body in _event_list(attributes, events)
        if (name == "gen_ai.choice") is answers and (event := gen_ai.event_message(name, body)) is not None
        for message in packed(event)
    ]
    if messages:
        return Said(messages=messages, plain=False)
    for _, body in events:
        if answers:
            said = answered(first(body, "gen_ai.output.messages", "gen_ai.completion"))
        else:
            said = asked(first(body, "gen_ai.input.messages", "gen_ai.prompt"))
        if said.messages:
            return said
    return Said()


def _event_list(attributes: Attributes, events: Events) -> Iterator[tuple[str, Attributes]]:
    yield from events
    for item in listed(unfold(attributes.get("events"))):
        yield as_text(item.get("event.name") or ""), item


# -- tools on offer ----------------------------------------------------------------------------------------------------


def _tools(attributes: Attributes) -> list[dict[str, Any]]:
    found = [_schema(branch(item, "tool.json_schema")) for item in listed(branch(attributes, "llm.tools"))]
    found += [dict(item) for item in listed(branch(attributes, "llm.request.functions"))]
    for key in ("gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools"):
        value = unfold(first(attributes, key))
        found += [_schema(item) for item in value] if isinstance(value, list) else []
    asked_with = mapping(unfold(first(attributes, "model_request_parameters")))
    found += [_pydantic_tool(item) for item in listed(asked_with.get("function_tools"))]
    return openai_chat.tools_of({"tools": [tool for tool in found if tool]})


def _schema(value: Any) -> dict[str, Any]:
    value = unfold(value)
    value = dict(value) if isinstance(value, dict) else {}
    if "inputSchema" in value:
        value["parameters"] = value.pop("inputSchema")
    return value if "function" in value else {key: item for key, item in value.items() if key != "type"}


def _pydantic_tool(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": item.get("name"),
        "description": item.get("description"),
        "parameters": item.get("parameters_json_schema"),
    }


# -- tools ---------------------------------------------------------------------------------------------------------


def use_of(name: str, attributes: Attributes, events: Events = ()) -> ToolUse:
    """What a span says about a tool run."""
    said = {event: first(body, "content", "message") for event, body in events}
    tool = first(attributes, "gen_ai.tool.name", "tool.name", "ai.toolCall.name", "tool_call.function.name")
    tool = tool or first(attributes, "traceloop.entity.name")
    result = first(attributes, "gen_ai.tool.call.result", "ai.toolCall.result", "tool_response", *_TOOL_OUTPUTS)
    arguments = first(attributes, "gen_ai.tool.call.arguments", "ai.toolCall.args", "tool_arguments", *_TOOL_INPUTS)
    result = result if result is not None else said.get("gen_ai.choice")
    arguments = arguments if arguments is not None else said.get("gen_ai.tool.message")
    call_id = first(attributes, "gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
    return ToolUse(
        name=words(tool) or name.removeprefix("execute_tool ").removeprefix("running tool: "),
        call_id=words(call_id) or "",
        arguments=_given_to(unfold(arguments)),
        result=None if result is None else result_text(result),
    )


def _given_to(arguments: Any) -> Any:
    """What a tool was given, without how its Python function was called: ``{"args": [], "kwargs": {...}}``."""
    named = arguments.get("kwargs") if isinstance(arguments, dict) else None
    return named if isinstance(named, dict) and named and not arguments.get("args") else arguments


_TOOL_INPUTS: tuple[str, ...] = (
    "gcp.vertex.agent.tool_call_args",
    "tool_call.function.arguments",
    "input.value",
    *_INPUTS[1:],
)
_TOOL_OUTPUTS = ("gcp.vertex.agent.tool_response", "output.value", *_OUTPUTS[1:5])


def result_text(value: Any) -> str:
    """A tool's result as the text that a model is given: of a message its content, of content parts their text."""
    inner = unfold(value)
    if isinstance(inner, dict) and inner.get("lc") == 1 and isinstance(inner.get("kwargs"), dict):
        inner = inner["kwargs"]
    if isinstance(inner, dict) and (inner.get("type") == "tool" or inner.keys() <= {"content", "role", "isError"}):
        inner = inner.get("content", inner)
    if isinstance(inner, list) and inner and all(isinstance(mapping(part).get("text"), str) for part in inner):
        return "\n".join(part["text"] for part in inner)
    if isinstance(inner, str):
        return inner
    return value if isinstance(value, str) else as_text(inner)
