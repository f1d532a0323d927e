"""What the rules look at: the calls of a trace in order, with their results, and what messages cost. Made once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from agent import jsontext
from agent.messages import Message, ToolCall
from agent.models.replies import visible_text
from agent.redact import redact_text
from agent.trace import ToolRun, Trace, TraceStep
from traces.carry import Carried, carried
from traces.lookup import steps_by_reply
from traces.repair import TOOL_ROLES
from traces.sizes import Size, message_sizes

SHOWN = 80
"""Characters of a name or a text of the trace that a finding repeats."""
_LONGEST_SECRET = 4000
"""Characters behind what is repeated that show whether a secret begins in it."""
_HEAD = 400
"""Characters of a result in which it says that it is an error."""
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds)\b|"
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]{6,16}\b|\breq_\w+"
)
"""What differs between two tellings of the same error: when, how long it took, the id of the request, an address."""
_LONGEST_ERROR = 20_000
_FAILED = re.compile(
    r"""(?ix)\s*(?:<tool_use_error>|
    [\[(<"']{0,2}(?:fatal\s|tool\s|unexpected\s)?(?:error|exception|failure)[\])>"']{0,2}\s*[:：]|
    error\s(?:at|calling|executing|running|invoking|while|in|from|reading|writing|opening)\b|
    [\w.]{0,60}(?:Error|Exception):\s|
    traceback\s\(most\srecent\scall\slast\)|
    (?:unknown|unsupported|invalid|no\ssuch)\s(?:tool|function)\b|
    (?:tool|function)\s[^\n]{1,60}\s(?:not\sfound|does\snot\sexist|is\snot\savailable)|
    \[errno\s-?\d+\]|
    \{\s*"(?:status"\s*:\s*"(?:error|failed|failure)"|(?:success|ok)"\s*:\s*false\b|is_?error"\s*:\s*true\b)|
    (?:错误|失败|异常)\s*[:：])"""
)

_LISTS = ("openai-chat", "anthropic-messages", "bedrock-converse", "gemini-contents", "ollama")
"""Formats that keep a message list as it is sent. In the others, messages stand in the order of their happening."""


@dataclass(slots=True)
class Call:
    """One tool call and what came of it."""

    step: TraceStep
    run: ToolRun
    asked: ToolCall | None
    """The call in the model's own words; None where the file keeps no message of it."""
    text: str
    """The words of the result; empty where there is none."""
    key: int
    """Fingerprint of the tool and its arguments."""
    outcome: int | None
    """Fingerprint of the result, of an error without its time; None: there is none."""
    failed: bool
    """The result says that it is an error."""

    @property
    def name(self) -> str:
        """The tool's name, cut short."""
        return short(self.run.name)

    @property
    def message(self) -> int | None:
        """Position of the message to look at: the one that asks, else the result."""
        return next(iter(self.places), None)

    @property
    def places(self) -> list[int]:
        """Positions of its messages: the one that asks and the result."""
        return [at for at in (self.step.reply, self.run.message) if at is not None]


@dataclass(frozen=True, slots=True)
class Answer:
    """An assistant message that asks for nothing and ends a turn."""

    message: int
    step: TraceStep | None
    text: str
    """What the user sees of it."""
    calls: Sequence[Call]
    """The calls since the last message of a user, or the answer before, in order."""


class Cost(NamedTuple):
    """Tokens that were spent; None: unknown, or none."""

    tokens: int | None
    estimated: bool
    """True where the number is our own count, not the provider's."""


class Material:
    """A trace, prepared for the rules. Everything is worked out at its first use and linear in the trace's length."""

    def __init__(self, trace: Trace, sizes: Sequence[Size] | None = None) -> None:
        self.trace = trace
        self._given = sizes

    @cached_property
    def calls(self) -> list[Call]:
        """All tool calls in order."""
        return [call for step in self.trace.steps for call in self._calls_of(step)]

    @cached_property
    def by_reply(self) -> dict[int, TraceStep]:
        """The step of each assistant message."""
        return steps_by_reply(self.trace.steps)

    @cached_property
    def carried(self) -> list[Carried]:
        """What each message cost as part of prompts."""
        return carried(self.trace, self._sizes)

    @cached_property
    def _sizes(self) -> Sequence[Size]:
        return message_sizes(self.trace) if self._given is None else self._given

    @cached_property
    def tokens_until(self) -> list[int]:
        """How many tokens stand before each position of the message list; the last one is the whole list."""
        return [0, *accumulate(size.tokens for size in self._sizes)]

    @cached_property
    def offered(self) -> dict[str, dict[str, object]]:
        """The tools on offer by name; empty where the file does not list them."""
        functions = (schema.get("function", schema) for schema in self.trace.tools if isinstance(schema, dict))
        return {str(f["name"]): f for f in functions if isinstance(f, dict) and f.get("name")}

    @cached_property
    def as_sent(self) -> bool:
        """Whether the messages stand as they were sent, and not as the log of a session that may have been cut off."""
        return self.trace.source.kind != "import" or self.trace.source.format in _LISTS

    @cached_property
    def words_kept(self) -> bool:
        """Whether the file holds what was said. Telemetry often keeps names, times and tokens alone."""
        others = [message for message in self.trace.messages if message.role != "assistant"]
        return not others or any(message.content for message in others)

    @cached_property
    def names(self) -> set[str]:
        """Every tool that is known: on offer, or called."""
        return {*self.offered, *(call.run.name for call in self.calls)} - {""}

    @cached_property
    def answers(self) -> list[Answer]:
        """The answers of the trace in order."""
        messages, found = self.trace.messages, []
        start = upto = 0
        for at, message in enumerate(messages):
            while upto < len(self.calls) and (self.calls[upto].step.reply or 0) < at:
                upto += 1
            if message.role == "user":
                start = upto
            elif message.role == "assistant" and not message.tool_calls and self._ends_turn(at):
                text = visible_text(message)
                step = self.by_reply.get(at)
                found.append(Answer(at, step, text, self.calls[start:upto]))
                start = upto
        return found

    def cost_of(self, positions: Iterable[int]) -> Cost:
        """Prompt tokens that these messages took in all requests; None where no request held them."""
        costs = [self.carried[at] for at in set(positions)]
        total = sum(cost.cost for cost in costs)
        return Cost(total or None, bool(total) and not all(cost.measured for cost in costs))

    def wasted(self, calls: Iterable[Call]) -> Cost:
        """Tokens of the model calls that asked for nothing but these tool calls; without usage, about their prompts."""
        calls = list(calls)
        in_vain = {id(call.run) for call in calls}
        steps = {id(call.step): call.step for call in calls}.values()
        steps_in_vain = [step for step in steps if all(id(run) in in_vain for run in step.tools)]
        totals = [step.usage.total for step in steps_in_vain if step.usage]
        known = [total for total in totals if total is not None]
        if known:
            return Cost(sum(known), len(known) < len(steps_in_vain))
        about = sum(self.tokens_until[step.reply + 1] for step in steps_in_vain if step.reply is not None)
        return Cost(about or None, bool(about))

    def _calls_of(self, step: TraceStep) -> list[Call]:
        messages = self.trace.messages
        asked = messages[step.reply].tool_calls if step.reply is not None else ()
        calls = []
        for place, run in enumerate(step.tools):
            own = asked[place] if place < len(asked) else None
            result = messages[run.message] if run.message is not None else None
            text = "" if result is None else result.text
            failed = run.ok is False or (run.ok is None and _FAILED.match(text[:_HEAD]) is not None)
            same = _MOMENT.sub("…", text) if failed and len(text) <= _LONGEST_ERROR else text
            outcome = None if result is None else hash(same if isinstance(result.content, str) else _canonical(result))
            calls.append(Call(step, run, own, text, _key(run, own), outcome, failed))
        return calls

    def _ends_turn(self, at: int) -> bool:
        """What the environment says next, in whatever role, shows that something was asked for in another form."""
        messages, entries = self.trace.messages, self.trace.entries
        if at + 1 == len(messages):
            return True
        return messages[at + 1].role not in ("assistant", *TOOL_ROLES) and entries[at + 1].maker != "environment"


def short(text: str, length: int = SHOWN) -> str:
    """Words of a trace as one line that a finding may repeat: a log of checks is no place for a secret."""
    line = " ".join(redact_text(text[: 4 * length + _LONGEST_SECRET])[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else line[: length - 1] + "…"


def _key(run: ToolRun, asked: ToolCall | None) -> int:
    if asked is not None and asked.problem is not None:
        return hash((run.name, asked.text))
    return hash((run.name, _canonical(run.arguments)))


def _canonical(value: object) -> str:
    try:
        return jsontext.canonical(value.content if isinstance(value, Message) else value)
    except (TypeError, ValueError, RecursionError):
        return repr(id(value))
