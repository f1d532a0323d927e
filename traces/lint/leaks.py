"""The rule about secrets: text that looks like a key, a token or a password. A finding never shows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from agent.messages import Message
from agent.redact import may_hold_secret, redact_text
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Material, short

SECRET = Rule(
    "secret",
    Severity.WARNING,
    "Looks like a secret",
    ("Message {n} holds what looks like a secret ({kinds}).",),
    "Whoever gets this file gets the secret, and the model's provider has it already.",
    "Revoke it; keep secrets out of prompts and results; export the trace, which removes what looks like one.",
)
RULES = (SECRET,)
_STAND_IN = re.compile(
    r"(?i)\byour[\w-]*|\b(?:change_?me|placeholder|redacted|foobar|hunter2|password\d+|test(?:ing)?\d*|dummy[\w-]*|"
    r"example[\w-]*|fake[\w-]*|sample[\w-]*|insert[\w-]*)\b"
)
"""Words that stand where a secret would; hiding them from a file does no harm, but they are no finding."""
_MARK = re.compile(r"\[redacted: ([^\]\n]{1,60})\]")


def check(material: Material) -> Iterator[Finding]:
    """Look through every message with the rules by which our own files are kept clean."""
    for at, message in enumerate(material.trace.messages):
        if not (kinds := _kinds(message)):
            continue
        facts = {"n": at + 1, "kinds": short(", ".join(kinds))}
        step = material.trace.entries[at].step
        yield Finding(rule=SECRET, facts=facts, message=at, step=step, evidence=(at,))


def _kinds(message: Message) -> list[str]:
    """What kinds of secrets a message seems to hold, without what was taken out of it before."""
    found: Counter[str] = Counter()
    texts = [message.text, *(call.arguments_text() for call in message.tool_calls)]
    for text in texts:
        if text and may_hold_secret(text):
            taken = Counter(_MARK.findall(redact_text(text))) - Counter(_MARK.findall(text))
            found += taken & Counter(_MARK.findall(redact_text(_STAND_IN.sub("<…>", text))))
    return list(found)
