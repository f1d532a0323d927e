"""What stands at the head of a trace in every form for people: names and values, "not reported" said in words."""

from __future__ import annotations

from agent.trace import Trace
from agent.usage import Usage
from traces.summary import summarise

UNKNOWN = "not reported"


def facts(trace: Trace) -> list[tuple[str, str]]:
    """Name and value of each fact, in the order of their interest."""
    summary = summarise(trace)
    cost = UNKNOWN if summary.cost is None else f"{summary.cost:.6f}".rstrip("0").rstrip(".") + " USD"
    return [
        ("Trace", trace.trace_id),
        ("Task", trace.task or UNKNOWN),
        ("Created", trace.created or UNKNOWN),
        ("Format", trace.source.format or "agent-trace/1"),
        ("Models", ", ".join(summary.models) or UNKNOWN),
        ("Messages", f"{summary.messages:,}"),
        ("Steps", f"{summary.steps:,}"),
        ("Tool calls", f"{summary.tool_calls:,} ({summary.unpaired_calls:,} without a result)"),
        ("Errors", f"{summary.errors:,}"),
        ("Tokens", tokens_words(summary.tokens)),
        ("Cost", cost),
        ("Duration", UNKNOWN if summary.duration_s is None else f"{summary.duration_s:,.1f} s"),
        ("Outcome", summary.outcome or UNKNOWN),
    ]


def tokens_words(usage: Usage | None) -> str:
    """``120 prompt (40 cached) + 18 completion = 138``; what is not reported is left out."""
    if usage is None or usage.total is None:
        return UNKNOWN
    parts = []
    if usage.prompt_tokens is not None:
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        parts.append(f"{usage.prompt_tokens:,} prompt{cached}")
    if usage.completion_tokens is not None:
        reasoning = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
        parts.append(f"{usage.completion_tokens:,} completion{reasoning}")
    sums = " + ".join(parts)
    return (f"{sums} = " if sums else "") + f"{usage.total:,}" + (" (estimated)" if usage.estimated else "")
