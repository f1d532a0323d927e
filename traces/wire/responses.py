"""OpenAI Responses on the wire: items, a response, and the events of a stream.

One answer is several items: reasoning, texts, calls. Neighbouring ones are one assistant message, because one model
call made them. Tools that ran at OpenAI hold call and result in one item; they are content parts of that message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.usage import Usage
from traces.repair import as_text
from traces.reply import Reply
from traces.times import time_of
from traces.wire.openai_chat import error_text
from traces.wire.parts import Parts, file, kind_of, linked, listed, mapping, media, words

NAME = "openai-responses"
REQUEST_KEYS = frozenset(("input", "instructions", "tools", "model", "type"))
_RAN_HERE = ("function", "custom_tool", "computer", "local_shell", "shell", "apply_patch")
"""Tools whose calls somebody has to answer: ``x_call`` and ``x_call_output``."""
_RAN_THERE = ("web_search", "file_search", "code_interpreter", "image_generation", "mcp", "tool_search")
_OTHERS = ("reasoning", "item_reference", "compaction", "mcp_list_tools", "mcp_approval_request", "tool_search_output")
_ITEMS = frozenset((*_OTHERS, "function_call", "function_call_output"))
_ITEMS |= {f"{tool}_call" for tool in (*_RAN_HERE, *_RAN_THERE)} | {f"{tool}_call_output" for tool in _RAN_HERE}
_ITEMS |= {"program", "program_output"}
_MARKS = frozenset(("call_id", "name", "summary", "encrypted_content", "id", "output", "content"))
"""An item has one of these beside its type."""
_PARTS = frozenset(("input_text", "output_text", "input_image", "input_file"))
_ARGUMENTS = ("arguments", "input", "action", "actions", "operation", "query")
"""Where the items of the different tools hold what the tool is to do."""
_ENDS = frozenset(("response.completed", "response.incomplete", "response.failed", "error"))


def is_request(value: Any) -> bool:
    """Whether ``value`` is a request body."""
    if not isinstance(value, dict) or "messages" in value or "choices" in value:
        return False
    sent = value.get("input")
    if isinstance(sent, list) and any(is_item(item) for item in sent):
        return True
    return isinstance(value.get("model"), str) and (isinstance(sent, str) or is_items(sent))


def is_items(value: Any) -> bool:
    """Whether ``value`` is a list of items or of messages without a type; an empty list is one."""
    return isinstance(value, list) and all(_is_item(item) for item in value)


def _is_item(item: Any) -> bool:
    return isinstance(item, dict) and (is_item(item) or ("role" in item and "content" in item))


def is_item(value: Any) -> bool:
    """Whether ``value`` is an item that only this API has."""
    kind = kind_of(value)
    if kind in _ITEMS:
        return not _MARKS.isdisjoint(value)
    parts = listed(mapping(value).get("content")) if kind in ("message", "") else []
    return any(kind_of(part) in _PARTS for part in parts)


is_message = is_item


def is_response(value: Any) -> bool:
    """Whether ``value`` is a response body."""
    if not isinstance(value, dict):
        return False
    output = value.get("output")
    return value.get("object") == "response" or (isinstance(output, list) and any(is_item(item) for item in output))


def is_piece(value: Any) -> bool:
    """Whether ``value`` is an event of a streamed response."""
    return kind_of(value).startswith("response.") and kind_of(value) != "response.create"


def is_last(piece: Mapping[str, Any]) -> bool:
    """Whether a stream ends with this event."""
    return kind_of(piece) in _ENDS


# -- items ---------------------------------------------------------------------------------------------------------


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The instructions and the input of a request, in OpenAI Chat form."""
    messages: list[Mapping[str, Any]] = []
    instructions = body.get("instructions")
    if isinstance(instructions, list):
        messages += converted(listed(instructions))
    elif instructions:
        messages.append({"role": "system", "content": instructions})
    sent = body.get("input")
    return messages + converted([{"role": "user", "content": sent}] if isinstance(sent, str) else listed(sent))


def converted(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Items in OpenAI Chat form."""
    messages: list[Mapping[str, Any]] = []
    answer = Parts()
    for item in items:
        other = _other(item)
        begins = _is_text(item) and kind_of(item) != "message" and answer.has_text
        if answer and (other is not None or begins):
            messages.append(answer.message("assistant"))
            answer = Parts()
        if other is not None:
            messages.append(other)
        else:
            _add_item(answer, item)
    return [*messages, answer.message("assistant")] if answer else messages


def _is_text(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("role"), str)


def _other(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The message of an item that is no part of an answer: a result, or what somebody else says."""
    kind, role = kind_of(item), item.get("role")
    if kind.endswith("_output"):
        return None if _ran_there(item) else _result(item)
    if isinstance(role, str) and role != "assistant":
        return {"role": role, "content": _content(item.get("content"))}
    if kind == "mcp_approval_response":
        return {"role": "user", "content": [dict(item)]}
    return None


def _ran_there(item: Mapping[str, Any]) -> bool:
    """Whether a result is of a tool that ran at OpenAI, and so a part of the answer."""
    return kind_of(item) == "program_output" or item.get("execution") == "server"


def _result(item: Mapping[str, Any]) -> Mapping[str, Any]:
    output = item.get("output", item.get("tools"))
    if kind_of(output) in ("computer_screenshot", "input_image"):
        output = [output]
    elif isinstance(output, dict) and isinstance(output.get("content"), str):
        output = output["content"]
    is_parts = isinstance(output, list) and all(kind_of(part) in _KNOWN_PARTS for part in output)
    content = _content(output) if is_parts else as_text("" if output is None else output)
    message = {"role": "tool", "tool_call_id": item.get("call_id") or item.get("id"), "content": content}
    return {**message, "status": "error"} if item.get("status") in ("failed", "error") else message


def _add_item(answer: Parts, item: Mapping[str, Any]) -> None:
    kind = kind_of(item)
    if kind == "reasoning":
        _add_reasoning(answer, item)
    elif kind in ("message", "") or (kind not in _ITEMS and _is_text(item)):
        _add_content(answer, item.get("content"))
    elif kind == "image_generation_call" and isinstance(item.get("result"), str):
        answer.add({key: value for key, value in item.items() if key != "result"})
        answer.add(media(f"image/{item.get('output_format') or 'png'}", item["result"]))
    elif _is_call(item):
        answer.call(item.get("call_id") or "", _tool_name(item), _arguments(item))
    else:
        answer.add(item)


def _is_call(item: Mapping[str, Any]) -> bool:
    """Whether somebody has to answer the item: tools that ran at OpenAI have no ``call_id``."""
    kind = kind_of(item)
    return kind == "function_call" or (kind.endswith("_call") and isinstance(item.get("call_id"), str))


def _tool_name(item: Mapping[str, Any]) -> Any:
    return item.get("name") or kind_of(item).removesuffix("_call")


def _arguments(item: Mapping[str, Any]) -> Any:
    value = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
    if kind_of(item) == "function_call" or isinstance(value, dict) or value is None:
        return value
    return {"input": value}  # a custom tool takes text, which is no JSON


def _add_reasoning(answer: Parts, item: Mapping[str, Any]) -> None:
    texts = [*listed(item.get("content")), *listed(item.get("summary"))]
    for part in texts:
        if isinstance(part.get("text"), str):
            answer.thought(part["text"])
    if not texts and isinstance(item.get("encrypted_content"), str):
        answer.hidden_thought(item["encrypted_content"])


def _add_content(parts: Parts, content: Any) -> None:
    if isinstance(content, str):
        parts.text(content)
        return
    for number, part in enumerate(listed(content)):
        text = part.get("text")
        if kind_of(part) in ("input_text", "output_text", "text", "summary_text") and isinstance(text, str):
            parts.text(text, glue=number > 0 and kind_of(part) == "output_text")
        elif kind_of(part) in ("input_image", "computer_screenshot"):
            parts.add(_image(part))
        elif kind_of(part) == "input_file":
            keys = ("file_data", "file_url", "file_id")
            parts.add(file(part.get("filename"), **{key: part[key] for key in keys if part.get(key)}))
        else:
            parts.add(part)


_KNOWN_PARTS = frozenset((*_PARTS, "text", "refusal", "computer_screenshot", "input_audio"))


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    parts = Parts()
    _add_content(parts, content)
    return parts.content


def _image(part: Mapping[str, Any]) -> Mapping[str, Any]:
    url = part.get("image_url")
    if isinstance(url, str):
        return linked(url)
    return file(file_id=part["file_id"]) if part.get("file_id") else part


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools on offer: functions in OpenAI Chat form, hosted ones as they are, under the name of their type."""
    found: list[dict[str, Any]] = []
    for tool in listed(body.get("tools")):
        if kind_of(tool) == "function":
            found.append({"type": "function", "function": {key: tool[key] for key in tool if key != "type"}})
        else:
            name = tool.get("name") or tool.get("server_label") or kind_of(tool)
            found.append({**tool, "name": as_text(name)})
    return found


# -- responses -----------------------------------------------------------------------------------------------------


def read_response(body: Mapping[str, Any]) -> Reply:
    """Read a response body, or its error."""
    started, ended = time_of(body.get("created_at")), time_of(body.get("completed_at"))
    common: dict[str, Any] = {
        "usage": usage_of(body.get("usage")),
        "model": words(body.get("model")),
        "started": started if ended else None,
        "at": ended or started,
        "id": words(body.get("id")),
    }
    output = listed(body.get("output"))
    if not output and (body.get("error") or body.get("status") in ("failed", None)):
        return Reply(error=error_text(body.get("error")), **common)
    answer = Parts()
    answered = {as_text(item.get("call_id")) for item in output if kind_of(item).endswith("_output")}
    for item in output:
        if item.get("role", "assistant") != "assistant":
            continue  # a compaction repeats what users said
        if as_text(item.get("call_id")) in answered:
            answer.add(item)  # it ran at OpenAI
        else:
            _add_item(answer, item)
    message = answer.message("assistant")
    return Reply(message=message, finish_reason=_finish_reason(body, "tool_calls" in message), **common)


def _finish_reason(body: Mapping[str, Any], calls: bool) -> str | None:
    """In the words of OpenAI Chat: this API has none of its own but for what went wrong."""
    if reason := words(mapping(body.get("incomplete_details")).get("reason")):
        return {"max_output_tokens": "length"}.get(reason, reason)
    if body.get("status") == "completed":
        return "tool_calls" if calls else "stop"
    return words(body.get("status"))


def usage_of(data: Any) -> Usage | None:
    """Tokens: the rules of OpenAI Chat under other names."""
    if not isinstance(data, dict):
        return None
    return Usage.from_openai(
        {
            "prompt_tokens": data.get("input_tokens"),
            "completion_tokens": data.get("output_tokens"),
            "total_tokens": data.get("total_tokens"),
            "prompt_tokens_details": data.get("input_tokens_details"),
            "completion_tokens_details": data.get("output_tokens_details"),
        }
    )


def join_pieces(pieces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The response body that the events of a stream add up to.

    The last event repeats the whole response; where it is missing or empty, the items and texts that came before count.
    """
    body: dict[str, Any] = {}
    items: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for piece in pieces:
        kind, place = kind_of(piece), as_text(piece.get("output_index", 0))
        if isinstance(response := piece.get("response"), dict):
            body.update(response)
        elif kind == "error":
            body["error"] = piece.get("error") or {"message": piece.get("message")}
        elif kind == "response.output_item.done":
            items[place] = piece.get("item")
        elif kind == "response.output_text.delta" and isinstance(delta := piece.get("delta"), str):
            texts[place] = texts.get(place, "") + delta
    if not body.get("output"):
        said = {place: {"role": "assistant", "content": text} for place, text in texts.items()}
        body["output"] = [item for _, item in sorted({**said, **items}.items())]
    return body
