"""How a request differs from the one before it and from the message list, in words."""

from __future__ import annotations

from typing import Any

from agent import jsontext
from agent.interventions import KINDS
from pages.parts.intervention_words import kind_name
from pages.parts.words import t
from traces.requests import Change, SentRequest
from traces.text import cell

_LONGEST = 60
"""Characters shown of the value of an option."""


def difference_words(sent: SentRequest, step: int) -> str:
    """One sentence. It may hold words of a file, so it is for plain text only.

    Args:
        sent: the request.
        step: the number of its step.
    """
    count = t("1 message") if sent.sent == 1 else t("{n} messages", n=sent.sent)
    parts = [f"{count}{t(': ')}{_since_words(sent, step)}", _edit_words(sent)]
    if sent.tools:
        parts.append(t("other tools: {names}", names=t(", ").join(map(_tool_words, sent.tools))))
    if sent.options:
        parts.append(t("other options: {what}", what=t(", ").join(map(_option_words, sent.options))))
    return jsontext.clean(t("; ").join(parts))


def who(by: str) -> str:
    """Who made an edit: the loop, an intervention by its name, or what else a file says as it is."""
    if by in KINDS:
        return t("“{name}”", name=kind_name(by))
    return {"context": t("the context budget"), "protocol": t("the protocol check")}.get(by) or jsontext.clean(
        cell(by, _LONGEST)
    )


def _since_words(sent: SentRequest, step: int) -> str:
    if sent.previous is None:
        return t("the first request")
    counts = sent.since()
    words = {
        "same": t("{n} as before", n=counts["same"]),
        "new": t("{n} new", n=counts["new"]),
        "changed": t("{n} changed since", n=counts["changed"]),
        "gone": t("{n} no longer sent", n=counts["gone"]),
    }
    said = t(", ").join(text for kind, text in words.items() if counts[kind])
    compared = f" ({t('compared with step {n}', n=sent.previous)})" if sent.previous != step - 1 else ""
    return f"{said}{compared}"


def _edit_words(sent: SentRequest) -> str:
    edits = sent.edits()
    if not edits:
        return t("nothing differs from the message list")
    said = []
    for (op, by), count in edits.items():
        words = {
            "replace": t("{n} changed by {who}", n=count, who=who(by)),
            "insert": t("{n} inserted by {who}", n=count, who=who(by)),
            "drop": t("{n} left out by {who}", n=count, who=who(by)),
        }
        said.append(words[op])
    return t("differs from the message list: {what}", what=t(", ").join(said))


def _tool_words(change: Change) -> str:
    mark = "+" if change.before is None else "−" if change.now is None else "≠"
    return f"{mark} {cell(change.name, _LONGEST)}"


def _option_words(change: Change) -> str:
    return f"{cell(change.name, _LONGEST)} {_value(change.before)} → {_value(change.now)}"


def _value(value: Any) -> str:
    return t("not set") if value is None else cell(jsontext.dumps(value), _LONGEST)
