"""Rules about how an agent is built: habits that work until they do not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agent.trace import TraceStep
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Call, Material

IN_USER = Rule(
    "result_in_user_message",
    Severity.WARNING,
    "Result in a user message",
    ("Tool results stand in user messages: {count} of them, first in message {n}.",),
    "The model cannot tell what a tool found from what the user wants, and text out of a tool gets the user's weight.",
    "Give results back in tool messages that name their call.",
)
NO_LIMIT = Rule(
    "no_step_limit",
    Severity.WARNING,
    "No step limit",
    ("The run had no limit of steps.",),
    "A loop that the model does not end by itself goes on until the money does.",
    "Set a limit of steps, and a limit of tokens or time beside it.",
)
ASKS = Rule(
    "asks_if_done",
    Severity.WARNING,
    "The model is asked whether it is done",
    ("Message {n} asks the model whether the task is done.",),
    "A model that is asked again tends to say yes, or to undo what was right; each round costs a whole request.",
    "Take a reply without calls for the end, and check the outcome outside the model.",
)
LEFT_OUT = Rule(
    "left_out_silently",
    Severity.NOTE,
    "Left out without a word",
    (
        "From step {step} on, tool results were left out of the requests ({count} of them), and nothing stands in "
        "their place.",
    ),
    "The model does not know that it has forgotten something, and key facts may be among it.",
    "Put a summary or a line in the place of what is left out, and test the budget with long results.",
)
ASKED_AGAIN = Rule(
    "asked_again",
    Severity.WARNING,
    "Called again after it was forgotten",
    ("{tool} was called again in step {step} with the same arguments, after its result had been left out.",),
    "The context budget took away what was still needed, and it was paid for twice.",
    "Keep key facts of old results in a summary, or give the budget more room.",
)
RULES = (IN_USER, NO_LIMIT, ASKS, LEFT_OUT, ASKED_AGAIN)

_RESULT = re.compile(
    r"(?i)\s*(?:\W{0,3}(?:observation|tool (?:result|response|output|call result)s?|"
    r"function (?:result|response|output)s?|"
    r"(?:result|output|response) (?:of|from) (?:the )?(?:tool|function|command|call)\b[^\n:]{0,80}|"
    r"execution results?|"
    r"(?:工具|函数|命令)(?:调用)?(?:执行)?(?:的)?(?:返回)?的?(?:结果|返回|输出)|观察(?:结果)?)\W{0,3}[:：]|"
    r"<(?:tool_response|tool_result|function_results?|observation|tool_output|returncode)\b|\[TOOL_RESULTS?\]|"
    r"EXECUTION RESULT of \[|OBSERVATION:)"
)
_OF_A_TOOL = re.compile(
    r"(?i)\s*\W{0,3}(?:(?:the )?(?:results?|outputs?|responses?) (?:of|from) (?:the )?(?:tool )?[`'\"]?"
    r"(?P<of>[\w.-]{1,64})|"
    r"(?:the )?(?:tool|function) [`'\"]?(?P<did>[\w.-]{1,64})[`'\"]? (?:returned|gave|said|answered|result|output)|"
    r"(?P<its>[\w.-]{1,64}) (?:result|returned|output)s?|"
    r"(?:工具|函数)\s*[`“「]?(?P<zh>[\w.-]{1,64}?)[`”」]?\s*的?(?:返回|结果|输出))[^:：\n]{0,20}[:：]"
)
"""A result that names its tool: only where there is such a tool, or the message before speaks of it."""
_RESULT_KEYS = ("result", "output", "observation", "error")
_TOOL_KEYS = ("tool", "tool_name", "action", "function")
_DONE = re.compile(
    r"(?i)\b(?:are you (?:done|finished|sure (?:that )?you(?:['’]re| are) (?:done|finished))|"
    r"(?:have you|did you) (?:finished?|completed?|solved?)\b|"
    r"is (?:the|this|your) (?:task|work|job) (?:done|complete|finished)|"
    r"if you (?:think|believe) (?:that )?(?:you(?:['’]ve| have)|the task)[^.?\n]{0,40}"
    r"(?:solved|done|completed?|finished))|"
    r"(?:任务|工作|问题)(?:是否|是不是)?(?:已经?)?(?:完成|做完|解决)了?(?:吗|没有|么)|是否(?:已经?)?完成|"
    r"(?:你|都|全部|真的|确定|确认)(?:已经?)?(?:完成|做完)了?(?:吗|没有|么)|"
    r"^(?:已经?)?(?:完成|做完)了?(?:吗|没有|么)\W*\Z|^is it (?:done|complete|finished)\b"
)
_LONGEST_QUESTION = 600
_LONGEST_JSON = 100_000


def check(material: Material) -> Iterator[Finding]:
    """Look at user messages, at the settings of the run, and at what its requests left out."""
    yield from _in_user_messages(material)
    yield from _no_limit(material)
    yield from _asks(material)
    yield from _forgotten(material)


def _in_user_messages(material: Material) -> Iterator[Finding]:
    messages = material.trace.messages
    places = [
        at
        for at, message in enumerate(messages)
        if message.role == "user" and at and messages[at - 1].role != "system" and _is_result(material, at)
    ]
    if places:
        facts = {"count": len(places), "n": places[0] + 1}
        cost = material.cost_of(places)
        yield Finding(
            rule=IN_USER, facts=facts, message=places[0], evidence=tuple(places), cost_tokens=cost.tokens,
            cost_estimated=cost.estimated,
        )  # fmt: skip


def _is_result(material: Material, at: int) -> bool:
    text, before = material.trace.messages[at].text, material.trace.messages[at - 1]
    head = text[:300]
    if _RESULT.match(head):
        return True
    if before.role != "assistant" or before.tool_calls:
        return False
    if (named := _OF_A_TOOL.match(head)) is not None:
        name = next(group for group in named.groups() if group)
        return name in material.names or re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", before.text) is not None
    return _is_json_result(head, text, material, before.text)


def _is_json_result(head: str, text: str, material: Material, before: str) -> bool:
    """One JSON object that names a tool the model spoke of, and what came of it."""
    if (
        not head.lstrip().startswith("{")
        or len(text) > _LONGEST_JSON
        or not any(f'"{key}"' in text for key in _TOOL_KEYS)
    ):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    names = [value[key] for key in _TOOL_KEYS if isinstance(value.get(key), str)]
    known = any(name and (name in material.names or name in before) for name in names)
    return known and any(key in value for key in _RESULT_KEYS)


def _no_limit(material: Material) -> Iterator[Finding]:
    """A limit that an intervention took away is no habit of who built the agent."""
    config, asked = material.trace.config, material.trace.interventions
    switched_off = any(item.get("kind") == "no_step_limit" for item in asked)
    if "max_steps" in config and config["max_steps"] is None and not switched_off:
        yield Finding(rule=NO_LIMIT)


def _asks(material: Material) -> Iterator[Finding]:
    messages = material.trace.messages
    for at in range(1, len(messages)):
        message, before = messages[at], messages[at - 1]
        if message.role != "user" or before.role != "assistant" or before.tool_calls:
            continue
        if len(message.text) <= _LONGEST_QUESTION and _DONE.search(message.text):
            step = material.by_reply.get(at + 1)
            lost = step.usage.total if step and step.usage else None
            yield Finding(
                rule=ASKS, facts={"n": at + 1}, message=at, step=step.index if step else None, evidence=(at,),
                cost_tokens=lost, cost_calls=1,
            )  # fmt: skip


def _forgotten(material: Material) -> Iterator[Finding]:
    """What a budget left out, and whether the model asked for it again."""
    dropped = _Dropped(material)
    silent: set[int] = set()
    first: TraceStep | None = None
    calls = iter(material.calls)
    call = next(calls, None)
    for step in material.trace.steps:
        new = dropped.by(step)
        if new and not dropped.replaced:
            silent |= new
            first = first or step
        while call is not None and call.step is step:
            if (earlier := dropped.lost.get(call.key)) is not None:
                yield _again(material, call, earlier)
                dropped.lost.pop(call.key)
            call = next(calls, None)
    if first is not None:
        facts = {"step": first.index, "count": len(silent)}
        places = tuple(sorted(silent))
        yield Finding(rule=LEFT_OUT, facts=facts, message=places[0], step=first.index, evidence=places)


class _Dropped:
    """The results that the requests of a run leave out, request by request."""

    def __init__(self, material: Material) -> None:
        self._results = {c.run.message: c for c in material.calls if c.run.message is not None and not c.failed}
        self._end = len(material.trace.messages)
        self._known: set[tuple[int, int]] = set()
        self.lost: dict[int, Call] = {}
        """Calls whose result the model no longer sees, by their fingerprints."""
        self.replaced = False
        """Whether something stands in the place of what the last request left out."""

    def by(self, step: TraceStep) -> set[int]:
        """Results that this step's request left out and those before did not."""
        edits = step.request.edits if step.request else []
        found: set[int] = set()
        self.replaced = any(edit.op != "drop" and edit.by == "context" for edit in edits)
        for edit in edits:
            span = (edit.message, edit.count)
            if edit.op != "drop" or edit.by != "context" or span in self._known:
                continue
            self._known.add(span)
            end = min(edit.message + edit.count, self._end)
            found |= {at for at in range(edit.message, end) if at in self._results}
        self.lost |= {self._results[at].key: self._results[at] for at in found}
        return found


def _again(material: Material, call: Call, earlier: Call) -> Finding:
    facts = {"tool": call.name, "step": call.step.index}
    places = tuple(sorted({*earlier.places, *call.places}))
    cost = material.wasted([call])
    return Finding(
        rule=ASKED_AGAIN, facts=facts, message=call.message, step=call.step.index, call_id=call.run.tool_call_id,
        evidence=places, cost_tokens=cost.tokens, cost_estimated=cost.estimated, cost_calls=1,
    )  # fmt: skip
