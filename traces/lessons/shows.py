"""What a lesson claims to show, checked: its script is played, and every claim is held against the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from agent import jsontext
from agent.approval import Decision
from agent.asked import body_of
from agent.events import STATE_OF, AgentEvent, AgentState, Phase
from agent.loop import Loop
from agent.moments import Moment, moments
from agent.trace import ToolRun, Trace, TraceStep
from traces.lessons.lesson import Hand, Lesson, Shown
from traces.lessons.questions import asks_of, notices_at, notices_of, stands_at, truth
from traces.lessons.scripts import in_language, lesson_script
from traces.times import timestamp


@dataclass(frozen=True, slots=True)
class Played:
    """A run of a lesson, up to where the lesson is over."""

    loop: Loop
    trace: Trace
    events: list[AgentEvent]
    """All of them, streamed deltas included."""
    moments: list[Moment]
    """Every place where it stood, the last one included."""


def play_lesson(lesson: Lesson, variant: str, language: str, **options: Any) -> Played:
    """Play a lesson by itself: what a person is to decide is decided as :attr:`Lesson.hand` says.

    Nothing waits, unless a claim of the lesson is about time: which of two tools was first.

    Args:
        lesson: the lesson.
        variant: the name of one of its variants; any other means the first.
        language: ``en`` or ``zh``.
        options: of the loop, in place of what the script says.

    Raises:
        InputError: its script is wrong.
    """
    script = lesson_script(lesson, variant, language)
    timed = any("first_finished" in shown.that for shown in lesson.shows)
    loop, events = script.loop(pace=1 if timed else 0, **options), list[AgentEvent]()
    loop.start(script.opening)
    while (loop.phase is not None or loop.more) and not _is_over(lesson, loop):
        _decide(loop, lesson.hand)
        events += loop.advance()
    return Played(loop, loop.trace, events, moments(loop.trace, loop.phase))


def play_variants(lesson: Lesson, language: str) -> dict[str, Played]:
    """Play all variants of a lesson: by the name of the variant.

    Raises:
        InputError: a script is wrong.
    """
    return {variant.name: play_lesson(lesson, variant.name, language) for variant in lesson.variants}


def check_shown(shown: Shown, lesson: Lesson, language: str, variant: str, runs: Mapping[str, Played]) -> str | None:
    """Hold one claim against the runs: what is not as it says, in a sentence; None where all of it holds.

    Args:
        shown: the claim.
        lesson: that it belongs to.
        language: in which the runs speak.
        variant: the name of the variant that it is about.
        runs: of all variants, as :func:`play_variants` gives them.
    """
    played = runs[variant]
    for name, expected in in_language(shown.that, language).items():
        if (wrong := CHECKS[name](played, expected, runs)) is not None:
            return f"{lesson.name}, variant {variant}, {language}: {name} {wrong}"
    return None


def check_lesson(lesson: Lesson, language: str) -> list[str]:
    """What of a lesson is not so when it is played in a language, one sentence each.

    That is a claim that does not hold, a question that the run never answers, and a notice whose place it never comes
    to.

    Raises:
        InputError: a script is wrong.
    """
    runs = play_variants(lesson, language)
    told = [
        check_shown(shown, lesson, language, shown.variant or lesson.variants[0].name, runs) for shown in lesson.shows
    ]
    for variant in lesson.variants:
        played = runs[variant.name]
        where = f"{lesson.name}, variant {variant.name}, {language}"
        told += [
            f"{where}: the question {ask.id} is never answered: the run does not go on from there"
            for ask in asks_of(lesson, variant)
            if truth(ask, played.trace, played.loop.phase) is None
        ]
        seen = {id(notice) for moment in played.moments for notice in notices_at(lesson, variant, moment)}
        told += [
            f"{where}: the run never comes to the notice at {notice.at.id}"
            for notice in notices_of(lesson, variant)
            if id(notice) not in seen
        ]
    return [sentence for sentence in told if sentence is not None]


# ---- playing ----


def _is_over(lesson: Lesson, loop: Loop) -> bool:
    return lesson.until is not None and stands_at(lesson.until, moments(loop.trace, loop.phase)[-1])


def _decide(loop: Loop, hand: Hand) -> None:
    if not loop.waiting:
        return
    for position, pending in enumerate(loop.run.pending):
        if pending.decision is None:
            loop.decide(position, _decision(hand))


def _decision(hand: Hand) -> Decision:
    if hand.action == "mock":
        return Decision.mock(hand.result)
    return Decision.run() if hand.action == "run" else Decision.reject(hand.result, stop=hand.stop)


# ---- what a run shows ----

_Check = Callable[[Played, Any, Mapping[str, Played]], str | None]


def _equal(read: Callable[[Played], Any]) -> _Check:
    def check(played: Played, expected: Any, runs: Mapping[str, Played]) -> str | None:
        found = read(played)
        return None if found == expected else f"should be {expected!r}, found {found!r}"

    return check


def _holds(read: Callable[[Played], str], wanted: bool = True) -> _Check:
    def check(played: Played, expected: Any, runs: Mapping[str, Played]) -> str | None:
        found = read(played)
        said = "should hold" if wanted else "should be without"
        return None if (expected in found) is wanted else f"{said} {expected!r}, found {found!r}"

    return check


def _more(read: Callable[[Played], int]) -> _Check:
    def check(played: Played, other: Any, runs: Mapping[str, Played]) -> str | None:
        own, others = read(played), read(runs[other])
        return None if own > others else f"{other!r}: should be more than {others}, found {own}"

    return check


def _same_messages(played: Played, other: Any, runs: Mapping[str, Played]) -> str | None:
    own, others = ([each.to_dict() for each in run.trace.messages] for run in (played, runs[other]))
    return None if own == others else f"{other!r}: the message lists differ"


def _results(played: Played, expected: Any, runs: Mapping[str, Played]) -> str | None:
    found = [message.text for message in played.trace.messages if message.role == "tool"]
    as_said = len(found) == len(expected) and all(part in text for part, text in zip(expected, found, strict=True))
    return None if as_said else f"should hold {expected!r}, each in its place, found {found!r}"


def _flagged(played: Played, expected: Any, runs: Mapping[str, Played]) -> str | None:
    found = _findings(played)
    return None if set(expected) <= found else f"should be among the findings: {expected!r}, found {sorted(found)!r}"


def _not_flagged(played: Played, expected: Any, runs: Mapping[str, Played]) -> str | None:
    found = _findings(played).intersection(expected)
    return f"should find nothing, found {sorted(found)!r}" if found else None


def _findings(played: Played) -> set[str]:
    from traces.lint import lint  # with pandas, which reading the course has no need of

    return {finding.rule.name for finding in lint(played.trace)}


def _at_least(played: Played, expected: Any, runs: Mapping[str, Played]) -> str | None:
    found = _tokens(played)
    return None if found >= expected else f"should be at least {expected}, found {found}"


def _tokens(played: Played) -> int:
    return played.trace.usage.total or 0


def _steps(played: Played) -> int:
    return len(played.trace.steps)


def _reason(played: Played) -> str:
    return str(played.loop.stop_reason or "none")


def _decided(kind: str) -> Callable[[Played], int]:
    return lambda played: sum(run.decision == kind for step in played.trace.steps for run in step.tools)


def _errors(played: Played) -> int:
    return sum(run.ok is False for step in played.trace.steps for run in step.tools)


def _events(played: Played) -> list[str]:
    return [event.type for event in played.events if event.type != "model.delta"]


def _states(played: Played) -> list[str]:
    """In the words of the run itself: before the phase decide a reply without calls is still THINK."""
    phases = [moment.phase for moment in played.moments]
    asked_nothing = [before is Phase.CALL and now is Phase.DECIDE for before, now in pairwise([None, *phases])]
    states = (
        AgentState.THINK if nothing else STATE_OF[now] for now, nothing in zip(phases, asked_nothing, strict=True)
    )
    return [str(state) for state, _ in groupby(states)]


def _first_finished(played: Played) -> str:
    runs = [run for step in played.trace.steps for run in step.tools if run.latency_ms is not None]
    return min(runs, key=_finished).name if runs else ""


def _finished(run: ToolRun) -> float:
    """Unix seconds."""
    return (timestamp(run.started) or 0.0) + (run.latency_ms or 0.0) / 1000


def _notes(played: Played) -> str:
    return "\n".join(str(note.get("text")) for note in played.trace.notes)


def _sent(played: Played) -> list[Mapping[str, Any]]:
    """The messages of the last request as the model got them, of one that is only about to be sent too."""
    trace, run = played.trace, played.loop.run
    if played.loop.phase is Phase.CALL:
        step = TraceStep(index=len(trace.steps) + 1, request=run.request)
    elif trace.steps:
        step = trace.steps[-1]
    else:
        return []
    body = body_of(trace, step) or {}
    sent: list[Mapping[str, Any]] = body.get("messages", [])
    return sent


def _sent_words(played: Played) -> str:
    contents = (message.get("content") for message in _sent(played))
    return "\n".join(each if isinstance(each, str) else jsontext.dumps(each) for each in contents if each is not None)


CHECKS: dict[str, _Check] = {
    "reason": _equal(_reason),
    "steps": _equal(_steps),
    "messages": _equal(lambda played: len(played.trace.messages)),
    "roles": _equal(lambda played: [message.role for message in played.trace.messages]),
    "makers": _equal(lambda played: [str(entry.maker) for entry in played.trace.entries]),
    "calls": _equal(lambda played: [run.name for step in played.trace.steps for run in step.tools]),
    "results": _results,
    "final": _equal(lambda played: played.trace.outcome.final),
    "final_contains": _holds(lambda played: played.trace.outcome.final),
    "sent_roles": _equal(lambda played: [message.get("role") for message in _sent(played)]),
    "request_contains": _holds(_sent_words),
    "request_lacks": _holds(_sent_words, wanted=False),
    "errors": _equal(_errors),
    "denied": _equal(_decided("denied")),
    "mocked": _equal(_decided("mocked")),
    "verified": _equal(lambda played: played.trace.outcome.verified),
    "flagged": _flagged,
    "not_flagged": _not_flagged,
    "events": _equal(_events),
    "states": _equal(_states),
    "phase": _equal(lambda played: str(played.loop.phase or "end")),
    "first_finished": _equal(_first_finished),
    "tokens": _equal(_tokens),
    "tokens_from": _at_least,
    "more_tokens_than": _more(_tokens),
    "more_steps_than": _more(_steps),
    "same_messages_as": _same_messages,
    "noted": _holds(_notes),
}
"""What a claim may say, by name: ``ThatFields`` has the same names, and ``FORMAT.md`` tells them."""
