"""Langfuse: an exported trace with its observations, or several of them.

The app exports ``{"trace", "observations"}``; the API gives a trace that holds its observations, or lists of either.
Inputs, outputs and metadata are often JSON inside text. Spec: langfuse/langfuse, ``fern/apis/server/definition``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agent.trace import Evidence
from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import known_usage
from traces.repair import as_text
from traces.reply import Reply
from traces.spans.attributes import agent_name, kind_of_span, result_text, use_of, words_of
from traces.spans.conversations import read_spans
from traces.spans.dialects import answered, asked
from traces.spans.numbers import completed, cost_of, tokens_of
from traces.spans.tree import AGENT, MODEL, OTHER, TOOL, Span, ToolUse, Words, moment
from traces.times import elapsed_ms
from traces.unfold import first, number, object_in, unfold
from traces.wire.openai_chat import tools_of
from traces.wire.parts import listed, words

NAME = "langfuse"
_LOOKED_AT = 20
_KINDS = {"GENERATION": MODEL, "TOOL": TOOL, "AGENT": AGENT}


# -- finding -------------------------------------------------------------------------------------------------------


def matches(document: Document) -> bool:
    """Some of the first records are traces with observations, or observations."""
    return any(_holds(record) for record in document.records[:_LOOKED_AT])


def _holds(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("data"), list):
        return any(_holds(item) for item in value["data"][:_LOOKED_AT])
    return _is_observation(value) or any(_is_observation(item) for item in _observations(value)[:_LOOKED_AT])


def _is_observation(value: Any) -> bool:
    if not isinstance(value, dict) or not {"id", "type", "startTime"} <= value.keys():
        return False
    return not value.keys().isdisjoint(("parentObservationId", "traceId", "usageDetails", "statusMessage"))


def _observations(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The outer list; some exports hold the same observations inside the trace once more."""
    outer = unfold(value.get("observations"))
    return listed(outer) or listed(unfold(object_in(value.get("trace")).get("observations")))


def read(document: Document, out: ImportBuilder) -> None:
    """Read every trace of the file."""
    spans: list[Span] = []
    traces: dict[str, Mapping[str, Any]] = {}
    for number_, record in enumerate(document.records):
        found = list(_traces_in(record))
        if not found:
            out.unread("a record that is neither a trace with observations nor an observation")
        for about, observations in found:
            trace_id = as_text(about.get("id") or next((o["traceId"] for o in observations if o.get("traceId")), ""))
            traces.setdefault(trace_id, about)
            spans += [_span(each, trace_id, document.line_of(number_)) for each in observations]
    titles = {trace_id: as_text(about["name"]) for trace_id, about in traces.items() if about.get("name")}
    for trace_id, builders in read_spans(spans, out, titles).items():
        if builders:
            _finish(builders[0], traces.get(trace_id, {}))


def _traces_in(record: Any) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """``(trace, its observations)`` of one record."""
    if not isinstance(record, dict):
        return
    if isinstance(record.get("data"), list):
        for item in record["data"]:
            yield from _traces_in(item)
    elif observations := _observations(record):
        inner = record.get("trace")
        yield (inner if isinstance(inner, dict) else record), observations
    elif _is_observation(record):
        yield {"id": record.get("traceId")}, [record]


def _finish(builder: TraceBuilder, about: Mapping[str, Any]) -> None:
    """What the trace says of the whole: scores, cost and length."""
    checks = [check for score in listed(about.get("scores")) if (check := _check(score)) is not None]
    builder.outcome(checks=checks)
    seconds = number(about.get("latency"))
    builder.reported(
        cost=cost_of(about.get("totalCost")),
        duration_s=seconds if seconds is not None and 0 <= seconds < 1e9 else None,
    )


def _check(score: Mapping[str, Any]) -> Evidence | None:
    value = score.get("stringValue") if score.get("value") is None else score.get("value")
    name = words(score.get("name"))
    if name is None:
        return None
    ok = value if isinstance(value, bool) else None
    if score.get("dataType") == "BOOLEAN" and value in (0, 1):
        ok = bool(value)
    detail = [as_text(part) for part in (value, score.get("comment")) if part not in (None, "")]
    return Evidence(check=name, ok=ok, detail=": ".join(detail))


# -- observations --------------------------------------------------------------------------------------------------


def _span(data: Mapping[str, Any], trace_id: str, line: int | None) -> Span:
    attributes = object_in(object_in(data.get("metadata")).get("attributes"))
    name = as_text(data.get("name") or "")
    kind = _kind(data, name, attributes)
    parent, failed = data.get("parentObservationId"), data.get("level") == "ERROR"
    return Span(
        id=as_text(data.get("id") or ""),
        trace=as_text(data.get("traceId") or trace_id),
        parent=parent if isinstance(parent, str) else None,
        name=name,
        kind=kind,
        agent=agent_name(name, attributes, kind),
        started=moment(data.get("startTime")),
        ended=moment(data.get("endTime")),
        error=(words(data.get("statusMessage")) or "the observation has the level ERROR") if failed else None,
        read=partial(_words, data, attributes),
        use=partial(_use, data, name, attributes),
        line=line,
    )


def _kind(data: Mapping[str, Any], name: str, attributes: Mapping[str, Any]) -> str:
    said = kind_of_span(name, attributes)
    kind = _KINDS.get(str(data.get("type")))
    if kind == MODEL and said == AGENT and name.startswith("ai."):
        return AGENT  # the Vercel AI SDK's span round several calls
    if kind is None and said == OTHER and _tool_message(data) is not None:
        return TOOL
    return kind or said


def _tool_message(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """LangChain's tools are plain spans that give a tool message; in JavaScript its role is the tool's name."""
    output, name = data.get("output"), data.get("name")
    if not isinstance(output, (dict, str)) or not isinstance(name, str):
        return None
    if isinstance(output, str) and '"tool_call_id"' not in output and f'"{name}"' not in output:
        return None
    message = object_in(output)
    named = bool(name) and message.get("role") == name and "content" in message
    return message if named or (message.get("type") == "tool" and "tool_call_id" in message) else None


def _use(data: Mapping[str, Any], name: str, attributes: Mapping[str, Any]) -> ToolUse:
    use = use_of(name.removeprefix("tool."), attributes)
    message = _tool_message(data) or {}
    given, gave = unfold(data.get("input")), data.get("output")
    if isinstance(given, dict) and given.keys() == {"input"}:
        given = given["input"]
    result = use.result if use.result is not None else None if gave is None else result_text(gave)
    return replace(
        use,
        call_id=use.call_id or as_text(message.get("tool_call_id") or ""),
        arguments=use.arguments if use.arguments is not None else given,
        result=result,
        ok=False if data.get("level") == "ERROR" or message.get("status") == "error" else None,
    )


def _words(data: Mapping[str, Any], attributes: Mapping[str, Any]) -> Words:
    told, gave = asked(data.get("input")), answered(data.get("output"))
    more = words_of(attributes) if attributes else Words()
    messages, plain = (told.messages, told.plain) if told.messages else (more.messages, more.plain and gave.plain)
    if told.plain and more.messages and not more.plain:
        messages, plain = more.messages, False
    answer = gave.messages
    if more.answer and not any(m.get("tool_calls") for m in answer) and any(m.get("tool_calls") for m in more.answer):
        answer = more.answer
    settings = dict(object_in(data.get("modelParameters"))) or more.settings
    system = words(settings.pop("instructions", None))  # of the Responses API, whose input does not repeat them
    if system and messages and not any(message.get("role") == "system" for message in messages):
        messages = [{"role": "system", "content": system}, *messages]
    return Words(
        messages=messages,
        answer=answer or more.answer,
        reply=_numbers(data, gave.reply, more.reply),
        tools=more.tools or told.tools or gave.tools or _offered(data),
        model=words(data.get("model")) or more.model,
        provider=more.provider,
        settings=settings,
        plain=plain,
    )


def _offered(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    tools = object_in(data.get("metadata")).get("tools")
    tools = [unfold(tool) for tool in tools] if isinstance(tools, list) else []
    return tools_of({"tools": tools})


def _numbers(data: Mapping[str, Any], said: Reply, more: Reply) -> Reply:
    waited = elapsed_ms(moment(data.get("startTime")), moment(data.get("completionStartTime")))
    cost = number(object_in(data.get("costDetails")).get("total"))
    cost = cost_of(first(data, "calculatedTotalCost", "totalCost") if cost is None else cost)
    usage = usage_of(data) or more.usage or said.usage
    if usage is not None and more.usage is not None:
        usage = completed(usage, more.usage)
    return Reply(
        usage=usage,
        finish_reason=said.finish_reason or more.finish_reason,
        model=more.model or said.model or words(data.get("model")),
        cost=cost if cost is not None else more.cost,
        first_token_ms=waited if waited is not None else more.first_token_ms,
    )


def usage_of(data: Mapping[str, Any]) -> Usage | None:
    """The tokens of an observation as it states them; its total is not always the sum of its parts.

    Whether input holds the cached tokens differs by who wrote the file: where the total says that it does not, they are
    added.
    """
    stated = object_in(data.get("usageDetails")) or object_in(data.get("usage"))

    def count(*keys: str) -> int | None:
        return next((n for key in keys if (n := tokens_of(stated.get(key))) is not None), None)

    into, out = (
        count("input", "promptTokens", "prompt_tokens"),
        count("output", "completionTokens", "completion_tokens"),
    )
    cached = count("input_cached_tokens", "input_cache_read", "cache_read_input_tokens", "prompt_details.cache_read")
    written = count("cache_creation_input_tokens", "input_cache_creation", "prompt_details.cache_write")
    reasoning = count("output_reasoning_tokens", "output_reasoning", "completion_details.reasoning")
    total = count("total", "totalTokens", "total_tokens")
    beside = (cached or 0) + (written or 0)
    if into is not None and beside and (beside > into or total == into + beside + (out or 0)):
        into += beside
    if out is not None and reasoning and into is not None and total == into + out + reasoning:
        out += reasoning
    return known_usage(
        {
            "prompt_tokens": into,
            "completion_tokens": out,
            "total_tokens": total,
            "cached_tokens": cached,
            "cache_write_tokens": written,
            "reasoning_tokens": reasoning,
        }
    )
