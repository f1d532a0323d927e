"""Logs of Inspect AI: ``.json``, ``.eval`` (a zip with one member for each sample), and single samples.

Source: UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py``. Each sample and epoch is a conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent.trace import Evidence
from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, milliseconds, text
from traces.readers.inspect_calls import Events, usage_of
from traces.readers.inspect_messages import Attachments, message_of
from traces.reply import Reply
from traces.wire.parts import listed, mapping

NAME = "inspect-ai"
_LOOKED_AT = 20
_CONTENTS = ("messages", "input")
_HEADERS = ("header.json", "_journal/start.json")
_LIMITS = {
    "message": "max_iterations",
    "time": "deadline",
    "working": "deadline",
    "token": "token_budget",
    "cost": "cost_budget",
    "context": "context_overflow",
    "operator": "stopped_by_user",
}
"""What ended a sample, in our words for the end of a run."""
_GRADES = {"C": True, "I": False, "N": False}
"""Letters of Inspect's scorers; P (partly right) is neither."""


def matches(document: Document) -> bool:
    """A log, an archive of one, or samples of one."""
    if document.members:
        return any(_is_log(member.value) and _path(member, document) in _HEADERS for member in document.members)
    return any(_is_log(record) or _is_sample(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read every sample; a log without samples is valid and says so."""
    if document.members:
        _read_archive(document, out)
        return
    for record in document.records:
        if _is_sample(record):
            _read_sample(record, {}, out)
        elif _is_log(record):
            samples = listed(record.get("samples"))
            _read_samples(samples, record, out)
        else:
            out.unread("a record that is neither a log nor a sample of Inspect")


def _is_log(value: Any) -> bool:
    return isinstance(value, Mapping) and {"eval", "plan"} <= value.keys() and isinstance(value["eval"], Mapping)


def _is_sample(value: Any) -> bool:
    return isinstance(value, Mapping) and {"epoch", "target"} <= value.keys() and not value.keys().isdisjoint(_CONTENTS)


def _path(member: Document, archive: Document) -> str:
    return member.name.removeprefix(f"{archive.name}: ")


def _read_archive(document: Document, out: ImportBuilder) -> None:
    members = {_path(member, document): member.value for member in document.members}
    header: Mapping[str, Any] = next((members[path] for path in _HEADERS if _is_log(members.get(path))), {})
    if "header.json" not in members:
        out.warn("the log has no header: the evaluation was still running, or was stopped")
    samples = []
    for path, value in members.items():
        if path.startswith("samples/"):
            if isinstance(value, Mapping):
                samples.append(value)
            else:
                out.unread("a member of the log that should be a sample and is none")
    _read_samples(samples, header, out)


def _read_samples(samples: list[Mapping[str, Any]], log: Mapping[str, Any], out: ImportBuilder) -> None:
    if not samples:
        results = _results(log)
        out.warn(f"the log holds no samples, only its results: {results}" if results else "the log holds no samples")
    order = _Order(log)
    for sample in sorted(samples, key=order):
        _read_sample(sample, log, out)


class _Order:
    """The samples of an archive have no order: that of the data set counts, then the epoch."""

    def __init__(self, log: Mapping[str, Any]) -> None:
        ids = mapping(mapping(log.get("eval")).get("dataset")).get("sample_ids")
        self._places = {str(name): place for place, name in enumerate(ids if isinstance(ids, list) else ())}

    def __call__(self, sample: Mapping[str, Any]) -> tuple[int, list[tuple[int, str]], float]:
        name = str(sample.get("id"))
        natural = [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in _parts(name)]
        return (self._places.get(name, len(self._places)), natural, amount(sample.get("epoch")) or 0)


def _parts(name: str) -> list[str]:
    return re.findall(r"[0-9]{1,9}|[^0-9]+", name)


def _results(log: Mapping[str, Any]) -> str:
    scores = [
        f"{text(score.get('name'))} {text(key)} {value}"
        for score in listed(mapping(log.get("results")).get("scores"))
        for key, metric in mapping(score.get("metrics")).items()
        if (value := mapping(metric).get("value")) is not None
    ]
    return ", ".join(scores)


# -- one sample ----------------------------------------------------------------------------------------------------


def _read_sample(sample: Mapping[str, Any], log: Mapping[str, Any], out: ImportBuilder) -> None:
    attachments = Attachments(sample.get("attachments"))
    events = Events(sample, attachments)
    trace = out.trace(_title(sample, log), _about(sample, log))
    _settings(trace, log)
    trace.tools(events.tools)
    messages = listed(sample.get("messages")) or events.last_conversation()
    for data in messages:
        _read_message(data, trace, events, attachments, out)
    _last_numbers(sample, messages, events, trace)
    _end(sample, trace, attachments, out)
    if events.aside:
        trace.note(
            "import",
            f"model calls of this sample that are no part of its final conversation: {events.aside} (graders, "
            "sub-agents, or a history that was rewritten); they count in the stated total only",
        )


def _read_message(
    data: Mapping[str, Any], trace: TraceBuilder, events: Events, attachments: Attachments, out: ImportBuilder
) -> None:
    message, unknown = message_of(data, attachments)
    for kind in unknown:
        out.unread(f"a content block of the type {kind}")
    run = events.tool_run(text(data.get("tool_call_id"))) if data.get("role") == "tool" else None
    reply = events.reply_of(data) if data.get("role") == "assistant" else None
    at = run.ended if run else reply.at if reply else None
    trace.message(message, at=at, raw=data if unknown else None)
    if reply is not None:
        trace.numbers(reply)
    if run is not None:
        trace.tool_run(run.call_id, started=run.started, latency_ms=run.latency_ms)
    if error := mapping(data.get("error")):
        _failed(text(data.get("tool_call_id")), error, trace)


def _failed(call_id: str, error: Mapping[str, Any], trace: TraceBuilder) -> None:
    decisions = {"approval": "rejected", "timeout": "timed_out"}
    trace.tool_run(call_id, ok=False, decision=decisions.get(text(error.get("type"))))


def _last_numbers(
    sample: Mapping[str, Any], messages: list[Mapping[str, Any]], events: Events, trace: TraceBuilder
) -> None:
    """Logs without events keep the last call only: its usage is that of the sample where it is the only call."""
    output = mapping(sample.get("output"))
    if events.known or not output:
        return
    answers = sum(message.get("role") == "assistant" for message in messages)
    choices = listed(output.get("choices"))
    reason = choices[0].get("stop_reason") if choices else None
    trace.numbers(
        Reply(
            usage=usage_of(output.get("usage")) if answers == 1 else None,
            finish_reason=text(reason) or None,
            model=text(output.get("model")) or None,
        )
    )


def _title(sample: Mapping[str, Any], log: Mapping[str, Any]) -> str:
    task = text(mapping(log.get("eval")).get("task"))
    epochs = amount(mapping(mapping(log.get("eval")).get("config")).get("epochs")) or 1
    name = f"{sample.get('id')}, epoch {sample.get('epoch')}" if epochs > 1 else str(sample.get("id"))
    return f"{task}: sample {name}" if task else f"sample {name}"


def _about(sample: Mapping[str, Any], log: Mapping[str, Any]) -> dict[str, Any]:
    run = mapping(log.get("eval"))
    kept = {key: run[key] for key in ("task", "task_id", "run_id", "eval_id", "created", "dataset") if key in run}
    about = {key: sample[key] for key in ("id", "epoch", "target", "metadata", "uuid", "choices") if key in sample}
    return {**({"eval": kept} if kept else {}), "sample": about}


def _settings(trace: TraceBuilder, log: Mapping[str, Any]) -> None:
    run = mapping(log.get("eval"))
    provider, _, name = text(run.get("model")).partition("/")
    trace.model(name or provider, provider if name else None)
    names = ("task_args", "config", "model_generate_config", "model_args", "solver")
    if kept := {key: run[key] for key in names if run.get(key)}:
        trace.config(inspect=kept)


# -- how it ended --------------------------------------------------------------------------------------------------


def _end(sample: Mapping[str, Any], trace: TraceBuilder, attachments: Attachments, out: ImportBuilder) -> None:
    for retried in listed(sample.get("error_retries")):
        trace.note("error", f"an earlier attempt of this sample failed: {text(retried.get('message'))}")
    reason, detail = _reason(sample)
    trace.outcome(reason, detail=detail, final=_final(sample, attachments), checks=list(_checks(sample)))
    used = mapping(sample.get("model_usage")).values()
    usages = [usage for value in used if (usage := usage_of(value)) is not None]
    costs = [cost for value in used if (cost := amount(mapping(value).get("total_cost"))) is not None]
    seconds = amount(sample.get("total_time"))
    if seconds is None:
        spent = milliseconds(sample.get("started_at"), sample.get("completed_at"))
        seconds = None if spent is None else spent / 1000
    trace.reported(usage=Usage.sum(usages) if usages else None, cost=sum(costs) if costs else None, duration_s=seconds)
    if mapping(sample.get("invalidation")):
        out.warn("some samples of the log are marked as invalid")


def _reason(sample: Mapping[str, Any]) -> tuple[str | None, str | None]:
    error = sample.get("error")
    if error:
        return "error", text(mapping(error).get("message")) or text(error) or "the sample failed"
    limit = mapping(sample.get("limit"))
    kind = text(limit.get("type")) or text(sample.get("limit"))
    if kind:
        return _LIMITS.get(kind, kind), f"the {kind} limit of {limit.get('limit')} was reached" if limit else None
    return None, None


def _final(sample: Mapping[str, Any], attachments: Attachments) -> str | None:
    output = mapping(sample.get("output"))
    choices = listed(output.get("choices"))
    answer = output.get("completion") or (mapping(choices[0].get("message")).get("content") if choices else None)
    return text(attachments.resolved(answer)) or None


def _checks(sample: Mapping[str, Any]) -> Iterator[Evidence]:
    scores = mapping(sample.get("scores")) or ({"score": sample["score"]} if mapping(sample.get("score")) else {})
    for name, score in scores.items():
        score = mapping(score)
        value = score.get("value")
        parts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)]
        parts += [f"{key}: {score[key]}" for key in ("answer", "explanation") if text(score.get(key))]
        yield Evidence(check=name, ok=_holds(value), detail="\n".join(parts))


def _holds(value: Any) -> bool | None:
    """Whether a score says that the task was done: letters and 1 or 0 do, a degree between them does not."""
    if isinstance(value, str):
        return _GRADES.get(value)
    if isinstance(value, (bool, int, float)):
        return bool(value) if value in (0, 1) else None
    return None
