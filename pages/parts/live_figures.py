"""Figures of model calls as one line: of the call in flight and of the newest finished step; and what a wait means."""

from __future__ import annotations

from agent.events import Phase
from agent.redact import redact_text
from agent.speed import tokens_per_s
from agent.trace import Trace
from pages.parts.runs import OpenRun
from pages.parts.words import t

_TAIL = 300
"""Characters of the streamed thoughts that are shown."""


def call_line(run: OpenRun) -> str | None:
    """How long the model call in flight takes, when its first token came, and how fast it goes; None without a call."""
    call = run.runner.call
    if call is None:
        return None
    parts = [t("call: {s} s", s=f"{call.elapsed_s:.1f}")]
    if call.attempt > 1:
        parts.append(t("attempt {n}", n=call.attempt))
    if call.first_token_ms is not None:
        parts.append(_first_token(call.first_token_ms))
    elif run.setup.live:
        parts.append(t("no token yet"))
    if (speed := call.tokens_per_s) is not None:
        parts.append(t("about {n} tokens/s", n=_short(speed)))
    return " · ".join(parts)


def step_line(trace: Trace) -> str | None:
    """The same of the newest step whose model call is over; None where there is none or no time was recorded.

    What was not reported is left out, and what is our own count says so.
    """
    step = next((step for step in reversed(trace.steps) if step.latency_ms is not None), None)
    if step is None or step.latency_ms is None:
        return None
    parts = [t("step {n}: call {s} s", n=step.index, s=f"{step.latency_ms / 1000:.2f}")]
    if step.first_token_ms is not None:
        parts.append(_first_token(step.first_token_ms))
    if (speed := tokens_per_s(step)) is not None:
        estimated = step.usage is not None and step.usage.estimated
        words = (
            t("about {n} tokens/s (estimated)", n=_short(speed)) if estimated else t("{n} tokens/s", n=_short(speed))
        )
        parts.append(words)
    return " · ".join(parts)


def thought_line(run: OpenRun) -> str | None:
    """The end of what the model thinks while it has not begun to answer; None where it streams no thoughts."""
    call = run.runner.call
    if call is None or not call.reasoning or call.text:
        return None
    thought = redact_text(call.reasoning, run.unsaid)
    cut = "…" if len(thought) > _TAIL else ""
    return f"{t('The model is thinking')}: {cut}{thought[-_TAIL:]}"


def in_flight_words(run: OpenRun) -> str:
    """What Pause and Stop can do about what is in flight now, as sentences; empty where nothing is."""
    if run.loop.phase is Phase.CALL:
        return _call_words(run)
    if run.loop.phase is Phase.EXECUTE:
        running = [call.name or call.call.name for call in run.loop.run.pending if call.begun and call.result is None]
        if running:
            return t(
                "{tools}: a tool that has begun cannot be ended from outside. Pause waits for its result, until its "
                "time limit. Stop waits no longer: it may go on and have its effect, but its result is dropped.",
                tools=", ".join(running),
            )
    return ""


def _call_words(run: OpenRun) -> str:
    call = run.runner.call
    if not run.setup.live:
        return t(
            "A script plays the model: Pause waits for its reply, Stop ends it at once, and nothing goes on unseen."
        )
    if call is None or call.first_token_ms is None:
        return t(
            "A request that was sent cannot be taken back. Pause waits for the whole reply and keeps it. Stop cuts the "
            "connection; the server may still work on the reply and charge for it."
        )
    return t(
        "Pause waits for the rest of the reply and keeps it. Stop cuts the connection and drops what has come; most "
        "servers then stop writing, but charge for what they wrote."
    )


def _first_token(ms: float) -> str:
    return t("first token after {s} s", s=f"{ms / 1000:.2f}")


def _short(speed: float) -> str:
    return f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"
