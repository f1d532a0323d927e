"""What the form has to know of a subject: its steps, its tools, and whether anything says that a task is done."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.errors import AgentError
from agent.scripts import Script, load_script
from agent.trace import Trace
from pages.parts.ablate_design_draft import base
from pages.parts.chosen_script import find_script
from pages.parts.opened import read_kept
from pages.parts.options import options
from traces.experiments.design.experiment import Experiment, Subject
from traces.text import message_text

_WORD = re.compile(r"[A-Z]{3,}|\d{2,}|\w{4,}")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a subject."""

    steps: int = 0
    """Recorded steps of a trace; 0: there is no recording."""
    first_call: int = 1
    """The first step of a trace that asks for a tool; 1 where none does."""
    tools: tuple[str, ...] = ()
    """Names of the tools on offer."""
    answer: str = ""
    """The recorded final answer; empty where the last reply asked for calls, so that a rerun ends without one."""
    checked: bool = False
    """Whether the subject brings evidence of its own."""
    word: str = ""
    """A word that a tool result holds, as an example; empty where none is recorded."""
    problem: str = ""
    """Why nothing is known of it, in a sentence."""


def facts_of(subject: Subject) -> Facts:
    """What is known of a subject; of one that cannot be read, why."""
    try:
        if subject.trace:
            return trace_facts(recording(subject))
        if subject.scenario:
            return _script_facts(find_script(subject.scenario))
        if subject.script:
            return _script_facts(load_script(base() / subject.script, options().tools))
    except (AgentError, OSError, IndexError) as error:
        return Facts(problem=str(error))
    return Facts(tools=subject.tools)


def recording(subject: Subject) -> Trace:
    """The trace of a subject.

    Raises:
        InputError: its file cannot be read.
        IndexError: it has no such conversation.
    """
    traces = read_kept(str(base() / subject.trace)).report.traces
    if not 0 < subject.conversation <= len(traces):
        raise IndexError(f"the file has no conversation {subject.conversation}")
    return traces[subject.conversation - 1]


def trace_facts(trace: Trace) -> Facts:
    """What is known of a recorded run."""
    replies = [trace.messages[step.reply] if step.reply is not None else None for step in trace.steps]
    calling = (number for number, reply in enumerate(replies, 1) if reply is not None and reply.tool_calls)
    called = [call.name for message in trace.messages for call in message.tool_calls]
    offered = [str((schema.get("function") or {}).get("name") or "") for schema in trace.tools]
    results = (message_text(message) for message in trace.messages if message.role == "tool")
    return Facts(
        steps=len(trace.steps),
        first_call=next(calling, 1),
        tools=tuple(dict.fromkeys(filter(None, [*offered, *called]))),
        answer="" if replies and (last := replies[-1]) is not None and last.tool_calls else trace.outcome.final,
        word=next((found[0] for text in results if (found := _WORD.search(text))), ""),
    )


def evident(experiment: Experiment) -> bool:
    """Whether every subject has evidence, so that a success can be verified."""
    return all(subject.evidence or facts_of(subject).checked for subject in experiment.subjects)


def _script_facts(script: Script) -> Facts:
    return Facts(tools=script.tools, checked=bool(script.evidence))
