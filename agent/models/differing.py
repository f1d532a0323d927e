"""What differs between a recorded request and the one that was made: as data, and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, Literal

from agent import jsontext
from agent.cutting import head, tail
from agent.messages import Message
from agent.models.aligning import Alignment, align
from agent.models.likeness import Fingerprint, Ignored, group, words_of
from agent.models.recording import RecordedMessage, RecordedRequest

DifferenceKind = Literal["changed", "missing", "added", "moved", "tool", "option"]
MOST_TOLD = 4
"""Differences that a sentence names; of the others it gives the number."""
_BEFORE, _AFTER = 24, 72
"""Characters that are shown of a text before and after the place where it begins to differ."""
_WORD = re.compile(r"(?a:[\w.~+/=%-]*)\Z")
"""The beginning of a word, at the end of a text: a key is one, the parts of JSON without blanks are several."""
_LONGEST_WORD = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs."""

    kind: DifferenceKind
    """changed, missing, added and moved are said of messages."""
    place: str
    """What differs: ``message 4 (tool)``, by its number in the request; the name of a tool, or of an option."""
    recorded: str | None = None
    """What was recorded, of a text only the words round the first difference; None where there is nothing to show."""
    now: str | None = None
    """What is there now, in the same way."""
    note: str = ""
    """What the texts do not show."""
    message: int | None = None
    """The number of the message in the request, from 1; of a missing one in the recorded request."""

    def __str__(self) -> str:
        if self.kind == "option":
            return f"{self.place}: recorded {self.recorded or 'not given'}, now {self.now or 'not given'}"
        subject = f"the tool {self.place}" if self.kind == "tool" else self.place
        if self.recorded is not None and self.now is not None:
            said = f"{subject}: recorded {self.recorded!r}, now {self.now!r}"
            return f"{said} ({self.note})" if self.note else said
        shown = next((f": {text!r}" for text in (self.recorded, self.now) if text is not None), "")
        return f"{subject} {self.note}{shown}"


@dataclass(frozen=True, slots=True)
class RecordedSide:
    """The messages that were recorded, and the keys that must be equal."""

    messages: Sequence[RecordedMessage]
    keys: Sequence[str]

    @classmethod
    def of(cls, messages: Sequence[RecordedMessage], ignored: Ignored) -> RecordedSide:
        """With the keys of the messages."""
        return cls(messages, [ignored.key(message.fingerprint) for message in messages])

    def of_request(self, request: RecordedRequest) -> RecordedSide:
        """Only what one request held."""
        return RecordedSide(request.pick(self.messages), request.pick(self.keys))


@dataclass(frozen=True, slots=True)
class NewSide:
    """The messages that are there now, their fingerprints, and the keys that must be equal."""

    messages: Sequence[Message]
    prints: Sequence[Fingerprint]
    keys: Sequence[str]


class MessageDifferences:
    """What differs between two lists of messages. It is put into words only where it is asked for: there may be much.

    Args:
        recorded: the one list.
        now: the other.
    """

    def __init__(self, recorded: RecordedSide, now: NewSide) -> None:
        self._recorded, self._now = recorded, now
        was, came = ([group(message.role) for message in side.messages] for side in (recorded, now))
        self._alignment = align(recorded.keys, now.keys, was, came)

    @property
    def same(self) -> int:
        """How many messages are in both lists, in the same order."""
        return self._alignment.same

    def __len__(self) -> int:
        found = self._alignment
        return len(found.changed) + len(found.moved) + len(found.missing) + len(found.added)

    def __iter__(self) -> Iterator[Difference]:
        """The differences, in the order of the messages."""
        for _, kind, was, at in sorted(_in_order(self._alignment)):
            if kind == "changed":
                yield _changed(self._recorded.messages[was], self._now.messages[at], self._now.prints[at], at)
            elif kind == "moved":
                place = _place(at, self._now.messages[at].role)
                yield Difference("moved", place, note=f"was message {was + 1}", message=at + 1)
            elif kind == "added":
                message = self._now.messages[at]
                words = _begin(words_of(message))
                yield Difference("added", _place(at, message.role), now=words, note="is new", message=at + 1)
            else:
                lost = self._recorded.messages[was]
                place = f"{_place(was, lost.role)} of the recording"
                yield Difference("missing", place, _begin(lost.head), note="is missing", message=was + 1)


def compare_tools(recorded: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Difference]:
    """What differs in the tools on offer; both are digests by name."""
    for name in sorted(recorded.keys() | now.keys()):
        if name not in now:
            yield Difference("tool", name, note="is no longer on offer")
        elif name not in recorded:
            yield Difference("tool", name, note="is new")
        elif recorded[name] != now[name]:
            yield Difference("tool", name, note="has another description or other parameters")


def compare_options(recorded: Mapping[str, Any], now: Mapping[str, Any], ignored: Ignored) -> Iterator[Difference]:
    """What differs in how the model is asked. A recording that does not name the model does not say which it was."""
    for name in sorted(recorded.keys() | now.keys()):
        unknown = name == "model" and name not in recorded
        if not (unknown or ignored.option(name) or recorded.get(name) == now.get(name)):
            yield Difference("option", name, _shown(recorded.get(name)), _shown(now.get(name)))


def nearest_request(
    requests: Sequence[RecordedRequest | None], keys: Sequence[str], now: Sequence[str], expected: int
) -> int:
    """The position of the recorded request that differs in the fewest messages; among equals the expected, the first.

    Args:
        requests: the recorded ones.
        keys: of all recorded messages.
        now: the keys of the request at hand.
        expected: the position of the request that should have been met; it is known.
    """
    there = set(now)
    until = [0, *accumulate(key in there for key in keys)]

    def off(at: int, request: RecordedRequest) -> tuple[int, bool, int]:
        common = sum(until[end] - until[start] for start, end in request.ranges)
        return max(request.size, len(now)) - min(common, len(now)), at != expected, at

    return min(off(at, request) for at, request in enumerate(requests) if request is not None)[-1]


def in_words(differences: Iterator[Difference], count: int) -> str:
    """Differences as a part of a sentence: the first few of so many, and how many more there are."""
    words = [str(difference) for difference in islice(differences, MOST_TOLD)]
    if count > MOST_TOLD:
        words.append(f"and {count - MOST_TOLD} more")
    return "; ".join(words)


def _in_order(found: Alignment) -> Iterator[tuple[int, str, int, int]]:
    """Every difference by the number under which it is told, its kind, and its positions on both sides."""
    for was, at in found.changed:
        yield at, "changed", was, at
    for was, at in found.moved:
        yield at, "moved", was, at
    for at in found.added:
        yield at, "added", 0, at
    for was in found.missing:
        yield was, "missing", was, 0


def _changed(recorded: RecordedMessage, now: Message, known: Fingerprint, at: int) -> Difference:
    words, kept = words_of(now), recorded.head
    place = _place(at, now.role)
    cut = "" if recorded.text_is_whole else f"the first {len(kept)} of {recorded.chars} characters"
    if recorded.role != now.role:
        note = f"was recorded as {recorded.role}"
    elif recorded.digest == known.digest:
        note = "says the same after another reasoning"
    elif not words.startswith(kept) or (recorded.text_is_whole and words != kept):
        differs = next(
            (at for at, (x, y) in enumerate(zip(kept, words, strict=False)) if x != y), min(len(kept), len(words))
        )
        note = f"the recording keeps {cut}" if cut else ""
        return Difference("changed", place, _around(kept, differs), _around(words, differs), note, at + 1)
    elif cut:
        note = f"begins as recorded; the recording keeps {cut}, now there are {len(words)}"
    elif group(now.role) == "tool":
        note = "says the same but answers another call"
    else:
        note = "says the same under another name or with other parts"
    return Difference("changed", place, note=note, message=at + 1)


def _around(text: str, at: int) -> str:
    """The words of a text round the place where it begins to differ, from the beginning of a word."""
    near = text[max(0, at - _LONGEST_WORD) : at]
    word = _WORD.search(near)
    start = at - len(near) + (word.start() if word else len(near))
    before, rest = tail(text[:start], _BEFORE), text[start:]
    after = head(rest, max(_AFTER, at - start + _BEFORE))
    return f"{'…' if len(before) < start else ''}{before}{after}{'…' if len(after) < len(rest) else ''}"


def _begin(text: str) -> str:
    words = head(text, _AFTER)
    return words if len(words) == len(text) else f"{words}…"


def _place(at: int, role: str) -> str:
    return f"message {at + 1} ({role})"


def _shown(value: Any) -> str | None:
    return None if value is None else jsontext.dumps(value)
