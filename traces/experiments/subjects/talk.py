"""What was said in a trace, in the order in which a stand-in says it again: words of the user, calls, an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.messages import Message
from agent.models.made_calls import ModelCall
from agent.trace import Trace
from traces.experiments.subjects.rerun import sent_in
from traces.scripting.plan import plan_of, runs_of


@dataclass(frozen=True, slots=True)
class Said:
    """One reply of the model."""

    call: ModelCall
    message: Message
    sent: int
    """How many messages of the list stood before it."""
    results: tuple[str | None, ...] = ()
    """What each of its calls was answered; None: nothing."""

    @property
    def names(self) -> Counter[str]:
        """How often it calls which tool, in its own words."""
        return Counter(call.name for call in self.message.tool_calls if call.name)


@dataclass(slots=True)
class Talk:
    """One turn of the user: what he said, what the model asked for, and what it answered in the end."""

    words: str
    begins: int
    """Position of the first message of the model in it."""
    rounds: list[Said] = field(default_factory=list)
    """The replies that ask for tools."""
    answer: Said | None = None
    """The last reply without calls, where nothing was asked for after it."""

    def add(self, said: Said) -> None:
        """A further reply."""
        if said.names:
            self.rounds.append(said)
        self.answer = None if said.names else said


def talks_of(trace: Trace) -> list[Talk]:
    """The turns of the user in order. Words that came while the model was at work, or say no text, begin none."""
    talks: list[Talk] = []
    for turn in plan_of(trace).turns:
        words = next((m.text for at in turn.before if (m := trace.messages[at]).role == "user" and m.text.strip()), "")
        call = turn.call
        if call is None and talks:
            break  # words to which no answer is known
        step = trace.steps[call.step - 1] if call is not None and call.kind == "reply" else None
        reply = None if step is None else step.reply
        at = len(trace.messages) if reply is None else reply
        if not talks or (words and talks[-1].answer is not None):
            talks.append(Talk(words, at))
        if call is None or step is None or reply is None:
            continue
        runs = runs_of(trace, step)
        results = (None if run is None or run.message is None else trace.messages[run.message].text for run in runs)
        talks[-1].add(Said(call, trace.messages[reply], at, tuple(results)))
    return talks


def seen_before(trace: Trace, number: int) -> tuple[int, Counter[str]]:
    """From which step on nothing was taken out of requests up to the one of a step, and what that one held.

    A client that shortens the history shows fewer calls from then on.

    Returns:
        The number of that step, from 1; and how many calls of each tool its request held.
    """
    first, held = 1, Counter[str]()
    if not _may_shrink(trace):
        return first, held
    most = 0
    for step in trace.steps[:number]:
        if step.reply is None:
            continue
        seen = calls_in(sent_in(trace, step))
        if seen.total() < most or not most:
            first, held = step.index, seen
        most = seen.total()
    return first, held


def calls_in(messages: Sequence[Message]) -> Counter[str]:
    """How many calls of each tool these messages hold."""
    return Counter(_names(messages))


def _names(messages: Sequence[Message]) -> Iterator[str]:
    return (call.name for message in messages for call in message.tool_calls)


def _may_shrink(trace: Trace) -> bool:
    noted = any(note.get("kind") == "compaction" for note in trace.notes)
    return noted or any(step.request is not None and step.request.edits for step in trace.steps)
