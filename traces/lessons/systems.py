"""The five systems side by side: one task, run by our one loop in the manner of each, and what each makes of it.

What is shown is what such a run really left behind; which lines of ``agent/`` are which idea is found by their names.
The words stand in ``systems.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from agent import jsontext
from agent.events import AgentEvent, Phase
from agent.loop import Loop
from agent.models.json_action import to_chat
from agent.noting import step_record
from agent.result import steps_of
from agent.scripts import Script, parse_script, source
from agent.trace import Outcome, Trace, TraceStep
from traces.lessons.lesson import System, Text
from traces.lessons.scripts import in_language

FILE = Path(__file__).with_name("systems.yaml")

Kind = Literal["lines", "events", "records", "chat", "rounds"]
"""What a system shows of a run: printed lines, events, records of steps, the words of both sides, or rounds."""


@dataclass(frozen=True, slots=True)
class Idea:
    """One idea of a system, and the lines that are it."""

    at: str
    """Module and name: ``agent.loop:Loop._decide``."""
    text: Text

    @property
    def code(self) -> Callable[..., Any]:
        """The function or class with these lines.

        Raises:
            ImportError, AttributeError: there is none of this name any more.
        """
        module, _, names = self.at.partition(":")
        found: Any = import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
        return found  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class RunOf:
    """One run of the task in the manner of a system."""

    kind: Kind
    """How it is shown."""
    script: Mapping[str, Any]
    """The keys of its script, each text in both languages."""
    title: Text | None = None
    """Of a run of another task than the common one."""

    def script_in(self, language: str) -> Script:
        """The script in a language."""
        return parse_script(jsontext.dumps(in_language(self.script, language)), "systems.json")


@dataclass(frozen=True, slots=True)
class SystemInfo:
    """One of the five systems."""

    name: System
    origin: Text
    """Where it comes from."""
    point: Text
    """What it is about."""
    shows: Text
    """What it shows that the others do not."""
    lacks: Text
    added: Text
    """What this project did about that."""
    lesson: str
    """The name of the lesson that belongs to it."""
    runs: tuple[RunOf, ...]
    ideas: tuple[Idea, ...]
    duties: Mapping[str, Text]
    """Who is responsible for what, by maker; only the bounded loop says it."""


@dataclass(frozen=True, slots=True)
class Produced:
    """What a run in the manner of a system left to see."""

    kind: Kind
    lines: tuple[str, ...]
    """Of the kinds ``lines`` and ``chat``."""
    rows: tuple[Mapping[str, Any], ...]
    """Of the other kinds: one for each event, record or round."""
    outcome: Outcome
    tokens: int
    """Of all model calls."""


@cache
def systems() -> tuple[SystemInfo, ...]:
    """The five systems, in their order."""
    data = source.read(source.text_of(FILE), FILE.name)
    return tuple(_system(each, data) for each in data["systems"])


@cache
def common_task() -> Text:
    """What all of them are asked to do."""
    task = source.read(source.text_of(FILE), FILE.name)["script"]["task"]
    return Text(task["en"], task["zh"])


@cache
def produce(system: System, number: int, language: str) -> Produced:
    """Play a run of a system to its end, without waiting, and give what it shows. Made once.

    Args:
        system: which one.
        number: which of its runs, from 0.
        language: in which the run speaks, ``en`` or ``zh``.
    """
    info = next(each for each in systems() if each.name is system)
    run = info.runs[number]
    script = run.script_in(language)
    loop, seen = script.loop(pace=0), _Seen()
    loop.start(script.opening)
    while loop.phase is not None:
        ends_step = loop.phase is Phase.DECIDE
        seen.events += loop.advance()
        if ends_step:
            seen.records.append(step_record(loop.run, "DONE" if loop.phase is None else "OBSERVE"))
    return _shown(run.kind, loop, seen)


class _Seen:
    """What passes by while a run goes on."""

    def __init__(self) -> None:
        self.events: list[AgentEvent] = []
        self.records: list[dict[str, Any]] = []


def _shown(kind: Kind, loop: Loop, seen: _Seen) -> Produced:
    trace = loop.trace
    lines: list[str] = []
    rows: list[Mapping[str, Any]] = []
    match kind:
        case "lines":
            lines = [str(step) for step in steps_of(trace)]
        case "chat":
            lines = [f"{each.role}: {each.text}" for each in to_chat(trace.messages, loop.tools.schemas())]
        case "events":
            rows = [
                {"event": event.type, "maker": str(event.maker), "payload": jsontext.dumps(event.payload)}
                for event in seen.events
            ]
        case "records":
            rows = [{**record, "tool_latency_ms": jsontext.dumps(record["tool_latency_ms"])} for record in seen.records]
        case "rounds":
            rows = [_round(trace, step) for step in trace.steps]
    return Produced(kind, tuple(lines), tuple(rows), trace.outcome, trace.usage.total or 0)


def _round(trace: Trace, step: TraceStep) -> dict[str, Any]:
    """Plan, act, observe: what the model wanted, what ran, what came of it."""
    calls = [f"{tool.name}({jsontext.dumps(tool.arguments)})" for tool in step.tools]
    results = [trace.messages[tool.message].text for tool in step.tools if tool.message is not None]
    said = trace.messages[step.reply].text if step.reply is not None else ""
    return {
        "round": step.index,
        "plan": "; ".join(calls) or said,
        "act": ", ".join(str(tool.decision) for tool in step.tools),
        "observe": "; ".join(results),
        "tokens": step.usage.total if step.usage else None,
    }


def _system(each: Mapping[str, Any], data: Mapping[str, Any]) -> SystemInfo:
    return SystemInfo(
        name=System(each["name"]),
        origin=_text(each["from"]),
        point=_text(each["point"]),
        shows=_text(each["shows"]),
        lacks=_text(each["lacks"]),
        added=_text(each["added"]),
        lesson=each["lesson"],
        runs=tuple(_run(run, data) for run in each["runs"]),
        ideas=tuple(Idea(idea["at"], _text(idea["text"])) for idea in each["ideas"]),
        duties={maker: _text(words) for maker, words in each.get("duties", {}).items()},
    )


def _run(run: Mapping[str, Any], data: Mapping[str, Any]) -> RunOf:
    idle = run.get("idle", False)
    base = {**data["idle" if idle else "script"]}
    title = base.pop("title", None)
    return RunOf(run["output"], {**base, **run.get("changes", {})}, _text(title) if title else None)


def _text(words: Mapping[str, str] | str) -> Text:
    return Text(words, words) if isinstance(words, str) else Text(words["en"], words["zh"])
