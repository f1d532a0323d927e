"""tau-bench: results with a trajectory in OpenAI Chat form, a reward and the task, and its few-shot examples.

Source: sierra-research/tau-bench, ``tau_bench/types.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import text
from traces.readers.rewards import reward
from traces.wire.parts import mapping

NAME = "tau-bench"
_LOOKED_AT = 20
_DISPLAY = "messages_display"
_SPEAKER = re.compile(r"^(system|user|assistant|tool): ", re.MULTILINE)


def matches(document: Document) -> bool:
    """Some of the first records are results, or examples."""
    return any(_is_result(record) or _is_example(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read every result; a run that failed before its first message is a trace of an error alone."""
    for number, record in enumerate(document.records):
        if _is_result(record):
            _read_result(record, out, document.line_of(number))
        elif _is_example(record):
            _read_example(record[_DISPLAY], out, document.line_of(number))
        else:
            out.unread("a record that is no result with a trajectory")


def _is_result(value: Any) -> bool:
    return isinstance(value, Mapping) and {"task_id", "reward"} <= value.keys() and isinstance(value.get("traj"), list)


def _is_example(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get(_DISPLAY), str)


def _read_result(record: Mapping[str, Any], out: ImportBuilder, line: int | None) -> None:
    info = mapping(record.get("info"))
    trial = record.get("trial")
    title = f"task {record['task_id']}" + ("" if trial is None else f", trial {trial}")
    trace = out.trace(title, {key: value for key, value in record.items() if key != "traj"})
    for message in record["traj"]:
        if isinstance(message, Mapping):
            trace.message(message, line=line)
        else:
            out.unread("an entry of a trajectory that is no message")
    if error := text(info.get("error")):
        trace.outcome("error", detail=error)
        trace.note("error", text(info.get("traceback")) or error)
    else:
        trace.outcome(checks=[reward(record["reward"], info.get("reward_info"))])


def _read_example(display: str, out: ImportBuilder, line: int | None) -> None:
    """A conversation written out as one text, each message after its speaker. Calls are not in it."""
    out.warn("the conversations are plain text without the calls; each line that names a speaker begins a message")
    starts = list(_SPEAKER.finditer(display))
    if not starts:
        out.unread("an example in which nobody speaks")
        return
    trace = out.trace()
    ends = [found.start() for found in starts[1:]] + [len(display)]
    for found, end in zip(starts, ends, strict=True):
        content = display[found.end() : end].strip()
        role = found[1]
        if role == "tool":  # the call is not in the text, so that nothing can be answered
            trace.message({"role": "user", "content": content}, line=line, maker="environment", agent="tool")
        else:
            trace.message({"role": role, "content": None if content == "None" else content}, line=line)
