"""Tool calls that arrive as plain text, and texts that claim a call which was never made.

A server that does not parse its model's template leaves the call in the content. A weak model writes "I called add"
without calling anything. Both must be seen; neither may be seen where a text only explains or quotes such a thing, so
every rule here asks for more evidence rather than less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from agent.ids import new_call_id
from agent.messages import Message, ToolCall
from agent.models.replies import visible_text

_FENCE = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^<>\s]+)>\s*(.*?)\s*</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_PREFIXES = ("[TOOL_CALLS]", "<|python_tag|>")

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*|[\"“`「](?:I|we|我)\b[^\"”`」\n]*[\"”`」]", re.DOTALL | re.MULTILINE
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_NOT_A_CLAIM = re.compile(
    r"\?|？|n't\b|n’t\b|\b(?:not|never|no|cannot|without|if|unless|would|could|should|can|may|might|will|shall|when|"
    r"suppose|imagine|example|e\.g\.|you|once|before)\b|如果|假如|假设|例如|比如|可以|可能|应该|将|会|没有|没|未|不|无法|吗|你|您",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"\b(?:I'll|I’ll|I will|I am going to|I'm going to|let me|let's)\b|我来|我将|我会|让我", re.IGNORECASE
)
_SHOWN = 200
_ANY_TOOL = (
    r"\bI(?:'ve| have|’ve)?(?: just| already| now| successfully)* (?:called|used|ran|run|invoked|executed) "
    r"(?:the|a|my|some) (?:\w+ )?tools?\b|我(?:已经?|刚刚?)?(?:调用|使用|运行|执行)(?:过)?了(?:一个|相关|该|这个)?工具"
)


def find_text_calls(text: str, names: Collection[str]) -> list[ToolCall]:
    """The calls that a message holds as text; empty unless the message is nothing but calls of registered tools.

    Read are the forms that templates use: ``<tool_call>{...}</tool_call>``, ``<function=f><parameter=p>v</parameter>
    </function>``, ``[TOOL_CALLS][...]``, and one JSON object or list of them, bare or in a code fence, with ``name``
    and ``arguments`` (or ``parameters``). A thought at the head does not count as text.

    Args:
        text: the content of an assistant message without structured calls.
        names: the registered tool names. One unknown name, and nothing is read as a call.
    """
    found = _parse(visible_text(Message("assistant", text)))
    if not found or any(name not in names for name, _ in found):
        return []
    calls: list[ToolCall] = []
    for name, arguments in found:
        calls.append(ToolCall(new_call_id({call.id for call in calls}), name, arguments))
    return calls


def claims_a_call(text: str, names: Collection[str], *, called: Collection[str] = ()) -> str | None:
    """The words by which a text claims a tool call that was never made, or None.

    Found are a call written as text, alone or after an announcement ("Let me look."), and sentences that say in the
    past tense that a tool was used or what it returned. Questions, conditions, negations, advice, quotations and code
    blocks are no claims.

    Args:
        text: an assistant message without structured calls.
        names: the registered tool names.
        called: the tools that this run really called; a sentence about one of these is no false claim.
    """
    visible = visible_text(Message("assistant", text))
    if not names or not visible:
        return None
    if find_text_calls(visible, names) or _announced_call(visible, names):
        return _short(visible)
    missing = [name for name in names if name not in called]
    patterns = [_claim_pattern(missing)] if missing else []
    if not called:
        patterns.append(re.compile(_ANY_TOOL, re.IGNORECASE))
    return states(visible, patterns)


def states(text: str, patterns: Collection[re.Pattern[str]]) -> str | None:
    """The first sentence in which one of the patterns is found and that states something, or None.

    Questions, conditions, negations, advice, quotations and code blocks state nothing.
    """
    for sentence in _SENTENCES.split(_QUOTED.sub("\n", text)):
        if any(p.search(sentence) for p in patterns) and not _NOT_A_CLAIM.search(sentence):
            return _short(sentence)
    return None


def _parse(text: str) -> list[tuple[str, dict[str, Any]]]:
    """``(name, arguments)`` of every call in ``text``; empty if anything else stands there."""
    if (fence := _FENCE.fullmatch(text)) is not None:
        text = fence[1].strip()
    if text.startswith("<tool_call>"):
        inner = _TAGGED.findall(text)
        calls = [call for part in inner for call in _parse_one(part)]
        return calls if not _TAGGED.sub("", text).strip() and len(calls) >= len(inner) else []
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix).strip()
    return _parse_one(text)


def _parse_one(text: str) -> list[tuple[str, dict[str, Any]]]:
    if text.startswith("<function="):
        if _FUNCTION.sub("", text).strip():
            return []
        return [(name, dict(_PARAMETER.findall(body))) for name, body in _FUNCTION.findall(text)]
    if not text.startswith(("{", "[")):
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    calls = [_read_call(item) for item in (value if isinstance(value, list) else [value])]
    return [call for call in calls if call] if all(calls) else []


def _read_call(value: Any) -> tuple[str, dict[str, Any]] | None:
    if not isinstance(value, dict) or not isinstance(name := value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters"))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    known = {"name", "arguments", "parameters", "id", "type"}
    return (name, arguments) if isinstance(arguments, dict) and known.issuperset(value) else None


def _announced_call(text: str, names: Collection[str]) -> bool:
    """A short announcement in the first person and then nothing but a tagged call."""
    start = min((at for tag in ("<tool_call>", "<function=") if (at := text.find(tag)) > 0), default=0)
    head = text[:start]
    if not start or len(head) > _SHOWN or not head.endswith("\n") or not _PREAMBLE.search(head):
        return False
    return bool(find_text_calls(text[start:], names))


def _claim_pattern(names: Collection[str]) -> re.Pattern[str]:
    name = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
    quoted = rf"[`\"'“*「]*(?<![A-Za-z0-9_.-])(?:{name})(?![A-Za-z0-9_-])(?:\([^()]*\))?[`\"'”*」]*"
    past = r"(?:called|used|ran|run|invoked|executed|queried)"
    adverbs = r"(?: just| already| now| successfully| then| also)*"
    follows = r"(?=\s*(?:$|[.,;:!)。，；：！]|tool|function|(?:to|and|with|on|for|twice|again)\b|工具|函数|来))"
    return re.compile(
        rf"\b(?:I|we)(?:'ve| have|’ve)?{adverbs} {past} (?:the )?(?:tool |function )?{quoted}{follows}"
        rf"|\bthe {quoted} (?:tool|function) (?:returned|says|said|gave|reports|reported|shows|showed|confirmed)\b"
        rf"|\b(?:according to|based on)(?: the)?(?: result of| output of)?(?: the)? {quoted} (?:tool|function)\b"
        rf"|(?<![A-Za-z0-9_.])(?:{name})\([^()]*\)[`\"'”*]* (?:returned|gave)\b"
        rf"|我(?:们)?(?:已经?|刚刚?)?(?:调用|使用|运行|执行|用)(?:过|了)(?:工具|函数)?\s*{quoted}"
        rf"|{quoted}\s*(?:工具|函数)?\s*(?:返回了?|的返回值?是|给出了?)"
        rf"|根据\s*{quoted}\s*(?:工具|函数)?\s*的?(?:返回|结果|输出)",
        re.IGNORECASE,
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
