"""The exercise in which the fields of a provider's response are mapped to those of ``ModelReply``.

The judge is our own reader of the provider's API. A path is right when the reader no longer finds the field without
what stands there, or with it empty, and still finds all others; or when another text there becomes the field.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agent import jsontext
from traces.lessons.exercises.exercise import Exercise
from traces.lessons.exercises.remark import Remark
from traces.lessons.lesson import Text
from traces.wire.api import of_response

EXERCISE = Exercise(
    "map_fields",
    Text("Map a provider's fields", "对应服务商的字段"),
    Text(
        "Find in a provider's response what becomes content, tool_calls, finish_reason and usage of ModelReply.",
        "在服务商的响应里找出哪些内容会变成 ModelReply 的 content、tool_calls、finish_reason 和 usage。",
    ),
    Text(
        "Every provider says the same things under other names. Choose for each field of ModelReply where it stands in "
        "this response. Our own reader of this API checks it: it reads the response again without the part you chose.",
        "每家服务商用不同的名字说同样的事。请为 ModelReply 的每个字段选出它在这个响应里的位置。"
        "由本项目自己的读取程序来检查：它去掉你选的部分，再读一遍响应。",
    ),
    (
        Text(
            "The content is the text for the user. A call has a tool's name and arguments near it.",
            "content 是给用户看的文字。调用的旁边有工具的名字和参数。",
        ),
        Text(
            "Why the model stopped is one short word: stop, tool_use, tool_calls, completed.",
            "模型为什么停下是一个短词：stop、tool_use、tool_calls、completed。",
        ),
        Text(
            "The prompt is what goes in (input), the completion what comes out (output). Choose the number itself.",
            "prompt 是输入（input），completion 是输出（output）。请选那个数字本身。",
        ),
    ),
)
FIELDS = ("content", "tool_calls", "finish_reason", "usage.prompt_tokens", "usage.completion_tokens")
"""Of ``ModelReply``; the two counts that every provider has stand for the usage."""


@dataclass(frozen=True, slots=True)
class Provider:
    """An API and a response as it sends them; made up, small, and whole."""

    name: str
    title: str
    response: Mapping[str, Any]


@cache
def providers() -> tuple[Provider, ...]:
    """All of them."""
    data = json.loads(Path(__file__).with_name("responses.json").read_text(encoding="utf-8"))
    return tuple(Provider(each["name"], each["title"], each["response"]) for each in data)


def provider_named(name: str) -> Provider:
    """The provider of this name; the first where there is none."""
    return next((each for each in providers() if each.name == name), providers()[0])


def paths_of(response: Any) -> list[str]:
    """Every place in a response, such as ``choices[0].message``, in its order."""
    return [_written(path) for path, _ in _walk(response, ())]


def value_at(response: Any, path: str) -> Any:
    """What stands at a path of :func:`paths_of`."""
    return next(value for steps, value in _walk(response, ()) if _written(steps) == path)


def check(provider: Provider, chosen: Mapping[str, str]) -> list[Remark]:
    """What is not right yet.

    Args:
        provider: whose response it is.
        chosen: field -> path.
    """
    return [remark for field in FIELDS if (remark := _about(provider, field, chosen.get(field))) is not None]


@cache
def answers(name: str) -> dict[str, tuple[str, ...]]:
    """The right paths of each field of a provider's response, the most exact first."""
    provider = provider_named(name)
    right: dict[str, tuple[str, ...]] = {}
    for field in FIELDS:
        fitting = [path for path in paths_of(provider.response) if _about(provider, field, path) is None]
        right[field] = tuple(reversed(fitting))
    return right


def _about(provider: Provider, field: str, path: str | None) -> Remark | None:
    place = Text(field, field)
    if not path:
        return Remark(Text("Nothing is chosen yet.", "还没有选择。"), place)
    value = value_at(provider.response, path)
    before = _read(provider.response)
    ways = [_read(_changed(provider.response, path))]
    if isinstance(value, (dict, list)):
        ways.append(_read(_changed(provider.response, path, type(value)())))
    gone = [[name for name in FIELDS if before[name] is not None and after[name] is None] for after in ways]
    if [field] in gone and isinstance(value, _KINDS[field]):
        return None
    if not any(gone) and _becomes(provider.response, field, path):
        return None
    least = min(filter(None, gone), key=len, default=[])
    return Remark(_what_it_is(field, path, least, part=any(before[field] != after[field] for after in ways)), place)


def _becomes(response: Mapping[str, Any], field: str, path: str) -> bool:
    """Whether another text at this path is what the reader gives for the field."""
    return isinstance(value_at(response, path), str) and _read(_changed(response, path, _OTHER))[field] == _OTHER


_OTHER = "another text"
_KINDS: dict[str, tuple[type, ...]] = {
    "content": (str, list, dict),
    "tool_calls": (list, dict),
    "finish_reason": (str,),
    "usage.prompt_tokens": (int,),
    "usage.completion_tokens": (int,),
}
"""What can stand for a field. Without its ``type`` a call is no call any more, and yet that word is not the call."""


def _what_it_is(field: str, path: str, gone: list[str], *, part: bool) -> Text:
    others = ", ".join(name for name in gone if name != field)
    if field in gone and others:
        return Text(f"{path} holds more than this: {others} too.", f"{path} 包含得太多：还有 {others}。")
    if others:
        return Text(f"{path} is where {others} comes from.", f"{path} 是 {others} 的来源。")
    if part:
        return Text(f"{path} is only a part of it. Look one level higher.", f"{path} 只是其中一部分。请往上一层看。")
    return Text(
        f"Without {path} the reader still finds everything: it is something else.",
        f"去掉 {path}，读取程序仍能找到全部字段：它是别的东西。",
    )


def _read(response: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as our reader finds them; None for what it does not find."""
    api = of_response(response)
    if api is None:
        return dict.fromkeys(FIELDS)
    reply = api.read_response(response)
    message, usage = reply.message or {}, reply.usage
    return {
        "content": message.get("content") or None,
        "tool_calls": message.get("tool_calls") or None,
        "finish_reason": reply.finish_reason,
        "usage.prompt_tokens": usage.prompt_tokens if usage else None,
        "usage.completion_tokens": usage.completion_tokens if usage else None,
    }


# ---- paths ----

_Path = tuple[str | int, ...]


def _walk(value: Any, path: _Path) -> Iterator[tuple[_Path, Any]]:
    if path:
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _walk(inner, (*path, key))


def _written(path: _Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _changed(response: Mapping[str, Any], path: str, value: Any = None) -> dict[str, Any]:
    """The response without what stands at a path, or with another value in its place."""
    steps = next(steps for steps, _ in _walk(response, ()) if _written(steps) == path)
    left: dict[str, Any] = copy.deepcopy(dict(response))
    holder: Any = left
    for step in steps[:-1]:
        holder = holder[step]
    if value is None:
        del holder[steps[-1]]
    else:
        holder[steps[-1]] = value
    return left


def shown(value: Any) -> str:
    """A value of a response in one short line."""
    text = jsontext.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 40
