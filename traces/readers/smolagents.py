"""smolagents: the memory of an agent as a list of steps, results of runs, and rows of its GAIA runs.

Source: huggingface/smolagents, ``src/smolagents/memory.py``. A step has one text of observations for all of its calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent.trace import Evidence
from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, known_usage, milliseconds, moment, text
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.parts import Parts, listed, mapping

NAME = "smolagents"
_LOOKED_AT = 20
_STEP_KEYS = frozenset(
    ("model_output", "tool_calls", "observations", "code_action", "timing", "action_output", "token_usage")
)
_GAIA_KEYS = frozenset(("question", "prediction", "intermediate_steps"))
_CODE_TOOL = "python_interpreter"
_PRINTED = {"SystemPromptStep(": "system", "TaskStep(": "user"}
"""How a step begins that was printed rather than written as JSON, and whose words it holds."""
_PRINTED_ROLE = re.compile(r"role=<MessageRole\.([A-Z_]+)")
_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "tool-call": "assistant"}
"""The library's roles in our words; a ``tool-response`` answers no call, as calls are written out as text."""
_STATES = {"success": "final", "max_steps_error": "max_iterations"}


def matches(document: Document) -> bool:
    """Steps, a list of steps under a key of an object, or rows with intermediate steps."""
    if any(_is_step(record) for record in document.records[:_LOOKED_AT]):
        return True
    return any(_is_row(record) or bool(_memories(record)) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read every run; steps that stand alone are those of one run."""
    loose: _Run | None = None
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if _is_row(record):
            _read_row(record, out, line)
        elif memories := _memories(record):
            _read_memories(memories, record, out)
        elif isinstance(record, Mapping) and (_is_step(record) or loose is not None or _opens(record)):
            loose = loose or _Run(out.trace(), out)
            loose.step(record, line)
        else:
            out.unread("a record that is no step of an agent")


def _is_step(value: Any) -> bool:
    return isinstance(value, Mapping) and "step_number" in value and len(_STEP_KEYS & value.keys()) > 1


def _opens(value: Mapping[str, Any]) -> bool:
    return not value.keys().isdisjoint(("task", "system_prompt", "plan"))


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() >= _GAIA_KEYS


def _memories(value: Any) -> dict[str, list[Mapping[str, Any]]]:
    """The lists of steps that an object holds, by the name of the agent or of the key; of a list, the list itself."""
    if isinstance(value, list):
        return {"": listed(value)} if any(map(_is_step, value[:_LOOKED_AT])) else {}
    found: dict[str, list[Mapping[str, Any]]] = {}
    for key, inner in mapping(value).items():
        steps = mapping(inner).get("steps") if isinstance(inner, Mapping) else inner
        if isinstance(steps, list) and any(map(_is_step, steps[:_LOOKED_AT])):
            found[key] = listed(steps)
    return found


def _read_memories(memories: Mapping[str, list[Mapping[str, Any]]], record: Any, out: ImportBuilder) -> None:
    data = mapping(record)
    for name, steps in memories.items():
        about = {key: value for key, value in data.items() if key not in memories and key != "messages"}
        run = _Run(out.trace("" if len(memories) == 1 else name, about), out)
        for step in steps:
            run.step(step, None)
        trace = run.trace
        trace.reported(
            usage=_usage(data.get("token_usage")), duration_s=amount(mapping(data.get("timing")).get("duration"))
        )
        if state := text(data.get("state")):
            trace.outcome(_STATES.get(state, state), final=as_text(data["output"]) if data.get("output") else None)


# -- steps ---------------------------------------------------------------------------------------------------------


_GAVE_UP = "AgentMaxStepsError"


class _Run:
    """The steps of one run, each turned into messages."""

    def __init__(self, trace: TraceBuilder, out: ImportBuilder) -> None:
        self.trace = trace
        self._out = out
        self._began = False

    def step(self, step: Mapping[str, Any], line: int | None) -> None:
        """Append the messages of a step, whatever its kind."""
        if isinstance(step.get("system_prompt"), (str, Mapping)):
            prompt = step["system_prompt"]
            words = prompt if isinstance(prompt, str) else mapping(prompt).get("system_prompt")
            self.trace.message({"role": "system", "content": as_text(words)}, line=line)
        elif "task" in step and "step_number" not in step:
            self.trace.message({"role": "user", "content": as_text(step["task"])}, line=line)
        elif "plan" in step:
            self._begin(step)
            self.trace.message({"role": "assistant", "content": as_text(step["plan"])}, at=_end(step), line=line)
            self.trace.numbers(_reply(step, alone=True))
        elif "step_number" in step:
            self._begin(step)
            if mapping(step.get("error")).get("type") == _GAVE_UP and step.get("action_output") is not None:
                self._give_up(step, line)
            else:
                self._act(step, line)
        else:
            self._out.unread("a step of an unknown kind")
        self._began = True

    def _begin(self, step: Mapping[str, Any]) -> None:
        """A memory without its first steps: what the model was given first stands in its first request."""
        if self._began:
            return
        for message in listed(step.get("model_input_messages")):
            role = _role(message.get("role"))
            if role in ("system", "user"):
                self.trace.message({"role": role, "content": message.get("content")})

    def _give_up(self, step: Mapping[str, Any], line: int | None) -> None:
        """After the last step that was allowed, the model is asked once more, for an answer."""
        reason, answer = as_text(mapping(step.get("error")).get("message")), as_text(step["action_output"])
        self.trace.message({"role": "user", "content": reason}, line=line, maker="code")
        self.trace.message({"role": "assistant", "content": answer}, at=_end(step), line=line)
        self.trace.numbers(_reply(step, alone=True))
        self.trace.outcome("max_iterations", final=answer, detail=reason)

    def _act(self, step: Mapping[str, Any], line: int | None) -> None:
        parts = Parts()
        output = step.get("model_output")
        if isinstance(output, str):
            parts.text(output)
        for part in listed(output):
            parts.add(part)
        raw = mapping(step.get("model_output_message"))
        calls = listed(step.get("tool_calls")) or listed(raw.get("tool_calls"))  # calls that failed are in the second
        for call in calls:
            _add_call(call, parts)
        message = parts.message("assistant")
        if message["content"] is None and not calls:
            message["content"] = ""
        reasoned = raw.get("reasoning_content")
        if isinstance(reasoned, str) and reasoned:
            message["reasoning_content"] = reasoned
        self.trace.message(message, at=None if calls else _end(step), line=line)
        self.trace.numbers(_reply(step, alone=not calls))
        self._observe(step, calls, line)
        if step.get("is_final_answer") is True:
            self.trace.outcome("final", final=as_text(step.get("action_output")))

    def _observe(self, step: Mapping[str, Any], calls: list[Mapping[str, Any]], line: int | None) -> None:
        error = mapping(step.get("error"))
        seen, failure = text(step.get("observations")), text(error.get("message")) or as_text(error or "")
        if not seen and not failure:
            return
        content = "\n".join(filter(None, (seen, failure)))
        if not calls:
            maker = "code" if failure else "environment"
            self.trace.message({"role": "user", "content": content}, at=_end(step), line=line, maker=maker)
            return
        first = text(calls[0].get("id"))
        message = {"role": "tool", "tool_call_id": first, "content": content}
        position = self.trace.message(message, at=_end(step), line=line)
        self.trace.shared_result(position)
        if failure:
            for call in calls:
                self.trace.tool_run(text(call.get("id")), ok=False)


def _add_call(call: Mapping[str, Any], parts: Parts) -> None:
    function = mapping(call.get("function")) or call
    name, arguments = text(function.get("name")), function.get("arguments")
    if not isinstance(arguments, Mapping):  # agents that write code give it as it is
        arguments = {"code" if name == _CODE_TOOL else "input": arguments} if arguments not in (None, "") else {}
    parts.call(call.get("id"), name, arguments)


def _reply(step: Mapping[str, Any], *, alone: bool) -> Reply:
    """The numbers of a step. Its time holds its tools as well: it is the model's where no tool ran."""
    timing = mapping(step.get("timing"))
    seconds = amount(timing.get("duration"))
    spent = milliseconds(timing.get("start_time"), timing.get("end_time"))
    if spent is None and seconds is not None:
        spent = round(seconds * 1000, 3)
    return Reply(
        usage=_usage(step.get("token_usage")),
        started=moment(timing.get("start_time")),
        latency_ms=spent if alone else None,
    )


def _end(step: Mapping[str, Any]) -> str | None:
    return moment(mapping(step.get("timing")).get("end_time"))


def _usage(value: Any) -> Usage | None:
    data = mapping(value)
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
    return known_usage({ours: data.get(theirs) for ours, theirs in names.items()})


# -- rows of GAIA runs ---------------------------------------------------------------------------------------------


def _read_row(row: Mapping[str, Any], out: ImportBuilder, line: int | None) -> None:
    trace = out.trace("", {key: value for key, value in row.items() if key != "intermediate_steps"})
    steps = row["intermediate_steps"] if isinstance(row["intermediate_steps"], list) else []
    if not any(isinstance(step, Mapping) and ("task" in step or _role(step.get("role")) == "user") for step in steps):
        trace.message({"role": "user", "content": as_text(row["question"])}, line=line)
    run = _Run(trace, out)
    for message in _row_steps(steps):
        if "role" in message:
            from_tool = message["role"] not in _ROLES.values()
            message["role"] = "user" if from_tool else message["role"]
            trace.message(message, line=line, maker="environment" if from_tool else None)
        else:
            run.step(message, line)
    if isinstance(steps_text := row["intermediate_steps"], str) and steps_text:
        out.unread("steps that were printed rather than written as JSON")
        trace.message({"role": "assistant", "content": steps_text}, line=line)
    trace.model(row.get("model_id") or row.get("model"))
    prediction = None if row["prediction"] is None else as_text(row["prediction"])
    expected = row.get("true_answer")
    checks = [] if expected is None else [Evidence(check="expected answer", ok=None, detail=as_text(expected))]
    failed = text(row.get("agent_error"))
    reason = "error" if failed else "max_iterations" if row.get("iteration_limit_exceeded") is True else None
    trace.outcome(reason, final=prediction, detail=failed or None, checks=checks)
    spent = milliseconds(row.get("start_time"), row.get("end_time"))
    trace.reported(duration_s=None if spent is None else spent / 1000)


def _row_steps(steps: list[Any]) -> Iterator[dict[str, Any]]:
    """Steps as they are, messages with their role, and what was printed as a message that holds the printed text."""
    for step in steps:
        if isinstance(step, Mapping):
            yield {**step, "role": _role(step["role"])} if "role" in step else dict(step)
            continue
        words = as_text(step)
        role = next((role for begin, role in _PRINTED.items() if words.startswith(begin)), "assistant")
        named = _PRINTED_ROLE.search(words[:200])
        yield {"role": _role(named[1]) if named else role, "content": words}


def _role(value: Any) -> str:
    """A role, also as Python prints it: ``MessageRole.TOOL_CALL``."""
    word = text(value).rpartition(".")[2].lower().replace("_", "-")
    return _ROLES.get(word, word)
