"""The scripted user: what a script says to the model, besides the first words."""

from __future__ import annotations

from collections.abc import Sequence

from agent.messages import Message
from agent.scripts.turns import AnyTurn
from agent.stops import BY_A_PERSON, StopReason


class ScriptedUser:
    """Says what stands before a turn of the model, and after a final answer the next of the user's own messages.

    Args:
        users: the user's messages, the first of which began the run.
        turns: the turns of the model.
    """

    def __init__(self, users: Sequence[str], turns: Sequence[AnyTurn]) -> None:
        self._users = users
        self._turns = turns

    def meanwhile(self, model_call: int) -> Sequence[Message]:
        """What stands before this turn of the model."""
        return self._before(model_call) or ()

    def next(self, turn: int, model_call: int, reason: StopReason) -> Sequence[Message] | None:
        """What stands before the next turn of the model, however the last one ended; else the user's next message.

        A run that a person ended stays over, and so does one for which there is no further turn.
        """
        if reason in BY_A_PERSON or reason is StopReason.SCRIPT_EXHAUSTED:
            return None
        if (before := self._before(model_call)) is not None:
            return before
        if reason is StopReason.FINAL and turn < len(self._users):
            return (Message("user", self._users[turn]),)
        return None

    def _before(self, model_call: int) -> tuple[Message, ...] | None:
        return self._turns[model_call].before if model_call < len(self._turns) else None
