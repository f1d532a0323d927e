"""Rules about what the model says: cut off, empty, past the result, past the error, or several steps at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from agent.messages import Message
from agent.models.replies import was_cut
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Answer, Call, Cost, Material, short

CUT_OFF = Rule(
    "cut_off_reply",
    Severity.WARNING,
    "Reply cut off",
    ("The reply of step {step} was cut off by the length limit of the model call.",),
    "The end is missing: an answer stops in the middle, and arguments of calls are no valid JSON.",
    "Raise the limit of tokens for a reply, or ask for less at once.",
)
EMPTY = Rule(
    "empty_answer",
    Severity.WARNING,
    "Empty answer",
    ("Message {n} asks for no tool and says nothing.",),
    "The turn ends without an answer, and a program that takes it for the end reports success.",
    "Treat an empty answer as a failure: ask again once, then stop with a reason.",
)
IGNORED = Rule(
    "result_ignored",
    Severity.WARNING,
    "Result ignored",
    (
        "{tool} gave {result}, but the answer in message {n} says another number.",
        "{tool} gave a result, but the answer in message {n} says that the model cannot know such things.",
    ),
    "The call was made for nothing, and the answer does not rest on what the tool found.",
    "Ask for the answer to be drawn from the results; check the answer against them.",
)
SWALLOWED = Rule(
    "swallowed_error",
    Severity.WARNING,
    "Error swallowed",
    ("{tool} failed last, and the answer in message {n} does not mention it.",),
    "The user takes for done what was not done.",
    "Give the error back to the model as a result that says so, and check the outcome outside the model.",
)
SEVERAL = Rule(
    "several_steps_in_one_reply",
    Severity.WARNING,
    "Several steps in one reply",
    (
        "Message {n} goes on after its own action and makes up what the tool would have answered.",
        "Message {n} holds several actions, of which only one can be taken at a time.",
    ),
    "What follows rests on a result that no tool gave.",
    "Stop the generation at the action (a stop sequence, or native tool calls), one step a request.",
)
RULES = (CUT_OFF, EMPTY, IGNORED, SWALLOWED, SEVERAL)

_TELLING = ("refusal", "audio", "images", "annotations", "citations")
"""Keys of a message that say something without text."""
_LIVE = r"(?:real[- ]?time|live|current|up[- ]to[- ]date)"
_CANNOT_KNOW = re.compile(
    rf"(?i)\bI (?:do not|don['’]t|currently do not|currently don['’]t) have (?:direct )?access to {_LIVE}|"
    rf"\bI (?:cannot|can['’]t) (?:directly )?(?:access|retrieve|look up|check|browse) (?:{_LIVE}|the (?:web|internet))|"
    rf"\bI(?: am|['’]m) (?:unable|not able) to access {_LIVE}|"
    r"\bas an AI(?: language)?(?: model| assistant)?,? I (?:cannot|can['’]t|am unable to|do not have|don['’]t have)|"
    r"我(?:无法|不能|没有办法)(?:直接)?(?:访问|获取|查询)(?:实时|当前|最新|外部)|"
    r"作为(?:一个)?(?:AI|人工智能)[^。，]{0,8}[，,]?我(?:无法|不能|没有)"
)
_TELLS_FAILURE = re.compile(
    r"(?i)error|fail|unavail|could ?n.t|can(?:no|['’])t|could not|unable|sorry|apolog|unfortunate|"
    r"not (?:found|exist|possible|"
    r"available|able|permitted|allowed|supported|work|complete|support|have|find|access|valid)|n['’]t|"
    r"no (?:such|longer|results?|data|access|file|matching)|invalid|denied|reject|refus|missing|problem|issue|trouble|"
    r"incorrect|instead|timed? ?out|unsuccessful|however|\bbut\b|only|\?|exception|wrong|interrupt|"
    r"失败|错误|无法|抱歉|未找到|找不到|不存在|不能|没有|未能|问题|不可用|拒绝|超时|但|？|出错|异常|暂时|不支持"
)
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[-−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_SCALAR = re.compile(r'\s*"?([-−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)"?\s*')
_ALONE = re.compile(
    r'\s*\{\s*"(?:result|value|answer|output|sum|total|product|count)"\s*:\s*([-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*\}\s*'
)
"""An object with nothing in it but one number."""
_LONGEST_SCALAR = 60
_MADE_UP = re.compile(
    r"(?m)^[ \t*#]*(?:Action(?: Input)?|行动(?:输入)?)[*]*\s*[:：].*\n(?:.*\n){0,12}?[ \t*#]*"
    r"(?:Observation|观察(?:结果)?)[*]*\s*[:：][ \t]*\S|"
    r"</tool_call>\s*<tool_response>|</function_calls>\s*<function_results>"
)
_FENCE = re.compile(r"(?s)```.*?(?:```|\Z)")
_FURTHEST = 400
"""Messages before an answer that are searched for its numbers."""
_LONGEST = 200_000
"""Characters of a reply that are searched."""


def check(material: Material) -> Iterator[Finding]:
    """Look at every reply and every answer."""
    yield from _replies(material)
    for answer in material.answers if material.words_kept else ():
        yield from _empty(material, answer)
        if answer.text and answer.calls:
            yield from _against_results(material, answer)


def _replies(material: Material) -> Iterator[Finding]:
    trace = material.trace
    for step in trace.steps:
        at = step.reply
        if was_cut(step.finish_reason):
            facts = {"step": step.index}
            lost = step.usage.completion_tokens if step.usage else None
            places = () if at is None else (at,)
            yield Finding(
                rule=CUT_OFF, facts=facts, message=at, step=step.index, evidence=places, cost_tokens=lost or None
            )
        text = "" if at is None else trace.messages[at].text[:_LONGEST]
        if at is not None and (_makes_up(text) or _several_actions(text)):
            says = 0 if _makes_up(text) else 1
            yield Finding(rule=SEVERAL, says=says, facts={"n": at + 1}, message=at, step=step.index, evidence=(at,))


def _makes_up(text: str) -> bool:
    marks = ("Observation", "观察", "<tool_response>", "<function_results>")
    return any(mark in text for mark in marks) and _MADE_UP.search(_FENCE.sub("", text)) is not None


def _several_actions(text: str) -> bool:
    """JSON actions one after another, of which a program can take only the first."""
    rest = text.lstrip()
    if not rest.startswith("{") or rest.count('"action"') < 2:
        return False
    actions = 0
    decoder = json.JSONDecoder()
    while rest.startswith("{") and actions < 2:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            return False
        actions += isinstance(value.get("action"), str)
        rest = rest[end:].lstrip()
    return actions >= 2


def _empty(material: Material, answer: Answer) -> Iterator[Finding]:
    at, step = answer.message, answer.step
    message, entry = material.trace.messages[at], material.trace.entries[at]
    if answer.text or entry.maker != "model" or not _says_nothing(message):
        return
    if any(message.extra.get(key) for key in _TELLING) or (step and (step.tools or _not_whole(step.finish_reason))):
        return
    thought = message.reasoning or message.extra.get("reasoning_details")
    if thought and not material.as_sent and not (step and step.finish_reason):
        return  # a thought alone, maybe encrypted: a part of a reply, or the session was interrupted after it
    lost = step.usage.total if step and step.usage else None
    yield Finding(
        rule=EMPTY, facts={"n": at + 1}, message=at, step=step.index if step else None, evidence=(at,),
        cost_tokens=lost, cost_calls=1,
    )  # fmt: skip


def _says_nothing(message: Message) -> bool:
    """Nothing at all, or a thought alone. What a lone end tag makes a thought may well be the answer."""
    text = message.text.strip()
    return text.startswith("<think") if text else not (isinstance(message.content, list) and message.content)


def _not_whole(finish_reason: str | None) -> bool:
    return was_cut(finish_reason) or (finish_reason or "").lower() in ("content_filter", "safety", "refusal")


def _against_results(material: Material, answer: Answer) -> Iterator[Finding]:
    """Compare an answer with the results of the step just before it."""
    last_step = answer.calls[-1].step
    block = [call for call in answer.calls if call.step is last_step]
    if any(call.outcome is None for call in block):
        return
    if all(call.failed for call in block):
        tools = {call.run.name for call in block}
        if not any(call.run.name in tools and not call.failed for call in answer.calls) and not _TELLS_FAILURE.search(
            answer.text
        ):
            yield _finding(SWALLOWED, material, answer, block, {"tool": block[-1].name})
        return
    found = [call for call in block if not call.failed and call.text.strip()]
    if found and len(answer.text) < 1000 and _CANNOT_KNOW.search(answer.text):
        yield _finding(IGNORED, material, answer, found, {"tool": found[0].name}, says=1)
    elif len(block) == 1 and _says_another_number(material, answer, block[0]):
        facts: dict[str, object] = {"tool": block[0].name, "result": short(block[0].text)}
        yield _finding(IGNORED, material, answer, block, facts)


def _says_another_number(material: Material, answer: Answer, call: Call) -> bool:
    """The whole result is one number, and the answer has only numbers that stand nowhere before it."""
    if (
        len(call.text) > _LONGEST_SCALAR
        or (scalar := _SCALAR.fullmatch(call.text) or _ALONE.fullmatch(call.text)) is None
    ):
        return False
    result = _value(scalar[1])
    said = [_value(number) for number in _NUMBER.findall(_FENCE.sub("", answer.text))]
    if not said or len(said) > 12 or any(_equal(result, number) for number in said):
        return False
    earlier = _numbers_before(material, answer)
    return not any(number in earlier for number in said)


def _numbers_before(material: Material, answer: Answer) -> set[float]:
    """Numbers that the turn had before its answer: of the user, of arguments, of results."""
    start = answer.message
    while start and answer.message - start < _FURTHEST and material.trace.messages[start].role != "user":
        start -= 1
    texts = [message.text[:_LONGEST] for message in material.trace.messages[start : answer.message]]
    texts += [call.arguments_text() for m in material.trace.messages[start : answer.message] for call in m.tool_calls]
    return {_value(number) for text in texts for number in _NUMBER.findall(text)}


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _equal(result: float, said: float) -> bool:
    """Whether the answer may mean this number: rounded, as a percentage, without its sign."""
    for number in (said, said / 100, said * 100, -said):
        if number == result or abs(number - result) <= max(0.51, abs(result) * 0.02):
            return True
    return result != 0 and any(abs(said * unit - result) <= abs(result) * 0.02 for unit in (1e3, 1e6, 1e9, 1e-3, 1e-6))


def _finding(
    rule: Rule, material: Material, answer: Answer, calls: Sequence[Call], facts: dict[str, object], says: int = 0
) -> Finding:
    places = [call.run.message for call in calls if call.run.message is not None]
    cost = material.cost_of(places) if rule is IGNORED else Cost(None, False)
    return Finding(
        rule=rule,
        says=says,
        facts={**facts, "n": answer.message + 1},
        message=answer.message,
        step=answer.step.index if answer.step else None,
        call_id=calls[-1].run.tool_call_id,
        evidence=(*places, answer.message),
        cost_tokens=cost.tokens,
        cost_estimated=cost.estimated,
        cost_calls=len(calls) if rule is IGNORED else None,
    )
