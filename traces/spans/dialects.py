"""What a span calls its input and its output, as messages in OpenAI Chat form.

Observability tools keep what the program handed to them: requests and responses of any provider, messages of any
framework, or a line of text, often as JSON inside a string. The modules of :mod:`traces.wire` read each of them; here
is found which it is.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from traces.repair import as_text
from traces.reply import NO_NUMBERS, Reply
from traces.unfold import unfold
from traces.wire import anthropic, bedrock, gemini, gen_ai, langchain, openai_chat, pydantic_ai, responses, vercel
from traces.wire.parts import kind_of, listed, mapping, words

Messages = Sequence[Mapping[str, Any]]

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "bot": "assistant"}
_SPOKEN = re.compile(r"(system|developer|user|human|assistant|ai|tool|function): ")
_SPEAKERS = re.compile(r"\n(?=(?:system|developer|user|human|assistant|ai|tool|function): )")
_ASKED = ("input", "query", "question", "prompt", "message", "task", "user_input", "user_message", "text", "content")
"""Keys under which frameworks keep the words of a person."""
_ANSWERED = ("output", "answer", "result", "response", "completion", "final_output", "text", "content", "return")
"""Keys under which they keep an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One side of a span."""

    messages: Messages = ()
    plain: bool = True
    """It was a line of text, or something that no dialect knows, rather than messages."""
    tools: list[dict[str, Any]] = field(default_factory=list)
    reply: Reply = NO_NUMBERS
    """Of an output: the numbers that stand in it."""
    numbers: Sequence[Reply] = ()
    """Of an output of several messages: the numbers of each, where they carry some."""


NOTHING = Said()


def asked(value: Any) -> Said:
    """What went in."""
    if value is None:
        return NOTHING
    if isinstance(value, str) and value.startswith("["):
        return _history(value)
    value = unfold(value)
    if isinstance(value, dict):
        return _request(value)
    return _words(value, "user")


# -- histories that repeat -----------------------------------------------------------------------------------------

_Heard = tuple[str, Said]
_heard: ContextVar[deque[_Heard] | None] = ContextVar("heard", default=None)
_REMEMBERED = 4
"""Texts that are kept at once: those of a few agents that run side by side."""


@contextmanager
def remembering() -> Iterator[None]:
    """Within, a list of messages that begins like one before is read from where it differs.

    Each model call repeats the history; so reading takes time and memory for what is new, not for all of it.
    """
    token = _heard.set(deque(maxlen=_REMEMBERED))
    try:
        yield
    finally:
        _heard.reset(token)


def _history(text: str) -> Said:
    """A list of messages as JSON text."""
    heard = _heard.get()
    for head, before in reversed(heard or ()):
        if text.startswith(head) and text[len(head) :].lstrip().startswith(","):
            rest = unfold("[" + text[len(head) :].lstrip()[1:])
            if isinstance(rest, list) and all(map(_stands_alone, rest)):
                new = _list(rest, "user")
                said = replace(before, messages=[*before.messages, *new.messages], tools=[*before.tools, *new.tools])
                break
    else:
        value = unfold(text)
        said = _words(value, "user")
        if not isinstance(value, list) or not all(map(_stands_alone, value)):
            return said
    if heard is not None:
        heard.append((text.rstrip().removesuffix("]").rstrip(), said))
    return said


def _stands_alone(item: Any) -> bool:
    """Whether a message means the same whatever stands beside it; items of the Responses API do not."""
    return isinstance(item, dict) and isinstance(item.get("role"), str) and not responses.is_item(item)


def answered(value: Any) -> Said:
    """What came out."""
    if value is None:
        return NOTHING
    value = unfold(value)
    if isinstance(value, dict):
        return _response(value)
    said = _words(value, "assistant")
    items = listed(value)
    reason = next((r for item in items if (r := words(item.get("finish_reason")))), None)
    numbers = [langchain.reply_of(item) for item in items] if all(map(langchain.is_message, items)) else []
    reply = numbers[-1] if numbers else said.reply
    if reply.finish_reason is None and reason:
        reply = Reply(finish_reason=reason) if reply is NO_NUMBERS else replace(reply, finish_reason=reason)
    return Said(messages=said.messages, plain=said.plain, tools=said.tools, reply=reply, numbers=numbers)


def _words(value: Any, role: str) -> Said:
    """A list of messages, or text."""
    if value is None or value == "" or value == []:
        return Said()
    if isinstance(value, list):
        return _list(value, role)
    if isinstance(value, str) and _SPOKEN.match(value):
        return Said(messages=[_spoken(part) for part in _SPEAKERS.split(value)])
    return Said(messages=[{"role": role, "content": as_text(value)}])


def _spoken(text: str) -> Mapping[str, Any]:
    """One message of a text in which each begins with its role."""
    role, _, content = text.partition(": ")
    return {"role": _ROLES.get(role, role), "content": None if content == "None" else content}


def _list(value: list[Any], role: str) -> Said:
    if value and isinstance(value[0], list) and all(map(_is_pair, value)):
        return Said(messages=[{"role": _ROLES.get(of, of), "content": text} for of, text in value], plain=False)
    if value and isinstance(value[0], list) and all(isinstance(item, list) for item in value):
        return _list(value[0], role)  # LangChain asks in batches
    if vercel.is_call_list(value):
        return Said(messages=[{"role": role, "content": None, "tool_calls": vercel.calls_of(value)}], plain=False)
    if any(map(_may_be_item, value)) and any(map(responses.is_item, value)):
        return Said(messages=responses.converted(listed(value)), plain=False)
    if all(isinstance(item, dict) and "role" not in item and kind_of(item) in _CONTENT for item in value):
        return Said(messages=[{"role": role, "content": value}], plain=False)
    offered, messages = list[dict[str, Any]](), list[Mapping[str, Any]]()
    for item in value:
        if (tool := _offered(item)) is None:
            messages += _message(item, role)
        else:
            offered.append(tool)
    return Said(messages=_with_tools(messages), plain=not any(map(_is_structured, value)), tools=offered)


def _with_tools(messages: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Langfuse's handler for LangChain in JavaScript gives a result the name of its tool as the role."""
    if all(message.get("role") in _KNOWN_ROLES for message in messages):
        return messages
    named = [words(mapping(call.get("function")).get("name")) for m in messages for call in listed(m.get("tool_calls"))]
    return [{**m, "role": "tool", "name": m["role"]} if m.get("role") in named else m for m in messages]


_KNOWN_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def _may_be_item(item: Any) -> bool:
    """A quick look: messages of other dialects say their words in parts, or in one text."""
    return (
        isinstance(item, dict) and "parts" not in item and not ("role" in item and isinstance(item.get("content"), str))
    )


_CONTENT = ("text", "image_url", "input_audio")
_SPEAKER_NAMES = ("system", "developer", "user", "human", "assistant", "ai")


def _is_pair(item: Any) -> bool:
    """LangChain's short form of a message: ``["human", "hello"]``."""
    return isinstance(item, list) and len(item) == 2 and item[0] in _SPEAKER_NAMES and isinstance(item[1], (str, list))


def _is_structured(item: Any) -> bool:
    item = unfold(item)
    return isinstance(item, dict) and ("role" in item or any(is_known(item) for is_known, _ in _DIALECTS))


def _offered(item: Any) -> dict[str, Any] | None:
    """Langfuse's handler for LangChain puts the tools on offer among the messages."""
    content = item.get("content") if isinstance(item, dict) and item.get("role") == "tool" else None
    return content if kind_of(content) == "function" and "function" in mapping(content) else None


# -- one message ---------------------------------------------------------------------------------------------------


def _event(value: Mapping[str, Any]) -> Messages:
    message = gen_ai.event_message(value["event.name"], value)
    return [message] if message else []


def _exchange(value: Mapping[str, Any]) -> Messages:
    return [message for message, _ in pydantic_ai.messages_of(value)]


def _ui(value: Mapping[str, Any]) -> Messages:
    return [message for message, _ in vercel.ui_messages(value)]


def _gemini(value: Mapping[str, Any]) -> Messages:
    return gemini.messages_of({"contents": [value]})


def _has_parts(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("parts"), list)


_DIALECTS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Messages]], ...] = (
    (gen_ai.is_event, _event),
    (pydantic_ai.is_message, _exchange),
    (langchain.is_message, lambda value: [langchain.message(value)]),
    (gen_ai.is_message, gen_ai.messages_of),
    (vercel.is_ui_message, _ui),
    (_has_parts, _gemini),
    (vercel.is_model_message, vercel.model_messages),
    (anthropic.is_message, anthropic.converted),
    (bedrock.is_message, bedrock.converted),
)
"""How each dialect's message is told, and how it is read; the most specific first."""
_SAYS_ITS_KIND = frozenset(("event.name", "kind", "type", "lc"))
_KINDLESS = _DIALECTS[3:]
"""The dialects whose messages have none of these keys."""
_PLAIN = frozenset(("role", "content", "name", "tool_calls", "tool_call_id"))
"""The keys of OpenAI's own form."""


def packed(message: Mapping[str, Any]) -> Messages:
    """A message whose content may be a provider's blocks as JSON text, as events of spans keep them."""
    content = unfold(message.get("content"))
    blocks = isinstance(content, list) and bool(content) and all(isinstance(block, dict) for block in content)
    return _message({**message, "content": content}, "user") if blocks else [message]


def _message(item: Any, role: str) -> Messages:
    item = unfold(item)
    if not isinstance(item, dict):
        return [] if item is None else [{"role": role, "content": as_text(item)}]
    if isinstance(item.get("content"), str) and item.keys() <= _PLAIN and "role" in item:
        return [_openai(item)]
    for is_known, read in _DIALECTS if not _SAYS_ITS_KIND.isdisjoint(item) else _KINDLESS:
        if is_known(item):
            return read(item)
    inner = item.get("message")
    if "role" not in item and isinstance(inner, dict):
        return _message(inner, role)
    if "role" in item:
        return [_openai(item)]
    if "content" in item or "tool_calls" in item:
        return [{**item, "role": role}]
    return [{"role": role, "content": as_text(item)}]


def _openai(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message with a role, however its framework bends OpenAI's form."""
    role, content = item["role"], item.get("content")
    message = {key: value for key, value in item.items() if key not in ("additional_kwargs", "finish_reason")}
    message["role"] = _ROLES.get(role, role) if isinstance(role, str) else role
    if isinstance(calls := unfold(item.get("tool_calls")), list) and calls:
        message["tool_calls"] = langchain.calls_of({"tool_calls": calls})
    elif calls := langchain.calls_of({**item, "tool_calls": None}):
        message["tool_calls"] = calls
    elif "tool_calls" in message:
        message["tool_calls"] = None
    if calls := _calls_in(content):
        message |= {"role": "assistant", "content": None, "tool_calls": calls}
    return message


def _calls_in(content: Any) -> list[Mapping[str, Any]]:
    """Calls that stand in the content as JSON text."""
    if not isinstance(content, str) or not content.startswith("[") or '"function"' not in content:
        return []
    calls = unfold(content)
    whole = isinstance(calls, list) and all(isinstance(mapping(call).get("function"), dict) for call in calls)
    return listed(calls) if whole and all("arguments" in call["function"] for call in calls) else []


# -- requests ------------------------------------------------------------------------------------------------------


def _request(body: Mapping[str, Any]) -> Said:
    if anthropic.is_request(body):
        return Said(messages=anthropic.messages_of(body), plain=False, tools=anthropic.tools_of(body))
    if bedrock.is_request(body):
        return Said(messages=bedrock.messages_of(body), plain=False, tools=bedrock.tools_of(body))
    if gemini.is_request(body):
        return _gemini_request(body)
    messages = unfold(body.get("messages"))
    if isinstance(messages, list) and messages:
        said = _list(messages, "user")
        system = body.get("system") or body.get("instructions")
        first = [{"role": "system", "content": system}] if isinstance(system, (str, list)) and system else []
        return replace(said, messages=[*first, *said.messages], tools=[*said.tools, *_tools(body)])
    if responses.is_request(body):
        return Said(messages=responses.messages_of(body), plain=False, tools=responses.tools_of(body))
    if _is_structured(body):
        return Said(messages=_message(body, "user"), plain=False)
    return _asked_in(body)


def _gemini_request(body: Mapping[str, Any]) -> Said:
    config = mapping(body.get("config"))
    system = config.get("system_instruction")
    first = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    tools = gemini.tools_of(body) or gemini.tools_of(config)
    return Said(messages=[*first, *gemini.messages_of(body)], plain=False, tools=tools)


def _tools(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    tools = unfold(body.get("tools"))
    return openai_chat.tools_of({"tools": tools}) if isinstance(tools, list) else []


def _asked_in(body: Mapping[str, Any]) -> Said:
    """Words in an object that is no request: under a key that frameworks use, else the whole object."""
    system, history = body.get("system"), unfold(body.get("chat_history"))
    first = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    earlier = _list(history, "user").messages if isinstance(history, list) else []
    for key in _ASKED:
        value = unfold(body.get(key))
        if isinstance(value, dict) and key != "content":
            inner = _request(value)
            return replace(inner, messages=[*first, *earlier, *inner.messages])
        if isinstance(value, (str, list)) and value:
            inner = _words(value, "user")
            return replace(inner, messages=[*first, *earlier, *inner.messages])
    arguments = body.get("args")
    if isinstance(arguments, list) and len(arguments) == 1 and not body.get("kwargs"):
        return _words(unfold(arguments[0]), "user")
    return _words(body if body else None, "user")


# -- responses -----------------------------------------------------------------------------------------------------


def _response(body: Mapping[str, Any]) -> Said:
    for is_known, read in _RESPONSES:
        if is_known(body):
            said = _of_reply(read(body))
            return replace(said, tools=responses.tools_of(body)) if is_known is responses.is_response else said
    content = body.get("content")
    if isinstance(content, dict) and "parts" in content:  # a candidate alone, as Google's agent kit keeps it
        return _of_reply(gemini.read_response({"candidates": [body], "usageMetadata": body.get("usage_metadata")}))
    messages = unfold(body.get("messages"))
    if isinstance(messages, list) and messages:
        return answered(messages)
    reason = words(body.get("finish_reason")) or words(body.get("finishReason"))
    if _is_structured(body) or isinstance(body.get("message"), dict):
        numbers = langchain.reply_of(body) if langchain.is_message(body) else Reply(finish_reason=reason)
        return Said(messages=_message(body, "assistant"), plain=False, reply=numbers)
    if "toolCalls" in body or "tool_calls" in body:
        return _text_and_calls(body, reason)
    for key in _ANSWERED:
        if (value := unfold(body.get(key))) is not None and value != "":
            said = answered(value)
            return replace(said, reply=replace(said.reply, finish_reason=said.reply.finish_reason or reason))
    return replace(_words(body if body else None, "assistant"), reply=Reply(finish_reason=reason))


_RESPONSES: tuple[tuple[Callable[[Any], bool], Callable[[Any], Reply]], ...] = (
    (langchain.is_result, langchain.read_result),
    (openai_chat.is_response, openai_chat.read_response),
    (gemini.is_response, gemini.read_response),
    (responses.is_response, responses.read_response),
    (anthropic.is_response, anthropic.read_response),
    (bedrock.is_response, bedrock.read_response),
)


def _of_reply(reply: Reply) -> Said:
    messages = [{"role": "assistant", **reply.message}] if reply.message is not None else []
    return Said(messages=messages, plain=False, reply=replace(reply, message=None))


def _text_and_calls(body: Mapping[str, Any], reason: str | None) -> Said:
    calls = unfold(body.get("toolCalls") or body.get("tool_calls"))
    read = vercel.calls_of(calls) if vercel.is_call_list(calls) else langchain.calls_of({"tool_calls": calls})
    text = body.get("text") or body.get("content")
    message = {"role": "assistant", "content": text if isinstance(text, str) else None, "tool_calls": read}
    return Said(messages=[message], plain=False, reply=Reply(finish_reason=reason))
