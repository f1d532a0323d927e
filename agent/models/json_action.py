"""The JSON-action protocol: tools for models without native tool calling.

The system text lists the tools, the model answers with one JSON object, and results return as *user* messages, because
such a model knows no tool role. It is a second way of speaking, not a second loop: this class translates between it and
the message list, so that loop, policy, trace and limits stay the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent import jsontext
from agent.ids import new_call_id
from agent.messages import Message, ToolCall
from agent.models.around import AroundModel
from agent.models.base import CallControl, ModelReply
from agent.models.replies import visible_text

KEY = "json_action"
"""Key of an assistant message under which the model's own words are kept."""
PARSE_FAILED = "parse failed"

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n?(.*?)\n?\s*```\s*\Z", re.DOTALL)
_INSTRUCTION = """\
You work in steps. Answer every message with exactly one JSON object and nothing else.
To use a tool: {"thought": "...", "action": "tool", "tool": "<name>", "params": {...}}
To finish:     {"thought": "...", "action": "final", "response": "<answer>"}
The result of a tool comes back as the next user message. Tools:"""


@dataclass(frozen=True, slots=True)
class Action:
    """What one reply of the model means."""

    action: str
    """tool, final, or a word that the protocol does not know."""
    thought: str = ""
    tool: str = ""
    params: dict[str, Any] | None = None
    response: str = ""
    """final: the answer; empty where the model gave none."""
    parsed: bool = True
    """False: the reply was no JSON object."""


def parse_action(text: str) -> Action:
    """Read a reply. Code fences are stripped; what is no JSON object is a final answer, its thought "parse failed".

    Args:
        text: what the model says, without the thoughts that some servers leave at its head.
    """
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping):
        return Action("final", thought=PARSE_FAILED, response=text.strip(), parsed=False)
    params, response = data.get("params"), data.get("response")
    return Action(
        action=str(data.get("action", "")),
        thought=str(data.get("thought") or ""),
        tool=str(data.get("tool") or ""),
        params=dict(params) if isinstance(params, Mapping) else None if params else {},
        response=response if isinstance(response, str) else "" if response is None else jsontext.dumps(response),
    )


def to_chat(messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]]) -> list[Message]:
    """What the model is really given: instructions in the system text, its own words, results as user messages."""
    system = "\n".join([_INSTRUCTION, *map(_tool_line, tool_schemas)])
    chat: list[Message] = []
    names: dict[str | None, str] = {}
    for message in messages:
        if message.role == "system" and not chat:
            system = f"{message.text}\n\n{system}"
        elif message.role == "tool":
            name = names.get(message.tool_call_id)
            chat.append(Message("user", f"Result of {name}: {message.text}" if name else f"Result: {message.text}"))
        elif message.role == "assistant":
            names = {call.id: call.name for call in message.tool_calls}
            chat.append(Message("assistant", str(message.extra.get(KEY) or message.text)))
        else:
            names = {}
            chat.append(message)
    return [Message("system", system), *chat]


class JsonActionModel(AroundModel):
    """Makes any chat model speak in JSON actions.

    A call becomes an ordinary tool call of the assistant message, so everything downstream works on it; the words of
    the model are kept under ``json_action``. An unknown action ends the run with the reason ``unknown_action``.

    Args:
        inner: the chat model. It is called without tools.
    """

    protocol = KEY

    def body(self, messages: Sequence[Message], tool_schemas: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """What the inner model would be sent: its own words, with the tools in the system text.

        Raises:
            InputError: the inner model does not say what it sends.
        """
        return super().body(to_chat(messages, tool_schemas))

    def complete(
        self,
        messages: Sequence[Message],
        tool_schemas: Sequence[dict[str, Any]],
        *,
        control: CallControl | None = None,
    ) -> ModelReply:
        """One call of the inner model, its answer read as an action.

        Raises:
            ModelError: the inner call failed.
        """
        told = replace(control or CallControl(), canonical=messages, offered=tool_schemas)
        reply, _ = self._asker.ask(to_chat(messages, tool_schemas), [], told)
        said = reply.message.text
        action = parse_action(visible_text(reply.message))
        extra = {**reply.message.extra, KEY: said}
        if action.action == "tool":
            text = jsontext.dumps(action.params) if action.params is not None else said
            problem = None if action.params is not None else "params must be a JSON object"
            call = ToolCall(new_call_id(), action.tool, action.params or {}, text, problem)
            return replace(reply, message=Message("assistant", action.thought or None, (call,), extra=extra))
        if action.action == "final":
            warnings = reply.warnings
            if not action.parsed:
                warnings = (
                    *warnings,
                    f"{PARSE_FAILED}: the reply was no JSON object, it was taken as the final answer",
                )
            return replace(reply, message=Message("assistant", action.response, extra=extra), warnings=warnings)
        warning = f'unknown action {action.action!r}: it should be "tool" or "final"'
        message = Message("assistant", said, extra=extra)
        return replace(reply, message=message, stop="unknown_action", warnings=(*reply.warnings, warning))


def _tool_line(schema: Mapping[str, Any]) -> str:
    function = schema["function"]
    parameters = jsontext.dumps(function.get("parameters") or {})
    return f"- {function['name']}: {function.get('description') or ''} params: {parameters}"
