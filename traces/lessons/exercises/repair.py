"""The exercise in which broken message lists are mended until the loop's own check accepts them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent import jsontext
from agent.messages import Message
from agent.protocol import violations
from traces.lessons.exercises.exercise import Exercise
from traces.lessons.exercises.remark import Remark
from traces.lessons.lesson import Text
from traces.lessons.scripts import in_language

EXERCISE = Exercise(
    "repair",
    Text("Repair a message list", "修好一个消息列表"),
    Text(
        "Mend broken message lists until the check that the loop itself uses accepts them.",
        "修改出错的消息列表，直到循环自己用的检查也能通过。",
    ),
    Text(
        "Every request goes through one check before it is sent; a provider would answer these lists with an error. "
        "Mend one list after the other. What happened stays as it was: no question, call or result that is right may "
        "get lost.",
        "每个请求发出前都要通过一项检查；下面这些列表会被服务商拒绝。请逐个修好。"
        "已经发生的要保持原样：正确的提问、调用和结果一条也不能丢。",
    ),
    (
        Text(
            "Read what the check says: it names the message and the id.",
            "先看检查说了什么：它指出了是哪条消息、哪个编号。",
        ),
        Text(
            "A message with calls is followed at once by one tool message for each call, with the call's id.",
            "带调用的消息后面要紧跟工具消息：每个调用一条，编号与调用相同。",
        ),
        Text(
            "A result without a call goes. A call without a result gets one that says honestly that there is none. "
            "Arguments are a text that holds a JSON object.",
            "没有调用的结果要删掉。没有结果的调用要补一条，如实说明没有结果。参数是一段文字，里面是一个 JSON 对象。",
        ),
    ),
)
ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Case:
    """A broken list."""

    name: str
    title: Text
    broken: tuple[Mapping[str, Any], ...]
    """Messages in OpenAI Chat form; texts in both languages."""
    mended: tuple[Mapping[str, Any], ...]
    """One way to mend it. Its messages must all be there in the end, in this order, but for those of :attr:`free`."""
    free: frozenset[int] = frozenset()
    """Positions in it whose text may be another one."""


def _says(role: str, en: str, zh: str) -> dict[str, Any]:
    return {"role": role, "content": {"en": en, "zh": zh}}


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _asks(*calls: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def _result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text, "tool_call_id": call_id}


_QUESTION = _says("user", "What is 2 + 3?", "2 + 3 等于几？")
_ADD = _call("c1", "add", '{"a": 2, "b": 3}')
_ANSWER = _says("assistant", "It is 5.", "等于 5。")
_BOTH = _says("user", "How warm is it in Paris and in Berlin?", "巴黎和柏林现在多少度？")
_PARIS = '{"city": "Paris"}'
_BERLIN = '{"city": "Berlin"}'
_TWO = _asks(_call("c1", "get_weather", _PARIS), _call("c2", "get_weather", _BERLIN))
_ONLY_PARIS = _says("assistant", "Paris: 12 °C. I have nothing on Berlin.", "巴黎 12 °C。柏林没有查到。")
_BOTH_KNOWN = _says("assistant", "Paris: 12 °C, Berlin: 6 °C.", "巴黎 12 °C，柏林 6 °C。")
_RIGHT = (_QUESTION, _asks(_ADD), _result("c1", "5"), _ANSWER)
_NONE = '{"error": "interrupted: there is no result", "retryable": true}'

CASES = (
    Case(
        "orphan",
        Text("A result without its call", "没有调用的结果"),
        (_QUESTION, _result("c9", "17"), _asks(_ADD), _result("c1", "5"), _ANSWER),
        _RIGHT,
    ),
    Case(
        "unanswered",
        Text("A call without a result", "没有结果的调用"),
        (_BOTH, _TWO, _result("c1", "12 °C"), _ONLY_PARIS),
        (_BOTH, _TWO, _result("c1", "12 °C"), _result("c2", _NONE), _ONLY_PARIS),
        frozenset({3}),
    ),
    Case(
        "wrong_id",
        Text("A result under the wrong id", "结果的编号不对"),
        (_QUESTION, _asks(_ADD), _result("call_1", "5"), _ANSWER),
        _RIGHT,
    ),
    Case(
        "arguments",
        Text("Arguments that are no JSON", "参数不是 JSON"),
        (_QUESTION, _asks(_call("c1", "add", "{a: 2, b: 3")), _result("c1", "5"), _ANSWER),
        _RIGHT,
    ),
    Case(
        "result_first",
        Text("A result before its call", "结果排在调用之前"),
        (_QUESTION, _result("c1", "5"), _asks(_ADD), _ANSWER),
        _RIGHT,
    ),
    Case(
        "same_id",
        Text("Two calls with one id", "两个调用共用一个编号"),
        (
            _BOTH,
            _asks(_call("c1", "get_weather", _PARIS), _call("c1", "get_weather", _BERLIN)),
            _result("c1", "12 °C"),
            _result("c1", "6 °C"),
            _BOTH_KNOWN,
        ),
        (_BOTH, _TWO, _result("c1", "12 °C"), _result("c2", "6 °C"), _BOTH_KNOWN),
    ),
)


def case_named(name: str) -> Case:
    """The case of this name; the first where there is none."""
    return next((case for case in CASES if case.name == name), CASES[0])


def broken_text(case: Case, language: str) -> str:
    """The list to mend, as JSON text."""
    return _dumps(in_language(list(case.broken), language))


def mended_text(case: Case, language: str) -> str:
    """One way to mend it."""
    return _dumps(in_language(list(case.mended), language))


def _dumps(messages: list[Any]) -> str:
    return json.dumps(messages, ensure_ascii=False, indent=2)


# ---- the check ----

_WHY = {
    "orphan": Text(
        "A tool message answers a call of the assistant message right before its block; without one it means nothing.",
        "工具消息回答的是它前面那条助手消息里的调用；没有那个调用，它就没有意义。",
    ),
    "unanswered": Text(
        "The model waits for a result under this id. It must follow at once, before anything else is said.",
        "模型在等这个编号的结果。结果要紧跟在后面，中间不能有别的消息。",
    ),
    "bad_ids": Text(
        "Only the id says which result belongs to which call, so each call needs one of its own.",
        "只有编号能说明哪个结果属于哪个调用，所以每个调用都要有自己的编号。",
    ),
}


def rows_of(text: str) -> list[dict[str, Any]] | None:
    """The messages in a JSON text; None where it is no list of messages."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return rows if isinstance(rows, list) and all(map(_is_message, rows)) else None


def _is_message(row: Any) -> bool:
    if not isinstance(row, dict) or row.get("role") not in ROLES:
        return False
    calls = row.get("tool_calls")
    listed = calls is None or (isinstance(calls, list) and all(map(_is_call, calls)))
    return (
        listed and isinstance(row.get("content"), str | list | None) and isinstance(row.get("tool_call_id"), str | None)
    )


def _is_call(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function"), dict)


def check(case: Case, text: str, language: str) -> list[Remark]:
    """What is still wrong with a list; empty: it may be sent, and nothing is lost.

    Args:
        case: the list as it was.
        text: the list as JSON text, as it is now.
        language: of its texts.
    """
    rows = rows_of(text)
    if rows is None:
        return [_unreadable(text)]
    messages = [Message.from_dict(row) for row in rows]
    found = [Remark(Text(broken.text, broken.text), why=_WHY[broken.kind]) for broken in violations(messages)] + list(
        _argument_remarks(messages)
    )
    return found or list(_lost(case, messages, language))


def _unreadable(text: str) -> Remark:
    try:
        rows = json.loads(text)
    except RecursionError:
        return Remark(Text("This is nested too deeply.", "嵌套得太深。"))
    except ValueError as error:
        line = getattr(error, "lineno", None)
        why = getattr(error, "msg", str(error))
        return Remark(Text(f"This is no valid JSON: {why}.", f"这不是有效的 JSON：{why}。"), line=line)
    if not isinstance(rows, list):
        return Remark(
            Text("This is no list: it begins with [ and ends with ].", "这不是列表：列表以 [ 开头，以 ] 结尾。")
        )
    at = next(at for at, row in enumerate(rows, 1) if not _is_message(row))
    roles = ", ".join(ROLES)
    words = Text(
        f"It is no message: an object with one of the roles {roles}, its content, and perhaps a list of tool_calls, "
        "each with a function.",
        f"这不是消息：消息是一个对象，角色是 {roles} 之一，有 content，也许还有 tool_calls 列表，"
        "其中每一项都有 function。",
    )
    return Remark(words, Text(f"Message {at}", f"消息 {at}"))


def _argument_remarks(messages: Sequence[Message]) -> Iterator[Remark]:
    for at, message in enumerate(messages, 1):
        for call in message.tool_calls:
            if call.problem is not None:
                yield Remark(
                    Text(call.problem, call.problem),
                    Text(f"Message {at}, {call.name}", f"消息 {at}，{call.name}"),
                    Text(
                        "The arguments of a call are a text that must hold one JSON object: keys in quotation marks, "
                        "every bracket closed.",
                        "调用的参数是一段文字，里面必须是一个 JSON 对象：键要加引号，括号要配对。",
                    ),
                )


def _lost(case: Case, messages: Sequence[Message], language: str) -> Iterator[Remark]:
    """Whether all that was right is still there, in its order."""
    wanted = [Message.from_dict(row) for row in in_language(list(case.mended), language)]
    at = 0
    for number, message in enumerate(wanted):
        free = number in case.free
        found = next((here for here in range(at, len(messages)) if _same(messages[here], message, free)), None)
        if found is not None:
            at = found + 1
            continue
        elsewhere = any(_same(other, message, free) for other in messages)
        words = (
            Text("It does not stand in its place.", "它不在自己的位置上。")
            if elsewhere
            else Text("It got lost, or says something else now.", "它丢了，或者内容变了。")
        )
        yield Remark(words, _name_of(message), Text("What happened stays as it was.", "已经发生的要保持原样。"))
        return


def _same(one: Message, other: Message, free: bool) -> bool:
    said = [(call.id, call.name, jsontext.canonical(call.arguments)) for call in one.tool_calls]
    wanted = [(call.id, call.name, jsontext.canonical(call.arguments)) for call in other.tool_calls]
    if one.role != other.role or not _same_calls(said, wanted):
        return False
    return free or one.text == other.text


def _same_calls(said: Sequence[tuple[str, str, str]], wanted: Sequence[tuple[str, str, str]]) -> bool:
    """Whether these are the same calls; ids may be others, since only pairs count and those the check looks at."""
    return [call[1:] for call in said] == [call[1:] for call in wanted]


def _name_of(message: Message) -> Text:
    if message.tool_calls:
        names = ", ".join(call.name for call in message.tool_calls)
        return Text(f"The call of {names}", f"对 {names} 的调用")
    short = message.text[:60]
    if message.role == "tool":
        return Text(f"The result {short}", f"结果 {short}")
    return Text(f"{message.role}: {short}", f"{message.role}：{short}")


# ---- changes of a row ----


def moved(text: str, at: int, by: int) -> str:
    """The list with a message moved; the same text where it cannot be."""
    rows = rows_of(text)
    if rows is None or not (0 <= at < len(rows) and 0 <= at + by < len(rows)):
        return text
    rows.insert(at + by, rows.pop(at))
    return _dumps(rows)


def deleted(text: str, at: int) -> str:
    """The list without a message."""
    rows = rows_of(text)
    if rows is None or not 0 <= at < len(rows):
        return text
    del rows[at]
    return _dumps(rows)


def added(text: str, at: int) -> str:
    """The list with an empty tool message in front of position ``at``."""
    rows = rows_of(text)
    if rows is None:
        return text
    rows.insert(at, _result("", ""))
    return _dumps(rows)


def changed(text: str, at: int, **fields: Any) -> str:
    """The list with other fields of a message, such as ``content`` or ``tool_call_id``."""
    rows = rows_of(text)
    if rows is None or not 0 <= at < len(rows):
        return text
    rows[at] = {**rows[at], **fields}
    return _dumps(rows)


def call_changed(text: str, at: int, number: int, *, call_id: str, arguments: str) -> str:
    """The list with another id and other arguments of one call of a message.

    Args:
        text: the list.
        at: position of the message.
        number: position of the call in it.
        call_id: its id.
        arguments: its arguments, as the text that they are.
    """
    rows = rows_of(text)
    calls = rows[at].get("tool_calls") if rows is not None and 0 <= at < len(rows) else None
    if rows is None or not isinstance(calls, list) or not 0 <= number < len(calls):
        return text
    function = {**calls[number]["function"], "arguments": arguments}
    calls[number] = {**calls[number], "id": call_id, "function": function}
    return _dumps(rows)
