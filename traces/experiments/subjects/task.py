"""Subjects: what a design names becomes a task that can be begun any number of times, each time as if for the first.

It is read once. Its tools are made anew for every run, so that nothing of one run is there in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.errors import InputError
from agent.events import AgentEvent
from agent.evidence import Check
from agent.loop import Loop
from agent.messages import Message
from agent.models.base import Model
from agent.nearest import nearest
from agent.scripts import Script, load_script, parse_script
from agent.scripts.catalogue import scenarios
from agent.tools import Tool, ToolRegistry
from agent.trace import Trace, TraceStep
from traces.experiments.design.experiment import Condition, Subject
from traces.experiments.subjects.conduct import continue_options, decision_options, replays, resumed, words_to_come
from traces.experiments.subjects.rerun import Beginning, beginning
from traces.experiments.subjects.stand_in import stand_in
from traces.opening import open_trace
from traces.redacting import without_secrets
from traces.scripting import script_of


@dataclass(frozen=True, slots=True)
class Started:
    """A run of a task that has not made a phase yet."""

    loop: Loop
    first_step: int
    """How many steps of a recording come before its own."""
    script: bool
    """Whether its model is a scripted one, whose time means nothing."""
    opening: tuple[Message, ...] | None = None
    """With what it is started; None: it goes on from where a recording stood."""

    def begin(self) -> None:
        """Say the first words, where it has any. After this ``loop.advance()`` moves it.

        Raises:
            OSError: the journal cannot be begun.
        """
        if self.opening is not None:
            self.loop.start(self.opening)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A subject that was read."""

    subject: Subject
    script: Script
    """Its script; of a trace the one that says the recording again; of a user's own words one without turns."""
    evidence: tuple[Check, ...] = ()
    """The checks of the script and of the subject together."""
    own: tuple[Tool, ...] = ()
    """Tools of one's own that it may use."""
    source: Trace | None = None
    """The recorded trace, without secrets; None: the subject is none."""
    start: Beginning | None = field(default=None, repr=False)
    """Of a trace: where a run of it begins."""

    @property
    def recorded_step(self) -> TraceStep | None:
        """The step of the recorded trace that is decided anew, or from which the run goes on."""
        return None if self.source is None else self.source.steps[self.subject.step - 1]

    @property
    def scripted(self) -> bool:
        """Whether it holds something that a fake model can say."""
        return bool(self.script.turns) or self.script.always is not None

    @cached_property
    def stand_in(self) -> Script:
        """The stand-in of its trace.

        Raises:
            InputError: it is no trace.
        """
        if self.source is None:
            raise InputError(f"the subject {self.subject.name!r} is no trace: only of a trace a stand-in can be made")
        return stand_in(self.source, self.subject.step)

    def tools(self) -> ToolRegistry:
        """The tools on offer, fresh ones. A tool that is not ours gets a time limit, so that it cannot hold a run.

        Raises:
            InputError: there is no tool of some name.
        """
        real = self.subject.real_tools and not self.subject.reruns_decision
        tools = self.script.make_tools(own=self.own, real=real, pace=0)
        return tools.with_timeout() if self.own or real else tools

    def begin(
        self,
        model: Model,
        condition: Condition,
        *,
        seed: int,
        trace_id: str,
        journal: Path | None,
        on_event: Callable[[AgentEvent], None] | None = None,
    ) -> Started:
        """A new run under a condition. Its faults are armed by who moves it.

        Args:
            model: a fresh one, made by :func:`traces.experiments.subjects.models.make_model`.
            condition: its interventions come after those of the script or the recorded run.
            seed: of the run; it is kept in the trace.
            trace_id: of the run.
            journal: folder of its journal and trace file; None keeps it in memory.
            on_event: as for :class:`~agent.loop.Loop`.

        Raises:
            InputError: the condition makes no sense here; the text says why.
            OSError: the journal cannot be begun.
        """
        scripted = getattr(model, "provider", None) == "fake"
        options: dict[str, Any] = {"tools": self.tools(), "evidence": self.evidence}
        options |= {"journal": journal, "on_event": on_event}
        if self.start is None or self.source is None:
            loop = self._from_script(model, condition, scripted, trace_id, options)
            loop.trace.extra["seed"] = seed
            return Started(loop, 0, scripted, self.script.opening)
        if self.subject.reruns_decision:
            options |= decision_options(self.source, self.script, self.start, condition)
        else:
            again, subject = replays(model), self.subject
            options |= continue_options(self.source, self.script, self.start, condition, subject, replays=again)
        loop = resumed(self.start, trace_id, seed, model, options)
        return Started(loop, len(loop.trace.steps), scripted)

    def _from_script(
        self, model: Model, condition: Condition, scripted: bool, trace_id: str, options: dict[str, Any]
    ) -> Loop:
        script = self.script
        return script.loop(
            model=model,
            max_steps=self.subject.max_steps or script.max_steps,
            interventions=(*script.interventions, *condition.interventions),
            user=script.make_user() if scripted else words_to_come(script, 1, 0),
            trace_id=trace_id,
            **options,
        )


def load_subject(subject: Subject, base: Path, own: Iterable[Tool] = ()) -> Task:
    """Read a subject: its script or trace, its checks.

    Args:
        subject: of a design.
        base: the folder that its paths are relative to.
        own: tools of one's own, beside those of the toolbox.

    Raises:
        InputError: a file is not there or cannot be read, or something of the subject makes no sense; the text says
            what.
    """
    own = tuple(own)
    try:
        task = _read_trace(subject, base, own) if subject.trace else _read_script(subject, base, own)
        task.tools()
    except InputError as error:
        raise InputError(f"the subject {subject.name!r}: {error}") from error
    return task


def _read_script(subject: Subject, base: Path, own: tuple[Tool, ...]) -> Task:
    if subject.scenario:
        script = load_script(_scenario(subject.scenario), own)
    elif subject.script:
        script = load_script(base / subject.script, own)
    else:
        script = Script(
            name=subject.name,
            title=subject.name,
            users=(subject.task,),
            system=subject.system,
            tools=subject.tools,
            own=own,
        )
    return Task(subject=subject, script=script, evidence=(*script.evidence, *_checks(subject)), own=own)


def _scenario(name: str) -> Path:
    known = {info.name: info.path for info in scenarios()}
    if name not in known:
        raise InputError(f"there is no scenario {name!r}{nearest(name, known)}")
    return known[name]


def _read_trace(subject: Subject, base: Path, own: tuple[Tool, ...]) -> Task:
    traces = open_trace(base / subject.trace)
    if not 1 <= subject.conversation <= len(traces):
        raise InputError(f"there is no conversation {subject.conversation}: {subject.trace} holds {len(traces)}")
    trace, _ = without_secrets(traces[subject.conversation - 1])
    start = beginning(trace, subject.step)
    script = script_of(trace)
    return Task(subject=subject, script=script, evidence=_checks(subject), own=own, source=trace, start=start)


def _checks(subject: Subject) -> tuple[Check, ...]:
    """The checks of a subject, read as those of a script are."""
    if not subject.evidence:
        return ()
    data: dict[str, Any] = {"turns": [""], "evidence": [dict(each) for each in subject.evidence]}
    return parse_script(jsontext.dumps(data), f"{subject.name}.json").evidence
