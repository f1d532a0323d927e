"""What a model call was asked with beside its messages, and the whole body that came of it: for any step of any trace.

A trace keeps the newest tools, options and protocol. Where they change in the middle of a run, the last step before the
change keeps the old ones, so that every earlier request can still be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.asking import ASKED_WITH
from agent.models.body import RequestForm
from agent.models.json_action import KEY, to_chat
from agent.noting import asked_at
from agent.request import request_of
from agent.trace import Trace, TraceStep

_SAMPLING = (
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "stop",
    "frequency_penalty",
    "presence_penalty",
    "response_format",
    "reasoning_effort",
    "stream",
    "tool_choice",
    "parallel_tool_calls",
)
"""Options of a request that a file from elsewhere may keep in its ``config``."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The tools on offer, how the model is asked, and in which protocol."""

    tools: list[dict[str, Any]]
    """As schemas in OpenAI form, before the host's dialect."""
    form: RequestForm
    protocol: str = "native"
    """``native`` or ``json_action``."""


def asked_in(trace: Trace, step: TraceStep) -> Asked:
    """What the call of this step was asked with. A step that the trace does not hold yet: what holds now."""
    count = len(trace.steps)
    position = next((at for at in range(count - 1, -1, -1) if trace.steps[at] is step), count)
    then = asked_at(trace, position)
    tools, known = then.get("tools"), then.get(ASKED_WITH)
    if isinstance(known, Mapping):
        form = RequestForm.from_dict(known)
    else:
        options = {"model": trace.model.name} if trace.model.name else {}
        form = RequestForm(options | {key: value for key in _SAMPLING if (value := trace.config.get(key)) is not None})
    offered = [schema for schema in tools if isinstance(schema, dict)] if isinstance(tools, list) else []
    return Asked(offered, form, str(then.get("protocol") or "native"))


def body_of(trace: Trace, step: TraceStep) -> dict[str, Any] | None:
    """The body of the model call of this step, as JSON data; None where the trace does not say what was sent.

    For a run of :class:`~agent.models.openai_chat.OpenAIModel` it equals what was posted. Where a file keeps only the
    messages, it holds what is known.
    """
    if step.request is None:
        return None
    asked, messages = asked_in(trace, step), request_of(trace, step)
    if asked.protocol == KEY:
        return asked.form.body(to_chat(messages, asked.tools), [])
    return asked.form.body(messages, asked.tools)
