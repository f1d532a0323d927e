"""What a person wants to be different in a fork, while it is still being written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent.fork import Changes, with_arguments
from agent.limits import Limits
from agent.loop import Loop
from agent.messages import Message
from agent.trace import Trace
from pages.parts import address
from pages.parts.roles import role_look
from pages.parts.words import t


@dataclass(frozen=True, slots=True)
class Draft:
    """Edits of one run that are not made yet, as the fields hold them."""

    texts: Mapping[int, str] = field(default_factory=dict)
    """The new text of messages, by position."""
    arguments: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """The new arguments of calls as JSON text, by position of the message and of the call in it."""
    system: str | None = None
    tools: tuple[str, ...] | None = None
    max_steps: int | None = None
    limits: Limits | None = None
    number: int = 0
    """Grows when the edits are thrown away, so that the fields begin anew."""

    @property
    def empty(self) -> bool:
        """True when nothing is changed."""
        return self == Draft(number=self.number)

    def last(self) -> int:
        """Position of the last message that is changed; -1 for none."""
        return max([-1, *self.texts, *(at for at, _ in self.arguments)])


def draft_of(run_id: str) -> Draft:
    """What this session has changed so far."""
    return address.draft(run_id, Draft())


def change(run_id: str, **changes: Any) -> None:
    """Keep some fields of the draft."""
    address.keep_draft(run_id, replace(draft_of(run_id), **changes))


def discard(run_id: str) -> None:
    """Throw the edits of a run away."""
    address.keep_draft(run_id, Draft(number=draft_of(run_id).number + 1))


def system_text(trace: Trace) -> str:
    """The system text of a run; empty where there is none."""
    first = trace.messages[0] if trace.messages else None
    return first.text if first is not None and first.role in ("system", "developer") else ""


def told(draft: Draft, trace: Trace) -> list[str]:
    """What is changed, one line each."""
    lines = []
    for position in sorted({*draft.texts, *(at for at, _ in draft.arguments)}):
        role = role_look(trace.messages[position].role).word
        if position in draft.texts:
            lines.append(t("Message {n} ({role}): another text", n=position + 1, role=role))
        if any(at == position for at, _ in draft.arguments):
            lines.append(t("Message {n} ({role}): other arguments", n=position + 1, role=role))
    if draft.system is not None:
        lines.append(t("Another system text") if draft.system else t("No system text"))
    if draft.tools is not None:
        lines.append(t("Tools on offer: {tools}", tools=", ".join(draft.tools) or t("none")))
    if draft.max_steps is not None:
        lines.append(t("Step limit: {n}", n=draft.max_steps))
    if draft.limits is not None:
        lines.append(t("Other limits"))
    return lines


def changes_of(draft: Draft, loop: Loop, shown: Trace) -> Changes:
    """The draft as changes of the run itself, whose messages may hold what is not shown.

    Args:
        draft: the edits of the messages as shown.
        loop: the run.
        shown: its trace without secrets.

    Raises:
        InputError: arguments that cannot be used.
    """
    messages: dict[int, Message | str] = dict(draft.texts)
    for position in {at for at, _ in draft.arguments}:
        real, seen = loop.messages[position], shown.messages[position]
        texts = {number: text for (at, number), text in draft.arguments.items() if at == position}
        edited = with_arguments(real, texts, seen)
        text = draft.texts.get(position, seen.text)
        messages[position] = replace(edited, content=text) if text != seen.text else edited
    settings: dict[str, Any] = {"max_steps": draft.max_steps} if draft.max_steps is not None else {}
    if draft.limits is not None:
        settings["limits"] = draft.limits.to_dict()
    return Changes(messages, draft.system, draft.tools, settings)
