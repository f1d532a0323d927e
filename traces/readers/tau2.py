"""tau2-bench: results with simulations, and single simulations. The simulated user can call tools as well.

Source: sierra-research/tau2-bench, ``src/tau2/data_model/message.py`` and ``simulation.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent.usage import Usage
from traces.builder import TraceBuilder
from traces.container import Document
from traces.importing import ImportBuilder
from traces.readers.fields import amount, moment, text
from traces.readers.rewards import reward
from traces.repair import as_text
from traces.reply import Reply
from traces.wire.parts import listed, mapping

NAME = "tau2-bench"
_LOOKED_AT = 20
_REASONS = {
    "agent_stop": "final",
    "max_steps": "max_iterations",
    "timeout": "deadline",
    "too_many_errors": "consecutive_errors",
}
"""Why a simulation ended, in our words where there is one."""


def matches(document: Document) -> bool:
    """Results, or simulations."""
    return any(_is_results(record) or _is_simulation(record) for record in document.records[:_LOOKED_AT])


def read(document: Document, out: ImportBuilder) -> None:
    """Read every simulation."""
    for number, record in enumerate(document.records):
        line = document.line_of(number)
        if _is_simulation(record):
            _read_simulation(record, {}, out, line)
        elif _is_results(record):
            _read_results(record, out, line)
        else:
            out.unread("a record that is neither a simulation nor results of simulations")


def _is_simulation(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and "termination_reason" in value
        and not value.keys().isdisjoint(("messages", "ticks"))
    )


def _is_results(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("tasks"), list):
        return False
    return (
        isinstance(value.get("simulations"), list) or {"agent_info", "user_info"} <= mapping(value.get("info")).keys()
    )


def _read_results(record: Mapping[str, Any], out: ImportBuilder, line: int | None) -> None:
    simulations = listed(record.get("simulations"))
    if not simulations:
        out.warn("this file lists the settings and tasks only; each simulation is a file of its own beside it")
    tasks = {as_text(task.get("id")): task for task in listed(record.get("tasks"))}
    for simulation in simulations:
        context = {"info": mapping(record.get("info")), "task": tasks.get(as_text(simulation.get("task_id")), {})}
        _read_simulation(simulation, context, out, line)


def _read_simulation(
    simulation: Mapping[str, Any], context: Mapping[str, Mapping[str, Any]], out: ImportBuilder, line: int | None
) -> None:
    info = context.get("info", {})
    trial = simulation.get("trial")
    title = f"task {simulation.get('task_id')}" + ("" if trial is None else f", trial {trial}")
    about = {key: value for key, value in simulation.items() if key not in ("messages", "ticks")}
    trace = out.trace(title, {**about, **({"task": context["task"]} if context.get("task") else {})})
    _settings(info, trace)
    for message in _messages(simulation):
        _read_message(message, trace, line)
    if ticks := simulation.get("ticks"):
        number = len(ticks) if isinstance(ticks, list) else 1
        out.unread(f"the {number:,} ticks of a voice run: pieces of sound, which are no messages")
    if simulation.get("reward_info"):
        details = mapping(simulation["reward_info"])
        trace.outcome(checks=[reward(details.get("reward"), details)])
    reason = text(simulation.get("termination_reason"))
    trace.outcome(_REASONS.get(reason, reason) or None, detail=f"termination reason: {reason}")
    seconds = amount(simulation.get("duration"))
    trace.reported(cost=amount(simulation.get("agent_cost")), duration_s=None if seconds is None else round(seconds, 3))


def _settings(info: Mapping[str, Any], trace: TraceBuilder) -> None:
    agent, environment = mapping(info.get("agent_info")), mapping(info.get("environment_info"))
    provider, _, name = text(agent.get("llm")).rpartition("/")
    trace.model(name, provider)
    kept = {"agent": agent, "user": info.get("user_info"), "policy": environment.get("policy")}
    if known := {key: value for key, value in kept.items() if value}:
        trace.config(tau2=known)


def _messages(simulation: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The messages in order; several results of one turn may come in one wrapper."""
    for message in listed(simulation.get("messages")):
        wrapped = listed(message.get("tool_messages"))
        yield from wrapped or [message]


def _read_message(data: Mapping[str, Any], trace: TraceBuilder, line: int | None) -> None:
    role, requestor = text(data.get("role")), text(data.get("requestor"))
    message: dict[str, Any] = {"role": role, "content": data.get("content")}
    if data.get("is_audio") is True:
        message["content"] = data.get("audio_script_gold")
    if calls := listed(data.get("tool_calls")):
        message["tool_calls"] = [
            {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("arguments")}}
            for call in calls
        ]
    if role == "tool":
        message["tool_call_id"] = data.get("id") or data.get("tool_call_id")
    agent = "user" if requestor == "user" else None
    at = moment(data.get("timestamp"))
    trace.message(message, at=at, line=line, agent=agent, maker="user" if role == "user" else None)
    if role == "assistant":
        trace.numbers(_reply(data))
    elif role == "tool" and data.get("error") is True:
        trace.tool_run(text(message["tool_call_id"]), ok=False)


def _reply(data: Mapping[str, Any]) -> Reply:
    """The numbers of the agent's own calls; those of the simulated user are not part of the run's."""
    seconds = amount(data.get("generation_time_seconds"))
    raw = mapping(data.get("raw_data"))
    return Reply(
        usage=Usage.from_openai(data.get("usage")),
        cost=amount(data.get("cost")),
        latency_ms=None if seconds is None else round(seconds * 1000, 3),
        model=text(raw.get("model")) or None,
    )
