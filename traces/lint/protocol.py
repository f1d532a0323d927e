"""Rules of the protocol: calls and results that do not fit together, so that a provider refuses the list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from agent.protocol import violations
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Call, Material, short
from traces.repair import TOOL_ROLES

ORPHAN = Rule(
    "orphan_result",
    Severity.ERROR,
    "Result without a call",
    ("Message {n} is a tool result for {call}, and no open call has this id.",),
    "A provider refuses a history in which a result answers nothing, and goes on refusing it.",
    "Remove the result, or put back the assistant message that asked for it.",
)
UNANSWERED = Rule(
    "unanswered_call",
    Severity.ERROR,
    "Call without a result",
    ("The call {call} of {tool} in message {n} has no result, and the conversation goes on.",),
    "A provider refuses a history with an open call, and the model cannot know what came of it.",
    'Answer every call, with an error such as "interrupted" where it was not run.',
)
EARLY = Rule(
    "result_not_after_call",
    Severity.ERROR,
    "Result not after its call",
    (
        "Message {n} is the result of {call}, but the call only comes in message {asked}.",
        "Message {n} is the result of {call}, but other messages stand between it and its call in message {asked}.",
    ),
    "Results must follow the assistant message that asked for them directly; a provider refuses any other order.",
    "Write the results of all calls right after the assistant message, before anything else.",
)
DUPLICATE = Rule(
    "duplicate_id",
    Severity.ERROR,
    "One id for several calls",
    ("Message {n} asks for {count} calls with the same id {call}.",),
    "Results are paired with calls by their ids, so no result can be told from another.",
    "Give every call of a message an id of its own before it is stored.",
)
NOT_JSON = Rule(
    "arguments_not_json",
    Severity.ERROR,
    "Arguments are not JSON",
    ("The arguments of {tool} in message {n} are not a JSON object.",),
    "The tool cannot run with them, and some providers refuse a history that holds them.",
    "Answer the call with an error that says what is wrong, and keep valid JSON in the history.",
)
RULES = (ORPHAN, UNANSWERED, EARLY, DUPLICATE, NOT_JSON)


_CUT_BY_FILE = re.compile(r"(?i)(?:…|\.{3}|\[|<)[^\"\n]{0,20}(?:trimmed|truncated|omitted|shortened)[^\"\n]{0,40}\s*\Z")
"""Who kept the file cut the arguments short and says so; the model's own were longer."""


def check(material: Material) -> Iterator[Finding]:
    """Orphans, open calls, wrong order, ids that repeat, arguments that are no JSON."""
    pairs = _Pairs(material)
    yield from pairs.orphans()
    yield from pairs.unanswered()
    yield from pairs.late()
    yield from _within_messages(material)


class _Pairs:
    def __init__(self, material: Material) -> None:
        self._material = material
        self._messages = material.trace.messages
        self._as_sent = material.as_sent
        self._answered = {call.run.message: call for call in material.calls if call.run.message is not None}

    @cached_property
    def _open(self) -> dict[str, Call]:
        """Calls without a result, the first of each id."""
        found: dict[str, Call] = {}
        for call in self._material.calls:
            if call.run.message is None and call.asked is not None:
                found.setdefault(call.run.tool_call_id, call)
        return found

    @cached_property
    def _early(self) -> dict[int, Call]:
        """Results that stand before the call whose id they have."""
        found = {}
        for at in self._loose:
            call = self._open.get(self._messages[at].tool_call_id or "")
            if call is not None and call.step.reply is not None and call.step.reply > at:
                found[at] = call
        return found

    @cached_property
    def _loose(self) -> list[int]:
        loose = [at for at, m in enumerate(self._messages) if m.role in TOOL_ROLES and at not in self._answered]
        if self._as_sent:
            return loose
        return [at for at in loose if at >= self._first_asked and not self._of_the_program(at)]

    @cached_property
    def _first_asked(self) -> int:
        """Where a model first says something. Of a log that begins in the middle, earlier results answer lost calls."""
        return next((at for at, m in enumerate(self._messages) if m.role == "assistant"), len(self._messages))

    def _of_the_program(self, at: int) -> bool:
        """In a log, what follows a message of the program is what the program itself did, and answers no call."""
        return at > 1 and self._messages[at - 1].role in ("system", "developer")

    def orphans(self) -> Iterator[Finding]:
        for at in self._loose:
            call_id = self._messages[at].tool_call_id or ""
            step = self._material.trace.entries[at].step
            facts: dict[str, object] = {"n": at + 1, "call": short(call_id) or "?"}
            call = self._early.get(at)
            if call is None or call.step.reply is None:
                yield Finding(rule=ORPHAN, facts=facts, message=at, step=step, call_id=call_id or None, evidence=(at,))
            else:
                asked = call.step.reply
                facts["asked"] = asked + 1
                yield Finding(
                    rule=EARLY, facts=facts, message=at, step=call.step.index, call_id=call_id, evidence=(at, asked)
                )

    def unanswered(self) -> Iterator[Finding]:
        """A call that nothing follows was cut off by the end of the session, which is no fault.

        Where a file keeps no result at all, that is its form; only a list as it was sent must hold them.
        """
        if not self._answered and not self._as_sent:
            return
        early = {id(call.run) for call in self._early.values()}
        end = self._end()
        for call in self._material.calls:
            at = call.step.reply
            if at is None or at >= end or call.run.message is not None or call.asked is None or id(call.run) in early:
                continue
            if not self._as_sent and self._messages[at + 1].role == "user":  # it ended the turn, or a person did
                continue
            call_id = call.run.tool_call_id
            facts = {"call": short(call_id), "tool": call.name, "n": at + 1}
            yield Finding(
                rule=UNANSWERED, facts=facts, message=at, step=call.step.index, call_id=call_id, evidence=(at,)
            )

    def _end(self) -> int:
        """Where the last words of the model begin. In a session, a person may have said something after them."""
        end = len(self._messages)
        while not self._as_sent and end and self._messages[end - 1].role not in ("assistant", *TOOL_ROLES):
            end -= 1
        while end and self._messages[end - 1].role == "assistant":
            end -= 1
        return end

    def late(self) -> Iterator[Finding]:
        """By the check that every request of ours passes: a result outside its block is an orphan to it."""
        for violation in violations(self._messages) if self._as_sent else ():
            call = self._answered.get(violation.position)
            if violation.kind != "orphan" or call is None or call.step.reply is None:
                continue
            at, asked = violation.position, call.step.reply
            facts = {"n": at + 1, "call": short(call.run.tool_call_id), "asked": asked + 1}
            yield Finding(
                rule=EARLY, says=1, facts=facts, message=at, step=call.step.index, call_id=call.run.tool_call_id,
                evidence=(asked, at),
            )  # fmt: skip


def _within_messages(material: Material) -> Iterator[Finding]:
    for at, message in enumerate(material.trace.messages):
        if not message.tool_calls:
            continue
        step = material.trace.entries[at].step
        for call_id, count in Counter(call.id for call in message.tool_calls if call.id).items():
            if count > 1:
                facts: dict[str, object] = {"n": at + 1, "count": count, "call": short(call_id)}
                yield Finding(rule=DUPLICATE, facts=facts, message=at, step=step, call_id=call_id, evidence=(at,))
        for call in message.tool_calls:
            if (
                call.problem is not None
                and "custom" not in call.extra
                and not _CUT_BY_FILE.search((call.text or "")[-200:])
            ):
                facts = {"n": at + 1, "tool": short(call.name)}
                yield Finding(rule=NOT_JSON, facts=facts, message=at, step=step, call_id=call.id, evidence=(at,))
