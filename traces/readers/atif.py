"""ATIF, the Agent Trajectory Interchange Format of Harbor and Terminal-Bench, versions 1.0 to 1.7.

Source: harbor, ``docs/rfcs/0001-trajectory-format.md``. A step of the agent holds its calls and their results. Its
tokens are by our rules already: cached ones are part of the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, known_usage, moment, text
from traces.repair import as_text
from traces.reply import Reply
from traces.wire import openai_chat
from traces.wire.parts import Parts, linked, listed, mapping, media

NAME = "atif"
_ROLES = {"agent": "assistant", "user": "user", "system": "system"}
_SUBAGENTS = "subagent_trajectories"
_REFERENCES = ("trajectory_id", "session_id", "trajectory_path")
_LOOKED_AT = 20


def matches(document: Document) -> bool:
    """A trajectory, or trajectories one level down in an object or a list."""
    return any(True for record in document.records[:_LOOKED_AT] for _ in _trajectories(record))


def read(document: Document, out: ImportBuilder) -> None:
    """Read every trajectory; those of sub-agents follow the one that refers to them and name it as their parent."""
    found: list[tuple[Mapping[str, Any], int | None]] = []
    for number, record in enumerate(document.records):
        trajectories = list(_trajectories(record))
        if not trajectories:
            out.unread("a record that is no trajectory")
        found += [(trajectory, document.line_of(number)) for trajectory in trajectories]
    _Family(out).read(found)


def _trajectories(value: Any) -> Iterator[Mapping[str, Any]]:
    """The trajectory itself, or those that an object or a list around them holds."""
    if _is_trajectory(value):
        yield value
        return
    inner = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    for item in inner:
        for candidate in item if isinstance(item, list) else [item]:
            if _is_trajectory(candidate):
                yield candidate


def _is_trajectory(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("steps"), list):
        return False
    if text(value.get("schema_version")).upper().startswith("ATIF"):
        return True
    steps = listed(value["steps"])
    return isinstance(value.get("agent"), Mapping) and bool(steps) and {"step_id", "source"} <= steps[0].keys()


class _Family:
    """The trajectories of one file, each read after the one that refers to it."""

    def __init__(self, out: ImportBuilder) -> None:
        self._out = out
        self._parents: dict[str, str] = {}
        """What a trajectory refers to another by -> the id of its trace."""

    def read(self, found: list[tuple[Mapping[str, Any], int | None]]) -> None:
        """Read all: the outer ones first. Those that refer to each other in a circle have no parent."""
        referred = {name for trajectory, _ in found for name in _references(trajectory)}
        inner = [item for item in found if not _names(item[0]).isdisjoint(referred)]
        for trajectory, line in [item for item in found if item not in inner]:
            self._read_one(trajectory, line, None)
        while inner:
            ready = next((item for item in inner if self._parent(item[0])), inner[0])
            inner.remove(ready)
            self._read_one(*ready, self._parent(ready[0]))

    def _parent(self, trajectory: Mapping[str, Any]) -> str | None:
        return next((self._parents[name] for name in sorted(_names(trajectory)) if name in self._parents), None)

    def _read_one(self, trajectory: Mapping[str, Any], line: int | None, parent: str | None) -> None:
        waiting = [(trajectory, parent)]
        while waiting:
            current, above = waiting.pop(0)
            trace_id = _read_trajectory(current, self._out, line, above)
            for name in _references(current):
                self._parents.setdefault(name, trace_id)
            waiting += [(child, trace_id) for child in listed(current.get(_SUBAGENTS)) if _is_trajectory(child)]


def _names(trajectory: Mapping[str, Any]) -> set[str]:
    """What others may refer to it by."""
    return {name for key in ("trajectory_id", "session_id") if (name := text(trajectory.get(key)))}


def _references(trajectory: Mapping[str, Any]) -> list[str]:
    """What a trajectory refers to: the sub-agents that its results name."""
    own = _names(trajectory)
    return [
        name
        for step in listed(trajectory.get("steps"))
        for result in _results(step)
        for reference in _listed(result.get("subagent_trajectory_ref"))
        for key in _REFERENCES
        if (name := text(reference.get(key))) and name not in own
    ]


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [value] if isinstance(value, dict) else listed(value)


def _results(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return listed(mapping(step.get("observation")).get("results"))


# -- one trajectory ------------------------------------------------------------------------------------------------


def _read_trajectory(trajectory: Mapping[str, Any], out: ImportBuilder, line: int | None, parent: str | None) -> str:
    agent, steps = mapping(trajectory.get("agent")), listed(trajectory.get("steps"))
    about = {key: value for key, value in trajectory.items() if key not in ("steps", _SUBAGENTS)}
    name = text(agent.get("name"))
    trace = out.trace(name if parent else "", about, parent=parent)
    trace.model(agent.get("model_name"))
    trace.tools(openai_chat.tools_of({"tools": agent.get("tool_definitions")}))
    reader = _Steps(trace, out, line, calls=any(listed(step.get("tool_calls")) for step in steps))
    for step in steps:
        reader.read(step)
    if reader.copied:
        trace.note("copied", f"messages copied from an earlier trajectory, whose tokens count there: {reader.copied}")
    if following := trajectory.get("continued_trajectory_ref"):
        trace.note("import", f"the trajectory goes on in {as_text(following)}")
    if remarks := text(trajectory.get("notes")):
        trace.note("import", remarks)
    _totals(mapping(trajectory.get("final_metrics")), trace)
    return trace.trace_id


def _totals(metrics: Mapping[str, Any], trace: TraceBuilder) -> None:
    names = ("prompt_tokens", "completion_tokens", "cached_tokens")
    usage = known_usage({name: metrics.get(f"total_{name}") for name in names})
    trace.reported(usage=usage, cost=amount(metrics.get("total_cost_usd")))


class _Steps:
    """The steps of one trajectory, turned into messages one after another."""

    def __init__(self, trace: TraceBuilder, out: ImportBuilder, line: int | None, *, calls: bool) -> None:
        self.copied = 0
        self._trace = trace
        self._out = out
        self._line = line
        self._result_role = "tool" if calls else "user"
        """Agents that write their actions as text have no calls that a result could answer."""

    def read(self, step: Mapping[str, Any]) -> None:
        """Append the step's message and its results."""
        source = text(step.get("source")) or text(step.get("role"))
        parts = self._parts(step.get("message", step.get("content")))
        parts.thought(text(step.get("reasoning_content")))
        for call in listed(step.get("tool_calls")):
            extra = {"extra": call["extra"]} if call.get("extra") else {}
            function = mapping(call.get("function")) or {"name": call.get("function_name"), **call}
            parts.call(_call_id(call), function.get("name"), function.get("arguments"), **extra)
        message = parts.message(_ROLES.get(source, source))
        if "tool_call_id" in step:
            message["tool_call_id"] = step["tool_call_id"]
        if message["content"] is None and not message.get("tool_calls"):
            message["content"] = ""
        only_observed = source == "system" and not message["content"] and _results(step)
        if not only_observed:
            self._append(message, step, made_by_code=source == "agent" and step.get("llm_call_count") == 0)
        self._read_results(step)

    def _append(self, message: dict[str, Any], step: Mapping[str, Any], *, made_by_code: bool) -> None:
        at = moment(step.get("timestamp"))
        self._trace.message(message, at=at, line=self._line, maker="code" if made_by_code else None)
        if step.get("is_copied_context") is True:
            self.copied += 1
        elif message["role"] == "assistant":
            self._trace.numbers(_reply(step))

    def _read_results(self, step: Mapping[str, Any]) -> None:
        results = _results(step)
        named = {text(result.get("source_call_id")) for result in results}
        asked = [_call_id(call) for call in listed(step.get("tool_calls"))]
        open_calls = [call_id for call_id in asked if call_id not in named]
        for result in results:
            call_id = text(result.get("source_call_id"))
            if not call_id:
                call_id = open_calls.pop(0) if open_calls else ""
            position = self._read_result(result, call_id, answers=bool(asked))
            if len(results) == 1 and not text(result.get("source_call_id")) and asked:
                self._trace.shared_result(position)  # one look at the terminal after all of them

    def _read_result(self, result: Mapping[str, Any], call_id: str, *, answers: bool) -> int:
        content = self._parts(result.get("content")).content
        message = {"role": self._result_role, "content": "" if content is None else content}
        if self._result_role == "tool":
            message["tool_call_id"] = call_id or ("" if answers else "observation")
        position = self._trace.message(message, line=self._line, maker="environment")
        extra = mapping(result.get("extra"))
        if extra.get("is_error") is True or extra.get("error"):
            self._trace.tool_run(call_id, ok=False)
        return position

    def _parts(self, content: Any) -> Parts:
        parts = Parts()
        for part in content if isinstance(content, list) else [] if content is None else [content]:
            source = mapping(mapping(part).get("source"))
            if not isinstance(part, Mapping):
                parts.text(as_text(part))
            elif part.get("type") == "text" and isinstance(part.get("text"), str):
                parts.text(part["text"])
            elif isinstance(source.get("data"), str):
                parts.add(media(source.get("media_type"), source["data"]))
            elif place := text(source.get("path")) or text(source.get("url")):
                parts.add(linked(place, source.get("media_type")))
            else:
                parts.add(part)
                self._out.unread(f"a content part of the type {text(part.get('type')) or 'unknown'}")
        return parts


def _call_id(call: Mapping[str, Any]) -> str:
    return text(call.get("tool_call_id")) or text(call.get("id"))


def _reply(step: Mapping[str, Any]) -> Reply:
    """The numbers of one step. Token ids and log probabilities, which make such files large, are left out."""
    metrics = mapping(step.get("metrics"))
    extra = mapping(metrics.get("extra"))
    usage = known_usage(
        {
            **{name: metrics.get(name) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")},
            "cache_write_tokens": extra.get("cache_creation_input_tokens", extra.get("cache_write_tokens")),
            "total_tokens": extra.get("total_tokens"),
            "reasoning_tokens": extra.get("reasoning_tokens", extra.get("reasoning_output_tokens")),
        }
    )
    return Reply(
        usage=usage,
        model=text(step.get("model_name")) or None,
        cost=amount(metrics.get("cost_usd")),
        latency_ms=amount(extra.get("latency_ms")),
        first_token_ms=amount(extra.get("first_token_ms")),
        finish_reason=text(extra.get("finish_reason")) or None,
    )
