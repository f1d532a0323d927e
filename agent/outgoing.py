"""Prepare: from the message list to the request of one model call. Every request of every path is built here."""

from __future__ import annotations

from collections.abc import Sequence

from agent.context import ContextWindow, Fitted, Summarise
from agent.errors import ProtocolError
from agent.interventions import Intervention, changed_request
from agent.interventions.draft import Draft
from agent.messages import Message
from agent.protocol import Violation, repairs, violations
from agent.request import MessageView, apply_edits
from agent.trace import Edit, Request

SUMMARY_TO_COME = "(the summary that prepare will ask the model for)"


class Outgoing:
    """Builds requests for one run.

    Looks only at what was added since the last check. A resumed run begins with a new one of these, so that it is
    checked from its first message on.
    """

    def __init__(self, window: ContextWindow | None, interventions: Sequence[Intervention] = ()) -> None:
        self.window = window
        self.interventions = tuple(interventions)
        self._changing = [intervention for intervention in interventions if intervention.changes_requests]
        self._keeps_protocol = not any(intervention.breaks_protocol for intervention in interventions)
        self._checked = 0

    def build(self, messages: list[Message], task_at: int, summarise: Summarise) -> tuple[Request, Fitted | None]:
        """The next request, and what the context budget did for it.

        Raises:
            ContextOverflow: the budget cannot be met.
            ProtocolError: the request would be refused and cannot be mended.
            ModelError: the summary call failed.
        """
        fitted = self.window.fit(messages, task_at, summarise) if self.window else None
        edits = list(fitted.edits) if fitted else []
        if self._changing:
            edits = changed_request(self._changing, messages, edits)
        if self._keeps_protocol:
            edits = self._check(messages, edits)
        return Request(upto=len(messages), edits=edits), fitted

    def preview(self, messages: Sequence[Message], task_at: int) -> Request:
        """What :meth:`build` would give now. Nothing changes, and where it would ask for a summary, a note stands.

        Raises:
            AgentError: as :meth:`build`.
        """
        apart = Outgoing(self.window.copy() if self.window else None, self.interventions)
        return apart.build(list(messages), task_at, lambda _: SUMMARY_TO_COME)[0]

    def _check(self, messages: list[Message], edits: list[Edit]) -> list[Edit]:
        found = violations(messages, self._checked)
        if found:
            draft = Draft(messages, edits)
            edits = edits + repairs(messages, [each for each in found if _is_sent(each, draft)])
        else:
            self._checked = len(messages)
        if edits and (left := violations(apply_edits(MessageView(messages, len(messages)), edits))):
            raise ProtocolError(f"the request would be refused: {left[0].text}")
        return edits


def _is_sent(found: Violation, draft: Draft) -> bool:
    """Whether what breaks a rule is still in the request that is being made, and not left out or told otherwise."""
    message = draft[found.position]
    if message is None:
        return False
    if found.kind == "unanswered":
        return any(call.id == found.call_id for call in message.tool_calls)
    return found.kind != "orphan" or message.role == "tool"
