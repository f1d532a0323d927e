"""Rules about work that is done again for nothing: loops, cycles, the same error once more.

A loop is the same tool with the same arguments *and the same result*. Polling whose result changes, the pages of a
list, a retry that succeeds and actions that repeat by their nature are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Call, Material, short

LOOP = Rule(
    "exact_loop",
    Severity.WARNING,
    "The same call again and again",
    ("{tool} was called {count} times in a row with the same arguments and gave the same result each time.",),
    "A call that can bring nothing new costs a whole request each time, and often goes on until a limit ends it.",
    "Stop after the third equal call with an equal result, or tell the model that it has this result already.",
)
CYCLE = Rule(
    "abab_loop",
    Severity.WARNING,
    "A cycle of calls",
    ("The calls of {tools} came {count} times in the same order with the same results.",),
    "The model goes round in a circle; no single call is repeated at once, so a simple guard does not see it.",
    "Compare the last rounds of calls and results, not only the last call, and tell the model what it already knows.",
)
RETRIED = Rule(
    "same_error_retried",
    Severity.WARNING,
    "The same error again",
    (
        "{tool} failed {count} times in a row with the same arguments and the same error: {error}",
        "{tool} failed {count} times in a row with the same error, whatever the arguments: {error}",
    ),
    "An error that does not depend on chance comes back, and every try costs a whole request.",
    "Say in the error what would work and whether a retry can help; stop after the second equal failure.",
)
RULES = (LOOP, CYCLE, RETRIED)

_LONGEST_CYCLE = 4
_FEWEST_EQUAL, _FEWEST_ROUNDS, _FEWEST_GUESSES, _FEWEST_TRANSIENT = 3, 2, 3, 4
_ACTS = re.compile(
    r"(?i)(?:^|[^a-z])(?:scroll|press|key|click|tap|next|prev|back|forward|wait|sleep|poll|step|move|turn|type|"
    r"advance|undo|redo|roll|random)(?:$|[^a-z])"
)
"""Words of tool names that do something more at every call, though they say the same about it."""
_TRANSIENT = re.compile(
    r"(?i)time(?:d)?[ -]?out|rate.?limit|too many requests|temporar|connection|overload|try again|busy|unavailable|"
    r"\b(?:429|502|503|504)\b|超时|繁忙|稍后"
)


def check(material: Material) -> Iterator[Finding]:
    """Look at the calls between two messages of the user: what a person asks for twice is no loop."""
    if not material.words_kept:  # all calls look alike
        return
    for calls in _stretches(material):
        yield from _equal(material, calls)
        yield from _errors(material, calls)
        for period in range(2, _LONGEST_CYCLE + 1):
            yield from _cycles(material, calls, period)


def _stretches(material: Material) -> Iterator[list[Call]]:
    users = [at for at, message in enumerate(material.trace.messages) if message.role == "user"]
    boundary, stretch = 0, list[Call]()
    for call in material.calls:
        at = call.step.reply
        crossed = False
        while at is not None and boundary < len(users) and users[boundary] < at:
            boundary, crossed = boundary + 1, True
        if (crossed or call.outcome is None) and stretch:
            yield stretch
            stretch = []
        if call.outcome is not None:
            stretch.append(call)
    if stretch:
        yield stretch


def _runs(calls: Sequence[Call], period: int, tells: str) -> Iterator[tuple[int, int]]:
    """Stretches ``[start, end)`` in which every call equals the one ``period`` before it."""
    start = 0
    for at in range(period, len(calls) + 1):
        if at < len(calls) and _sign(calls[at], tells) == _sign(calls[at - period], tells):
            continue
        if at - start > period:
            yield start, at
        start = at - period + 1


def _sign(call: Call, tells: str) -> tuple[object, ...]:
    return (call.run.name, call.outcome) if tells == "error" else (call.key, call.outcome)


def _equal(material: Material, calls: Sequence[Call]) -> Iterator[Finding]:
    for start, end in _runs(calls, 1, "call"):
        first, count = calls[start], end - start
        polling = end < len(calls) and calls[end].key == first.key
        if count < _FEWEST_EQUAL or first.failed or polling or _ACTS.search(first.run.name):
            continue
        yield _finding(LOOP, material, calls[start:end], calls[start + 1 : end], {"tool": first.name, "count": count})


def _errors(material: Material, calls: Sequence[Call]) -> Iterator[Finding]:
    for start, end in _runs(calls, 1, "error"):
        failed = calls[start:end]
        first, count = failed[0], end - start
        if not first.failed:
            continue
        same = all(call.key == first.key for call in failed)
        fewest = 2 if same else _FEWEST_GUESSES
        if _TRANSIENT.search(first.text):
            fewest = _FEWEST_TRANSIENT
        keys = {call.key for call in failed}
        mended = any(call.key in keys and not call.failed for call in calls[end : end + 1])
        if count < fewest or mended:
            continue
        facts = {"tool": first.name, "count": count, "error": short(first.text)}
        yield _finding(RETRIED, material, failed, failed[1:], facts, says=0 if same else 1)


def _cycles(material: Material, calls: Sequence[Call], period: int) -> Iterator[Finding]:
    for start, end in _runs(calls, period, "call"):
        rounds = (end - start) // period
        cycle = calls[start : start + period]
        signs = [_sign(call, "call") for call in cycle]
        one_call = len({call.key for call in cycle}) == 1  # results that change: polling
        smaller = one_call or any(signs[at:] + signs[:at] == signs for at in range(1, period))
        if rounds < _FEWEST_ROUNDS or smaller or any(_ACTS.search(call.run.name) for call in cycle):
            continue
        if len({call.step.index for call in calls[start:end]}) < rounds:  # equal calls in one reply are told as such
            continue
        tools = short(", ".join(dict.fromkeys(call.name for call in cycle)))
        whole = calls[start : start + rounds * period]
        yield _finding(CYCLE, material, whole, whole[period:], {"tools": tools, "count": rounds})


def _finding(
    rule: Rule,
    material: Material,
    calls: Sequence[Call],
    wasted: Sequence[Call],
    facts: dict[str, object],
    says: int = 0,
) -> Finding:
    first = calls[0]
    places = sorted({at for call in calls for at in call.places})
    cost = material.wasted(wasted)
    return Finding(
        rule=rule,
        says=says,
        facts=facts,
        message=first.message,
        step=first.step.index,
        call_id=first.run.tool_call_id,
        evidence=tuple(places),
        cost_tokens=cost.tokens,
        cost_estimated=cost.estimated,
        cost_calls=len(wasted),
    )
