"""One run of LangSmith as a span: what it was given, what it gave, its numbers.

Spec: langchain-ai/langsmith-sdk, ``python/langsmith/schemas.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.spans.attributes import result_text
from traces.spans.dialects import answered, asked
from traces.spans.numbers import completed, cost_of, tokens_of
from traces.spans.tree import MODEL, OTHER, TOOL, Span, ToolUse, Words, moment
from traces.times import elapsed_ms
from traces.unfold import first, object_in, unfold
from traces.wire import langchain
from traces.wire.openai_chat import tools_of
from traces.wire.parts import words

_KINDS = {"llm": MODEL, "tool": TOOL}
_NONE = ("None", "null", "")
"""How some dumps write that there is no value."""


def said_in(value: Any) -> str | None:
    """Text that says something, not merely that there is none."""
    return value if isinstance(value, str) and value not in _NONE else None


def span_of(run: Mapping[str, Any], trace: str, parent: str | None, line: int | None, place: int = 0) -> Span:
    """A run as a span; ``place`` is that in a file that gives no times."""
    name = as_text(run.get("name") or "")
    error = said_in(run.get("error"))
    if error is None and run.get("status") == "error":
        error = "the run ended with an error"
    return Span(
        id=as_text(run.get("id") or ""),
        trace=as_text(run.get("trace_id") or trace),
        parent=parent,
        name=name,
        kind=_kind(run),
        started=moment(run.get("start_time")),
        ended=moment(run.get("end_time")),
        error=error,
        read=partial(_words, run),
        use=partial(_use, run, name),
        line=line,
        place=place,
    )


def _kind(run: Mapping[str, Any]) -> str:
    """The type, where it is said; a bare dump's model calls have a name like ``ChatOpenAI`` and generations."""
    if isinstance(kind := run.get("run_type"), str):
        return _KINDS.get(kind, OTHER)
    outputs = object_in(run.get("outputs"))
    if langchain.is_result(outputs):
        return MODEL
    output = object_in(outputs.get("output"))
    return TOOL if output.get("type") == "tool" and "tool_call_id" in output else OTHER


def _words(run: Mapping[str, Any]) -> Words:
    inputs, outputs = unfold(run.get("inputs")), unfold(run.get("outputs"))
    told, gave = asked(inputs), answered(outputs)
    extra = object_in(run.get("extra"))
    parameters = object_in(extra.get("invocation_params"))
    about = {**object_in(run.get("metadata")), **object_in(extra.get("metadata"))}
    model = words(first(about, "ls_model_name")) or words(first(parameters, "model", "model_name"))
    return Words(
        messages=told.messages,
        answer=gave.messages,
        reply=_numbers(run, gave.reply),
        tools=tools_of(parameters) or told.tools,
        model=model,
        provider=words(about.get("ls_provider")),
        plain=told.plain if told.messages else gave.plain,
        numbers=gave.numbers,
    )


def _numbers(run: Mapping[str, Any], said: Reply) -> Reply:
    usage = usage_of_run(run) or said.usage
    if usage is not None and said.usage is not None:
        usage = completed(usage, said.usage)
    waited = elapsed_ms(moment(run.get("start_time")), moment(run.get("first_token_time")))
    return replace(said, usage=usage, cost=cost_of(run.get("total_cost")), first_token_ms=waited)


def usage_of_run(run: Mapping[str, Any]) -> Usage | None:
    """The tokens of a run. Those of a run that holds others are sums, which nobody adds."""
    outputs = object_in(run.get("outputs"))
    stated = {
        key: n
        for key in ("prompt_tokens", "completion_tokens", "total_tokens")
        if (n := tokens_of(run.get(key))) is not None
    }
    into, out = object_in(run.get("prompt_token_details")), object_in(run.get("completion_token_details"))
    details = {
        "prompt_tokens_details": {
            "cached_tokens": into.get("cache_read"),
            "cache_write_tokens": into.get("cache_creation"),
        },
        "completion_tokens_details": {"reasoning_tokens": out.get("reasoning")},
    }
    said = langchain.usage_of(outputs.get("usage_metadata")) or langchain.token_usage(outputs.get("usage"))
    return (Usage.from_openai({**stated, **details}) if any(stated.values()) else None) or said


def _use(run: Mapping[str, Any], name: str) -> ToolUse:
    inputs, outputs = unfold(run.get("inputs")), unfold(run.get("outputs"))
    given = unfold(inputs.get("input", inputs)) if isinstance(inputs, dict) else inputs
    gave = outputs.get("output", outputs) if isinstance(outputs, dict) and len(outputs) == 1 else outputs
    message = langchain.message(gave) if isinstance(gave, dict) and langchain.is_message(gave) else {}
    error = said_in(run.get("error"))
    result = as_text(message.get("content")) if message else result_text(gave) if gave else error
    extra = object_in(object_in(run.get("extra")).get("metadata"))
    return ToolUse(
        name=name,
        call_id=as_text(message.get("tool_call_id") or first(extra, "tool_call_id") or ""),
        arguments=given,
        result=result,
        ok=False if error or message.get("status") == "error" else None,
    )
