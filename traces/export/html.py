"""One HTML file that holds the whole trace: it opens offline, searches itself, and requests nothing.

Text of the trace is data of a script block and reaches the page by ``textContent`` alone. The policy in the head allows
our own style and script by their hashes, images out of the file itself, and nothing else.
"""

from __future__ import annotations

import base64
import html
from functools import cache
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.messages import Message
from agent.trace import Trace, TraceStep
from traces.export.facts import facts, tokens_words
from traces.export.inline import inert, source_hash
from traces.export.order import answers
from traces.export.words import Say, sayer, table
from traces.images import images_of
from traces.lookup import runs_by_result, steps_by_reply
from traces.repair import TOOL_ROLES
from traces.text import message_text, size_words

NAME = "html"
SUFFIX = ".html"
MIME = "text/html"

_FOLDER = Path(__file__).parent
_TAGS = {"zh": "zh-Hans"}
_LARGEST_IMAGE = 6_000_000
"""Bytes of an image that is drawn."""
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>{noscript}</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def losses(trace: Trace) -> list[str]:
    """What the page cannot show."""
    if not any(isinstance(message.content, list) and _hides_part(message) for message in trace.messages):
        return []
    return [f"files, and images of other types, from elsewhere or above {size_words(_LARGEST_IMAGE)} are only named"]


def write(trace: Trace, language: str = "en") -> bytes:
    """The page in UTF-8, its own words in this language."""
    style, script, say = _asset("transcript.css"), _asset("transcript.js"), sayer(language)
    policy = (
        f"default-src 'none'; style-src '{source_hash(style)}'; script-src '{source_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _PAGE.format(
        policy=policy,
        language=_TAGS.get(language, language),
        noscript=html.escape(say("This page needs its own script to show the trace.")),
        title=html.escape(jsontext.clean(trace.title or trace.trace_id)),
        style=style,
        script=script,
        data=inert(jsontext.dumps({**_data(trace, say), "words": table(language)}, compact=True)),
    )
    return page.encode()


@cache
def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _data(trace: Trace, say: Say) -> dict[str, Any]:
    steps = steps_by_reply(trace.steps)
    asked = {
        at: (position, place) for position, found in answers(trace).items() for place, at in enumerate(found) if at
    }
    runs = runs_by_result(trace.steps)
    messages = []
    for position, message in enumerate(trace.messages):
        entry, run = trace.entries[position], runs.get(position)
        item: dict[str, Any] = {"role": message.role, "maker": entry.maker, "text": message_text(message)}
        more = {
            "step": entry.step,
            "agent": entry.agent,
            "at": entry.at,
            "reasoning": message.reasoning or None,
            "calls": [[call.name, call.id, call.arguments_text()] for call in message.tool_calls] or None,
            "about": _about(steps.get(position), say),
            "asked": asked[position][0] if position in asked else None,
            "tool": run.name if run else None,
            "failed": (run is not None and run.ok is False) or None,
            "orphan": (message.role in TOOL_ROLES and position not in asked) or None,
            "images": inline_images(message) or None,
        }
        messages.append(item | {key: value for key, value in more.items() if value is not None})
    notes = [str(note.get("text") or note.get("kind") or "") for note in trace.notes if isinstance(note, dict)]
    return {
        "title": trace.title or trace.trace_id,
        "facts": facts(trace, say),
        "end": trace.outcome.detail,
        "notes": [note for note in notes if note],
        "messages": messages,
    }


def _about(step: TraceStep | None, say: Say) -> str | None:
    """The numbers of a model call, in words."""
    if step is None:
        return None
    parts = [step.model, say("tokens: {n}", n=tokens_words(step.usage, say))]
    parts += [None if step.latency_ms is None else say("{n} ms", n=f"{step.latency_ms:,.0f}")]
    first = step.first_token_ms
    parts += [None if first is None else say("first token after {n} ms", n=f"{first:,.0f}")]
    parts += [None if step.cost is None else say("{n} USD", n=f"{step.cost:g}"), step.finish_reason]
    return " · ".join(part for part in parts if part)


def _hides_part(message: Message) -> bool:
    others = sum(isinstance(part, dict) and not isinstance(part.get("text"), str) for part in message.content or ())
    return others > len(inline_images(message))


def inline_images(message: Message) -> list[str]:
    """The images of a message that may be shown: of safe types, out of the file itself, and not too large."""
    if not isinstance(message.content, list):
        return []
    found = [image for image in images_of(message) if len(image.data) <= _LARGEST_IMAGE]
    return [f"data:{image.mime};base64,{base64.b64encode(image.data).decode()}" for image in found]
