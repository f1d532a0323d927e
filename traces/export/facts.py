"""What stands at the head of a trace in every form for people: names and values, "not reported" said in words."""

from __future__ import annotations

from agent.trace import Trace
from agent.usage import Usage
from traces.export.words import ENGLISH, Say
from traces.summary import summarise


def facts(trace: Trace, say: Say = ENGLISH) -> list[tuple[str, str]]:
    """Name and value of each fact, in the order of their interest."""
    summary, unknown = summarise(trace), say("not reported")
    cost, duration = summary.cost, summary.duration_s
    calls = say("{n} ({open} without a result)", n=f"{summary.tool_calls:,}", open=f"{summary.unpaired_calls:,}")
    return [
        (say("Trace"), trace.trace_id),
        (say("Task"), trace.task or unknown),
        (say("Created"), trace.created or unknown),
        (say("Format"), trace.source.format or "agent-trace/1"),
        (say("Models"), ", ".join(summary.models) or unknown),
        (say("Messages"), f"{summary.messages:,}"),
        (say("Steps"), f"{summary.steps:,}"),
        (say("Tool calls"), calls),
        (say("Errors"), f"{summary.errors:,}"),
        (say("Tokens"), tokens_words(summary.tokens, say)),
        (say("Cost"), unknown if cost is None else say("{n} USD", n=f"{cost:.6f}".rstrip("0").rstrip("."))),
        (say("Duration"), unknown if duration is None else say("{n} s", n=f"{duration:,.1f}")),
        (say("Outcome"), summary.outcome or unknown),
    ]


def tokens_words(usage: Usage | None, say: Say = ENGLISH) -> str:
    """``120 prompt (40 cached) + 18 completion = 138``; what is not reported is left out."""
    if usage is None or usage.total is None:
        return say("not reported")
    parts = []
    if (prompt := usage.prompt_tokens) is not None:
        cached = f"{usage.cached_tokens:,}" if usage.cached_tokens else None
        parts.append(
            say("{n} prompt ({cached} cached)", n=f"{prompt:,}", cached=cached)
            if cached
            else say("{n} prompt", n=f"{prompt:,}")
        )
    if (completion := usage.completion_tokens) is not None:
        reasoning = f"{usage.reasoning_tokens:,}" if usage.reasoning_tokens else None
        parts.append(
            say("{n} completion ({reasoning} reasoning)", n=f"{completion:,}", reasoning=reasoning)
            if reasoning
            else say("{n} completion", n=f"{completion:,}")
        )
    sums = " + ".join(parts)
    total = (f"{sums} = " if sums else "") + f"{usage.total:,}"
    return say("{n} (estimated)", n=total) if usage.estimated else total
