"""What a turn of a script says: the reply in the shortest form that says all of it, and the results of its calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent import faults, jsontext
from agent.messages import Message, ToolCall
from agent.models.json_action import KEY as JSON_ACTION
from agent.models.json_action import PARSE_FAILED
from agent.models.likeness import canonical
from agent.models.made_calls import ModelCall
from agent.models.replies import read_message
from agent.stops import StopReason
from agent.tool_result import error_in
from agent.trace import ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces.scripting.plan import UNMADE, runs_of

ENDS_HERE = "the recording ends here: what the model answered is not in it"
_FAILED = "the model call failed"
_REASONING = "reasoning_content"
_LONGEST_MS = 86_400_000
_STATUS = range(100, 600)
_OWN_WARNINGS = ("The server's context window is likely cutting", PARSE_FAILED, "unknown action")
"""How warnings begin that the loop or its adapter makes again."""


def turn_data(trace: Trace, call: ModelCall, *, json_action: bool) -> dict[str, Any]:
    """The keys of a turn that say what the model answered, and what came of it.

    Args:
        trace: never changed.
        call: the model call that becomes a turn.
        json_action: the script speaks that protocol: calls stand in the text, and their results elsewhere.
    """
    if call.kind == "summary":
        return _summary(call.note or {})
    if call.kind == UNMADE:
        return {"error": _failure(trace.outcome.reason, trace.outcome.detail or _FAILED)}
    step = trace.steps[call.step - 1]
    if call.kind == "refused":
        words = str((call.note or {}).get("text") or "the request is too long")
        return {"error": {"text": words, "kind": "context_overflow"}}
    if call.kind == "failed" or step.reply is None:
        return {"error": _error(trace, step, call.step)}
    message, runs = trace.messages[step.reply], runs_of(trace, step)
    data = _said_as_action(message) if json_action else _said(trace, step, message, runs)
    return data | dict(_numbers(step, message)) | _faults(trace, call.step)


def result_data(trace: Trace, run: ToolRun | None) -> dict[str, Any] | None:
    """What a tool answered, as a script writes it down; None where the trace holds no answer."""
    if run is None or run.message is None:
        return None
    text = _whole_text(trace, run.message)
    took = {} if (ms := _milliseconds(run.latency_ms)) is None else {"took_ms": ms}
    if run.ok is not False:
        return {"result": text, **took}
    told = error_in(text) or {}
    error, retryable = told.get("error"), told.get("retryable")
    usual = isinstance(error, str) and isinstance(retryable, bool)
    if usual and jsontext.dumps({"error": error, "retryable": retryable}) == text:
        return {"error": error, "retryable": retryable, **took}
    return {"result": text, "ok": False, **took}


def _whole_text(trace: Trace, position: int) -> str:
    """The text of a result before it was cut to its limit, which the loop does again."""
    raw = trace.entries[position].raw
    capped = isinstance(raw, str) and bool(trace.config.get("context"))
    return raw if capped else trace.messages[position].text


# ---- what the model said ----


def _said(trace: Trace, step: TraceStep, message: Message, runs: Sequence[ToolRun | None]) -> dict[str, Any]:
    results = [result_data(trace, run) for run in runs]
    if _is_plain(message):
        data: dict[str, Any] = {"reasoning": message.reasoning} if message.reasoning else {}
        if message.content or not message.tool_calls:
            data["text"] = message.content or ""
        ids = _own_ids(message.tool_calls)
        calls = [
            {"name": call.name, "arguments": _arguments(call), "id": call_id, **(result or {})}
            for call, call_id, result in zip(message.tool_calls, ids, results, strict=True)
        ]
        return data | ({"calls": calls} if calls else {})
    raw = _sent_by_provider(trace, step, message)
    data = {"message": _whole(message)} if raw is None else {"raw": raw}
    return data | ({"results": results} if any(results) else {})


def _is_plain(message: Message) -> bool:
    """Whether text, calls and reasoning say all of it."""
    reasoning = message.extra.get(_REASONING)
    extra = message.extra.keys() <= {_REASONING} and (reasoning is None or (isinstance(reasoning, str) and reasoning))
    named = all(call.name and not call.extra for call in message.tool_calls)
    text = message.content is None or isinstance(message.content, str)
    return bool(extra and named and text and message.name is None and message.tool_call_id is None)


def _arguments(call: ToolCall) -> dict[str, Any] | str:
    if call.problem is None:
        return call.arguments
    text = call.text or ""
    again = ToolCall.from_dict({"function": {"name": call.name, "arguments": text}})
    return text if again.problem == call.problem else call.arguments_text()


def _own_ids(calls: Sequence[ToolCall]) -> list[str]:
    """An id of its own for each call: those of the trace, as far as they are that."""
    ids: list[str] = []
    for call in calls:
        ids.append(call.id if call.id and call.id not in ids else _fresh(call.id, ids))
    return ids


def _fresh(call_id: str, taken: Sequence[str]) -> str:
    number = 2
    while (made := f"{call_id or 'call'}_{number}") in taken:
        number += 1
    return made


def _whole(message: Message) -> dict[str, Any]:
    """All keys, but for the role, which goes without saying."""
    data = {key: value for key, value in message.to_dict().items() if key not in ("role", "tool_call_id")}
    if message.tool_calls:
        ids = _own_ids(message.tool_calls)
        data["tool_calls"] = [call | {"id": new} for call, new in zip(data["tool_calls"], ids, strict=True)]
    return data


def _sent_by_provider(trace: Trace, step: TraceStep, message: Message) -> dict[str, Any] | None:
    """The form in which the provider sent a reply, where reading that gives the reply."""
    raw = None if step.reply is None else trace.entries[step.reply].raw
    if trace.source.kind == "import" or not isinstance(raw, dict) or raw.get("role", "assistant") != "assistant":
        return None
    again = read_message(raw, finish_reason=step.finish_reason).message
    same = canonical(again, "") == canonical(message, "") and again.reasoning == message.reasoning
    return raw if same else None


def _said_as_action(message: Message) -> dict[str, Any]:
    """The model's own words, which the adapter reads again."""
    said = str(message.extra.get(JSON_ACTION) or message.text)
    rest = {key: value for key, value in message.extra.items() if key != JSON_ACTION}
    return {"message": {"content": said, **rest}} if rest else {"text": said}


# ---- what else is known of it ----


def _numbers(step: TraceStep, message: Message) -> Iterator[tuple[str, Any]]:
    usual = "tool_calls" if message.tool_calls else "stop"
    if step.finish_reason and step.finish_reason != usual:
        yield "finish_reason", step.finish_reason
    if usage := _usage(step.usage):
        yield "usage", usage
    for name in ("latency_ms", "first_token_ms"):
        if (ms := _milliseconds(getattr(step, name))) is not None:
            yield name, ms
    if step.model:
        yield "model", step.model
    if _is_number(step.cost):
        yield "cost", step.cost
    if warnings := [words for words in step.warnings if not words.startswith(_OWN_WARNINGS)]:
        yield "warnings", warnings


def _usage(usage: Usage | None) -> dict[str, Any]:
    """What was reported; 0 is a report, and None is none."""
    known = {} if usage is None else usage.to_dict()
    return {key: value for key, value in known.items() if value is not None and value is not False}


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0


def _milliseconds(value: Any) -> float | None:
    return round(value, 3) if _is_number(value) and value <= _LONGEST_MS else None


def _faults(trace: Trace, number: int) -> dict[str, Any]:
    """The faults that have to strike again after this reply, for what they did stands in no message that is said.

    All others left their mark on a reply or a result, which is taken as it is.
    """
    wrong = any((item.get("kind"), item.get("step")) == (faults.WRONG_CALL_ID, number) for item in trace.interventions)
    kinds = [faults.WRONG_CALL_ID] if wrong else []
    if number == results_left_out_after(trace):
        kinds.append(faults.RESULTS_NOT_WRITTEN_BACK)
    return {"faults": kinds} if kinds else {}


def results_left_out_after(trace: Trace) -> int | None:
    """The number of the step after which a fault kept results out of requests; None where there was none.

    The first request holds none in any case.
    """
    for item in trace.interventions:
        if item.get("kind") == faults.RESULTS_NOT_WRITTEN_BACK:
            return max(1, (item.get("step") or 1) - 1)
    return None


def _summary(note: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"text": str(note.get("text") or "")}
    usage = note.get("usage")
    if isinstance(usage, Mapping) and (known := _usage(Usage.from_dict(usage))):
        data["usage"] = known
    if (ms := _milliseconds(note.get("latency_ms"))) is not None:
        data["latency_ms"] = ms
    return data | ({"cost": note["cost"]} if _is_number(note.get("cost")) else {})


# ---- failed calls ----


def _error(trace: Trace, step: TraceStep, number: int) -> dict[str, Any]:
    """How a model call failed: as the end of the turn says it, or the last attempt."""
    reason, detail = _end_at(trace, number)
    last = step.retries[-1] if step.retries else {}
    text = detail or str(last.get("error") or _FAILED)
    status = last.get("status")
    known = isinstance(status, int) and status in _STATUS
    return _failure(reason, text) | ({"status": status} if known else {})


def _failure(reason: str | None, text: str) -> dict[str, Any]:
    return {"text": text} | ({"kind": "context_overflow"} if reason == StopReason.CONTEXT_OVERFLOW else {})


def _end_at(trace: Trace, number: int) -> tuple[str | None, str]:
    """Reason and detail of the end of the run at this step."""
    for note in trace.notes:
        outcome, failure = note.get("outcome"), note.get("failure")
        if note.get("step") != number:
            continue
        if isinstance(outcome, Mapping):
            return outcome.get("reason"), str(outcome.get("detail") or "")
        if isinstance(failure, (list, tuple)) and len(failure) == 2:
            return str(failure[0]), str(failure[1])
    return trace.outcome.reason, trace.outcome.detail
