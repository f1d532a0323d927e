"""The request of one step for a reader: every message with where it comes from and what was done to it on its way.

A request is told apart from two things: from the message list (what the context budget, the protocol check or an
intervention changed) and from the request before it (what is new since). As JSON and as a ``curl`` command it can be
sent again by anybody; neither holds a key.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from agent import jsontext, tokens
from agent.asked import Asked, asked_in
from agent.messages import Message
from agent.redact import may_hold_secret, redact
from agent.request import Placed, lay_out, request_of
from agent.trace import Trace, TraceStep
from traces.tables import calls_cell
from traces.text import cell, message_text

REQUEST_COLUMNS = {
    "sent": "Int64",
    "since": "string",
    "op": "string",
    "by": "string",
    "role": "string",
    "text": "string",
    "tool_calls": "string",
    "number": "Int64",
}
"""``sent``: place in the request, from 1; missing for a message that was left out. ``since``, ``op``, ``by``: as in
:class:`Row`. ``number``: place in the message list, from 1; missing for a message that was inserted."""

_END = "END_OF_BODY"
"""Ends the body in a shell command. No line of JSON text reads like this."""


@dataclass(frozen=True, slots=True)
class Row:
    """One message of a request, or one that was left out of it."""

    message: Message
    """As it was sent; one that was left out as it stands in the message list."""
    sent: int | None
    """Position in the request; None: left out."""
    position: int | None
    """Position in the message list; None: inserted."""
    op: str
    """What was done to it: keep, replace, insert or drop."""
    by: str
    """Who did it: ``context``, ``protocol`` or an intervention; empty for keep."""
    since: str
    """Compared with the request before: ``same``, ``new``, ``changed`` or, for one that was in it, ``gone``."""


@dataclass(frozen=True, slots=True)
class Change:
    """One option, or one tool, that differs from the request before. None: it was not there."""

    name: str
    before: Any
    now: Any


@dataclass(frozen=True, slots=True)
class SentRequest:
    """The request of one step, and how it differs from the one before it."""

    rows: list[Row]
    """In the order of the message list."""
    previous: int | None
    """The number of the step that it is compared with; None: there is no earlier request."""
    tools: list[Change]
    """Tools that differ from those of the request before, by their names."""
    options: list[Change]
    """Options that differ from those of the request before."""

    @property
    def head(self) -> int:
        """How many rows at the head are as they were in the request before."""
        return next((at for at, row in enumerate(self.rows) if row.since != "same"), len(self.rows))

    @property
    def sent(self) -> int:
        """How many messages were sent."""
        return sum(row.sent is not None for row in self.rows)

    def since(self) -> Counter[str]:
        """How many messages of each kind there are, compared with the request before. Of the left out only ``gone``."""
        return Counter(row.since for row in self.rows if row.sent is not None or row.since == "gone")

    def edits(self) -> Counter[tuple[str, str]]:
        """How many messages differ from the message list, by what was done and by whom."""
        return Counter((row.op, row.by) for row in self.rows if row.op != "keep")


def read_request(trace: Trace, step: TraceStep) -> SentRequest | None:
    """The request of a step; None where the trace does not say what was sent.

    Args:
        trace: the trace.
        step: one of its steps, or one that is about to begin.
    """
    if step.request is None:
        return None
    before = _previous(trace, step)
    known = {key: placed for key, placed in _keyed(trace, before) if placed.op != "drop"} if before else {}
    rows = list(_rows(_keyed(trace, step), known))
    if before is None:
        return SentRequest(rows, None, [], [])
    then, now = asked_in(trace, before), asked_in(trace, step)
    tools, options = _changes(_tools(then), _tools(now)), _changes(_options(then), _options(now))
    return SentRequest(rows, before.index, tools, options)


def request_frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Rows of a request as a table; columns and types as in :data:`REQUEST_COLUMNS`. Texts are cut to a cell."""
    rows = list(rows)
    columns: dict[str, list[Any]] = {
        "sent": [None if row.sent is None else row.sent + 1 for row in rows],
        "since": [row.since for row in rows],
        "op": [row.op for row in rows],
        "by": [_safe(cell(row.by, 60)) for row in rows],
        "role": [_safe(cell(row.message.role, 40)) for row in rows],
        "text": [_safe(cell(message_text(row.message))) for row in rows],
        "tool_calls": [_safe(calls_cell(row.message)) for row in rows],
        "number": [None if row.position is None else row.position + 1 for row in rows],
    }
    return pd.DataFrame({name: pd.Series(columns[name], dtype=kind) for name, kind in REQUEST_COLUMNS.items()})


def _safe(text: str | None) -> str | None:
    """A running loop may hold half characters, which no table can."""
    return text if text is None or text.isascii() else jsontext.clean(text)


def prompt_tokens(trace: Trace, step: TraceStep) -> tuple[int, bool]:
    """``(tokens, estimated)``: what the request took, as the provider counted it, else about what it takes."""
    if step.usage is not None and step.usage.prompt_tokens is not None:
        return step.usage.prompt_tokens, step.usage.estimated
    schemas = tokens.count_schemas(asked_in(trace, step).tools)
    return tokens.count_messages(request_of(trace, step)) + schemas, True


def body_text(body: Mapping[str, Any], secrets: Iterable[str] = ()) -> str:
    """A request body as strict JSON for people, one item a line, real characters, without secrets.

    Args:
        body: as :func:`agent.asked.body_of` gives it.
        secrets: exact values to hide, such as the key in use.
    """
    text = jsontext.dumps(body, indent=True)
    secrets = tuple(secrets)
    return jsontext.dumps(redact(dict(body), secrets), indent=True) if may_hold_secret(text, secrets) else text


def curl_command(body: Mapping[str, Any], base_url: str, secrets: Iterable[str] = ()) -> str:
    """A command for a shell that sends this body; the shell puts the key in from ``OPENAI_API_KEY``.

    The body stands between two lines of its own, where the shell reads every character as it is: as an argument it
    would need escapes, and could not be longer than 128 kB.

    Args:
        body: as :func:`agent.asked.body_of` gives it.
        base_url: where the API begins.
        secrets: exact values to hide.
    """
    unbuffered = " --no-buffer" if body.get("stream") else ""
    return "\n".join(
        (
            f"curl{unbuffered} {shlex.quote(base_url.rstrip('/') + '/chat/completions')} \\",
            "  -H 'Content-Type: application/json' \\",
            '  -H "Authorization: Bearer $OPENAI_API_KEY" \\',
            f"  --data-binary @- <<'{_END}'",
            body_text(body, secrets),
            f"{_END}\n",
        )
    )


# -- comparing -----------------------------------------------------------------------------------------------------

_Key = tuple[int, int]
"""Tells a message of one request in another one: its position, and 0; of inserted ones which one it is there."""


def _previous(trace: Trace, step: TraceStep) -> TraceStep | None:
    """The step before with a known request; of a step that the trace does not hold yet, the last such one."""
    found = None
    for each in trace.steps:
        if each is step:
            break
        found = each if each.request is not None else found
    return found


def _keyed(trace: Trace, step: TraceStep | None) -> Iterator[tuple[_Key, Placed]]:
    if step is None or step.request is None:
        return
    upto, edits = min(step.request.upto, len(trace.messages)), step.request.edits
    for position, group in groupby(lay_out(trace.messages[:upto], edits), lambda placed: placed.position):
        for count, placed in enumerate(group, 1):
            yield (position, count if placed.op == "insert" else 0), placed


def _rows(placed: Iterable[tuple[_Key, Placed]], known: Mapping[_Key, Placed]) -> Iterator[Row]:
    sent = 0
    for key, each in placed:
        before = known.get(key)
        left_out = each.op == "drop"
        if left_out:
            since = "same" if before is None else "gone"
        else:
            since = "new" if before is None else "same" if before.message == each.message else "changed"
        position = None if each.op == "insert" else each.position
        yield Row(each.message, None if left_out else sent, position, each.op, each.by, since)
        sent += not left_out


def _tools(asked: Asked) -> dict[str, Any]:
    return {str((schema.get("function") or {}).get("name")): schema for schema in asked.tools}


def _options(asked: Asked) -> dict[str, Any]:
    tool_options = asked.form.tool_options if asked.tools else {}
    return {"protocol": asked.protocol, "base_url": asked.form.base_url, **tool_options, **asked.form.options}


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    names = dict.fromkeys((*before, *now))
    return [Change(n, before.get(n), now.get(n)) for n in names if before.get(n) != now.get(n)]
