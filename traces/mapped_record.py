"""One record of a file of an unknown shape as messages in OpenAI Chat form, by what a person said its columns hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from traces.readers.fields import known_usage, moment, text
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.openai_chat import decoded
from traces.wire.parts import mapping

KNOWN_ROLES = {
    "system": "system",
    "developer": "system",
    "instructions": "system",
    "user": "user",
    "human": "user",
    "customer": "user",
    "client": "user",
    "person": "user",
    "prompt": "user",
    "question": "user",
    "input": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "llm": "assistant",
    "answer": "assistant",
    "response": "assistant",
    "output": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "environment": "tool",
    "env": "tool",
    "result": "tool",
    "tool_result": "tool",
    "tool_response": "tool",
}
"""What files commonly call the roles."""
_NAMES = ("name", "tool", "tool_name", "function_name", "action", "action_type", "type")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "tool_input", "action_input", "kwargs")
_IDS = ("id", "call_id", "tool_call_id", "tool_use_id")


@dataclass(frozen=True, slots=True)
class Mapped:
    """One message that a record holds."""

    data: dict[str, Any]
    at: str | None = None
    maker: str | None = None
    reply: Reply | None = None
    """The numbers of the model call that made it."""
    for_all: bool = False
    """Whether it answers every call of its record."""


def role_of(value: Any, roles: Mapping[str, str]) -> str:
    """The role that a file's word means: what the person said, else what is common, else the word itself."""
    word = as_text(value)
    return roles[word] if word in roles else KNOWN_ROLES.get(word.strip().lower(), word)


def messages_of(values: Mapping[str, Any], roles: Mapping[str, str]) -> Iterator[Mapped]:
    """The messages of a record: question, answer with its calls, and what the tools gave, each where it is there.

    Args:
        values: what stands under each column that is named.
        roles: what the file's words for roles mean; a role that means ``""`` is left out.
    """
    has_answer = "answer" in values
    role = role_of(values["role"], roles) if values.get("role") is not None else ""
    if not role:
        if "role" in values and roles.get(as_text(values["role"])) == "":
            return
        role = "user" if has_answer else "assistant"
    at, calls = moment(values.get("time")), _calls(values.get("calls"))
    asks = not has_answer and role == "assistant"
    content, reasoning = values.get("content"), text(values.get("reasoning"))
    if content is not None or (asks and (calls or reasoning)):
        data = _message(role, content, values)
        yield _spoken(data, calls, reasoning, values, at) if asks else Mapped(data, at)
    if has_answer and (values["answer"] is not None or calls):
        yield _spoken({"role": "assistant", "content": values["answer"]}, calls, reasoning, values, at)
    if (result := values.get("result")) is not None:
        yield _result(result, calls)


def _message(role: str, content: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"role": role, "content": _words(content)}
    if role == "tool":
        data["tool_call_id"] = values.get("call_id")
    if name := text(values.get("name")):
        data["name"] = name
    return data


def _spoken(
    data: dict[str, Any], calls: list[dict[str, Any]], reasoning: str, values: Mapping[str, Any], at: str | None
) -> Mapped:
    """What the model said, with the numbers of its call."""
    message = {**data, "content": _words(data["content"])}
    if calls:
        message["tool_calls"] = calls
    if reasoning:
        message["reasoning_content"] = reasoning
    names = ("prompt_tokens", "completion_tokens")
    usage = known_usage({name: values.get(name) for name in names})
    return Mapped(message, at, reply=Reply(usage=usage, model=text(values.get("model")) or None))


def _result(result: Any, calls: list[dict[str, Any]]) -> Mapped:
    """What came back. Without a call in the record nothing can be answered, so that it is a word of the environment."""
    if not calls:
        return Mapped({"role": "user", "content": _words(result)}, maker="environment")
    return Mapped({"role": "tool", "content": as_text(result), "tool_call_id": calls[0]["id"]}, for_all=True)


def _words(content: Any) -> Any:
    """Text and lists of parts as they are, texts as lines, anything else as JSON text."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list) and content:
        if all(isinstance(part, str) for part in content):
            return "\n".join(content)
        if all(isinstance(part, Mapping) and "type" in part for part in content):
            return content
    return as_text(content)


def _calls(value: Any) -> list[dict[str, Any]]:
    """Calls in whatever form: a list or one, as objects, as JSON text, or as plain text."""
    if isinstance(value, str):
        found = decoded(value)
        value = found if isinstance(found, (list, dict)) else value
    listed = value if isinstance(value, list) else [] if value in (None, "", {}) else [value]
    return [_call(call) for call in listed]


def _call(call: Any) -> dict[str, Any]:
    if not isinstance(call, Mapping):
        return {"id": "", "function": {"name": "action", "arguments": {"input": as_text(call)}}}
    inner = mapping(call.get("function")) or call
    names = (inner.get(key) for key in (*_NAMES, "function"))
    name = next((name for name in names if isinstance(name, str) and name), "")
    arguments = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    if arguments is None:
        arguments = {key: item for key, item in inner.items() if key not in (*_NAMES, *_IDS, "function")}
    if not isinstance(arguments, Mapping):
        known = decoded(arguments) if isinstance(arguments, str) else None
        arguments = known if isinstance(known, dict) else {"input": arguments}
    call_id = next((text(call.get(key)) for key in _IDS if text(call.get(key))), "")
    return {"id": call_id, "function": {"name": name or "action", "arguments": arguments}}
