"""Draft: a request that is being changed. Each change sees the request as the ones before it left it."""

from __future__ import annotations

from collections.abc import Sequence

from agent.messages import Message
from agent.request import by_position
from agent.trace import Edit


class Draft:
    """The messages of a request, each at its position in the message list, and the edits that make it of them.

    Args:
        messages: the message list. Never changed.
        edits: what was changed already, by the context budget. What this inserts belongs to no position and stays.
    """

    def __init__(self, messages: Sequence[Message], edits: Sequence[Edit] = ()) -> None:
        self.messages = messages
        self._before = tuple(edits)
        dropped, replaced, _ = by_position(edits)
        self._dropped = set(dropped)
        self._given = {at: Message.from_dict(edit.with_ or {}) for at, edit in replaced.items()}
        self._now = dict(self._given)
        self._made: dict[int, Edit] = {}

    def __getitem__(self, position: int) -> Message | None:
        """The message that stands in this place now; None: it is left out."""
        if position in self._dropped:
            return None
        return self._now.get(position) or self.messages[position]

    def notice(self, position: int) -> str:
        """What the context budget added to the words of a message; empty where it added nothing."""
        own, given = self.messages[position].text, self._given.get(position)
        return given.text.removeprefix(own) if given is not None and given.text.startswith(own) else ""

    def replace(self, position: int, message: Message, by: str) -> None:
        """Put another message in the place of one; nothing where that is left out, or is the same."""
        now = self[position]
        if now is None or now == message:
            return
        self._now[position] = message
        if message == self._given.get(position, self.messages[position]):
            self._made.pop(position, None)  # it is again as it was
        else:
            self._made[position] = Edit(op="replace", message=position, by=by, with_=message.to_dict())

    def drop(self, position: int, by: str) -> None:
        """Leave a message out."""
        if position not in self._dropped:
            self._dropped.add(position)
            self._made[position] = Edit(op="drop", message=position, by=by)

    @property
    def edits(self) -> list[Edit]:
        """Everything that differs from the message list: what was there before, then what was made here.

        Here at most one for each position, by the last that changed it. It does not take back what the budget did: a
        trace tells both, and with the budget's edits the same interventions make the same request again.
        """
        return [*self._before, *(self._made[at] for at in sorted(self._made))]
