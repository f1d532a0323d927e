"""Replay: a model that says again what was recorded, and sees whether it is asked the same.

In strict mode a request that is not the recorded one ends the run, and nothing is called. In lenient mode the
difference becomes a warning of the step, and the run goes on with the recorded reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

from agent.errors import AgentError, InputError, ReplayMismatch
from agent.messages import Message
from agent.models.around import AroundModel
from agent.models.base import CallControl, Model, ModelReply
from agent.models.differing import (
    Difference,
    MessageDifferences,
    NewSide,
    RecordedSide,
    compare_options,
    compare_tools,
    in_words,
    nearest_request,
)
from agent.models.likeness import Fingerprints, Ignored, options_of, tools_of
from agent.models.recording import RecordedAsk, RecordedRequest, Recording
from agent.stops import BY_A_PERSON, StopReason
from agent.trace import Outcome

__all__ = ["Difference", "Mode", "Recording", "ReplayMismatch", "ReplayModel", "same_messages"]

Mode = Literal["strict", "lenient"]


class ReplayModel(AroundModel):
    """Compares each request with the recorded one of the same number, and then lets the inner model answer.

    One of these may serve many runs: it looks at the number of the call, as a scripted model does. Requests that the
    recording does not know are not compared.

    Args:
        inner: the model with the recorded replies. A strict replay asks it only what was recorded.
        recording: what is compared with.
        mode: strict or lenient.
        ignore: what may differ: ``system``, ``user``, ``assistant`` or ``tool`` (of messages of that role it only
            counts that they are there), ``reasoning``, ``tools``, ``options``, or one of these as
            ``options.temperature``.

    Raises:
        InputError: an unknown mode, or nothing of that name to ignore.
    """

    def __init__(
        self, inner: Model, recording: Recording, *, mode: Mode = "strict", ignore: Iterable[str] = ()
    ) -> None:
        if mode not in ("strict", "lenient"):
            raise InputError(f"replay: the mode must be strict or lenient, not {mode!r}")
        super().__init__(inner)
        self.recording = recording
        self.mode = mode
        self.protocol = getattr(inner, "protocol", "native")
        self._ignored = Ignored.of(ignore)
        self._recorded = RecordedSide.of(recording.messages, self._ignored)
        self._prints = Fingerprints(self._ignored)
        self._next = 0

    def complete(
        self,
        messages: Sequence[Message],
        tool_schemas: Sequence[dict[str, Any]],
        *,
        control: CallControl | None = None,
    ) -> ModelReply:
        """The recorded reply.

        Raises:
            ReplayMismatch: strict, and the request is not the recorded one.
            AgentError: as the inner model; what differed is said in its text.
        """
        control = control or CallControl(self._next)
        self._next = control.number + 1
        if control.canonical is None:
            found = self._compare(messages, tool_schemas, control.number)
        else:
            found = self._compare(control.canonical, control.offered, control.number)
        if found and self.mode == "strict":
            raise found
        try:
            reply, _ = self._asker.ask(messages, tool_schemas, control)
        except AgentError as error:
            if not found:
                raise
            told = copy(error)  # a script raises the same one whenever it is asked for this turn
            told.args = (f"{error} ({found})",)
            raise told from error
        return replace(reply, warnings=(*reply.warnings, str(found))) if found else reply

    def _compare(
        self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]], number: int
    ) -> ReplayMismatch | None:
        """What is wrong with the request of a model call, by its number from 0; None where nothing is."""
        requests = self.recording.requests
        if number >= len(requests):
            held = f"{len(requests)} model call{'' if len(requests) == 1 else 's'}"
            what = f"model call {number + 1} was not recorded; the recording holds {held}"
            return ReplayMismatch(f"{self.mode} replay: {what}")
        expected = requests[number]
        if expected is None:
            return None
        now = NewSide(messages, *self._prints.of(messages))
        asked = self._compare_asked(self.recording.asked[expected.asked], schemas)
        if not asked and now.keys == expected.pick(self._recorded.keys):
            return None
        return self._mismatch(now, asked, number, expected)

    def _compare_asked(self, recorded: RecordedAsk, schemas: Sequence[dict[str, Any]]) -> list[Difference]:
        found: list[Difference] = []
        if recorded.tools is not None and not self._ignored.tools:
            found += compare_tools(recorded.tools, tools_of(schemas))
        if recorded.options is not None:
            found += compare_options(recorded.options, options_of(self.asked_with), self._ignored)
        return found

    def _mismatch(
        self, now: NewSide, asked: list[Difference], number: int, expected: RecordedRequest
    ) -> ReplayMismatch:
        requests = self.recording.requests
        at = nearest_request(requests, self._recorded.keys, now.keys, number)
        nearest = requests[at] or expected
        between = MessageDifferences(self._recorded.of_request(nearest), now)
        size = max(len(now.keys), nearest.size)
        told = in_words(chain(between, asked), len(between) + len(asked))
        text = (
            f"{self.mode} replay: the request of step {expected.step} is not the recorded one; nearest is that of "
            f"step {nearest.step} ({between.same} of {size} messages are the same)"
        )
        differences = (*between, *asked) if self.mode == "strict" else ()
        return ReplayMismatch(
            f"{text}: {told}" if told else text, differences=differences, step=expected.step, nearest=at + 1
        )


def same_outcome(recording: Recording, outcome: Outcome) -> list[Difference]:
    """Whether a replay that is over ended as the recorded run did: its stop reason, and its final answer.

    Nothing where the recording does not say it in our words, or a person ended it: that cannot be said again.

    Args:
        recording: of the run that was replayed.
        outcome: of the replay.
    """
    differences: list[Difference] = []
    if not recording.says_how_it_ended or outcome.reason is None or recording.reason in BY_A_PERSON:
        return differences
    if outcome.reason != recording.reason:
        differences.append(Difference("changed", "the stop reason", recording.reason, outcome.reason))
    if outcome.final != recording.final and recording.reason == StopReason.FINAL:
        differences.append(Difference("changed", "the final answer", recording.final, outcome.final))
    return differences


def same_messages(recording: Recording, messages: Sequence[Message]) -> list[Difference]:
    """Whether a replay that is over holds the recorded message list: where it does not, message by message.

    Of a tool message only its text and its call count.

    Args:
        recording: of the run that was replayed.
        messages: the message list of the replay.
    """
    nothing = Ignored()
    recorded = RecordedSide.of(recording.messages[: recording.length], nothing)
    return list(MessageDifferences(recorded, NewSide(messages, *Fingerprints(nothing).of(messages))))
