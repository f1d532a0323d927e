"""Who speaks to the model from outside while a run goes on: a scripted user, or what a program puts in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agent.messages import Message
from agent.stops import StopReason


class User(Protocol):
    """Asked by the loop; it keeps nothing in mind, so that a run that is resumed or forked hears the same."""

    def meanwhile(self, model_call: int) -> Sequence[Message]:
        """What was said before this model call, while the run went on.

        Args:
            model_call: how many model calls the run has made before it.
        """
        ...

    def next(self, turn: int, model_call: int, reason: StopReason) -> Sequence[Message] | None:
        """With what the next turn begins, perhaps without a word; None: there is no more to say.

        Args:
            turn: how many turns there were.
            model_call: how many model calls the run has made.
            reason: why the last turn ended.
        """
        ...
