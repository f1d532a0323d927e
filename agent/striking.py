"""How armed faults strike a run. The loop comes here only while a fault is armed.

A strike is one entry of ``trace.interventions``. It goes into the same line of the journal as what it changed, and
:func:`note_strike` applies it both in the run and in its recovery: after a crash a fault either has struck, with its
effect, or is still armed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import asdict, replace
from typing import Any

from agent import clock, faults, noting
from agent.breaking import Substitute, break_reply, provider_error
from agent.errors import AgentError, ModelError, Retry
from agent.events import Phase
from agent.execution import Job
from agent.faults import FAULTS, Fault
from agent.interventions import OMIT_RESULTS, Intervention
from agent.journal import Journal
from agent.models.base import CallControl, ModelReply
from agent.settings import Settings
from agent.state import RunState
from agent.tool_result import ToolResult
from agent.tools import ToolRegistry

Ask = Callable[[CallControl], tuple[ModelReply, float]]
"""One model call: the reply, and how many milliseconds it took."""


def note_strike(run: RunState, strike: dict[str, Any]) -> None:
    """Put a strike into the trace, take its fault from the armed ones, and give a wrong id to the result it is for."""
    run.faults = [fault for fault in run.faults if fault.kind != strike["kind"]]
    run.trace.interventions.append(strike)
    if strike["kind"] == faults.WRONG_CALL_ID:
        run.pending[0].result_id = strike["params"]["after"]


def switched(kind: str, settings: Settings) -> Settings:
    """The settings after a fault of this kind; the same object for one that changes none."""
    if kind == faults.RESULTS_NOT_WRITTEN_BACK:
        return replace(settings, interventions=(*settings.interventions, Intervention(OMIT_RESULTS)))
    if kind == faults.LIMIT_REMOVED:
        limits = replace(settings.limits, repeated_calls=None, failing_steps=None)
        return replace(settings, max_steps=None, limits=limits)
    return replace(settings, policy=None) if kind == faults.PERMISSION_CHECK_REMOVED else settings


def settings_ahead(run: RunState, settings: Settings) -> Settings:
    """The settings that the next phase will work under: an armed fault may switch something off before it begins."""
    for fault in run.faults:
        if run.phase in fault.about.phases:
            settings = switched(fault.kind, settings)
    return settings


class Striker:
    """Lets the armed faults of a run strike in one phase."""

    def __init__(self, run: RunState, journal: Journal) -> None:
        self._run = run
        self._journal = journal
        self._substitutes: dict[int, Substitute] = {}

    def before(self, phase: Phase, settings: Settings) -> Settings:
        """What strikes before a phase begins: a switch, or the id of the first result. Gives the settings after it."""
        for fault in self._run.faults:
            if phase not in fault.about.phases:
                continue
            if fault.about.group == "switch":
                self._strike(fault, phase, {"before": _switch_before(fault.kind, settings)})
                settings = switched(fault.kind, settings)
            elif fault.kind == faults.WRONG_CALL_ID:
                call_id = self._run.pending[0].call.id
                others = {pending.call.id for pending in self._run.pending}
                wrong = f"wrong_{call_id}"
                while wrong in others:
                    wrong += "_"
                self._strike(fault, phase, {"before": call_id, "after": wrong})
            else:
                continue
            self._journal.write_struck()
        return settings

    # ---- the model call ----

    def ask(self, ask: Ask, control: CallControl, tools: ToolRegistry) -> tuple[ModelReply, float]:
        """One model call, in which a provider may fail and whose reply may be changed.

        Status 429 comes once: the failed attempt is told and kept as a retry, like those of a live model, the wait is
        one that a stop or the deadline ends, and then the model is asked. Status 500 stands for a provider that fails
        at every attempt: the call fails for good, and going on makes the same call again. Both are the same for a
        scripted and for a live model, whose own retries come after that. The model is not asked in between, so no turn
        of a script is used up.

        Raises:
            AgentError: as from the model itself; a provider's error that was put in, or the wait was ended.
        """
        started, retries = clock.monotonic(), list[Retry]()
        struck: list[Fault] = []
        try:
            self._let_provider_fail(control, retries, struck)
            reply, latency_ms = ask(control)
        except AgentError as error:
            self._note_provider(struck)
            if not (isinstance(error, ModelError) and retries):
                raise
            told = copy(error)  # a script raises the same one whenever it is asked for this turn
            told.retries = (*retries, *_renumbered(error.retries, len(retries)))
            raise told from error
        self._note_provider(struck)
        if retries:
            reply = replace(reply, retries=(*retries, *_renumbered(reply.retries, len(retries))))
            latency_ms = clock.since_ms(started)
        return self._broken(reply, tools), latency_ms

    def _let_provider_fail(self, control: CallControl, retries: list[Retry], struck: list[Fault]) -> None:
        """Meet the armed errors of the provider, in order.

        Raises:
            ModelError: one of them is for good, or the wait before another attempt was ended.
        """
        for fault in self._run.faults:
            if fault.about.group != "provider":
                continue
            error = provider_error(fault)
            struck.append(fault)
            if fault.kind == faults.PROVIDER_500:
                raise error
            retry = Retry(len(retries) + 1, str(error), fault.number("wait_s"), error.status)
            retries.append(retry)
            control.emit("model.retry", asdict(retry))
            control.wait_or_fail(retry.wait_s)

    def _note_provider(self, struck: Iterable[Fault]) -> None:
        for fault in struck:
            error = provider_error(fault)
            self._strike(fault, Phase.CALL, {"status": error.status, "error": str(error)})

    def _broken(self, reply: ModelReply, tools: ToolRegistry) -> ModelReply:
        for fault in self._run.faults:
            if broken := break_reply(fault, reply, tools.names):
                reply = broken.reply
                self._strike(fault, Phase.CALL, broken.params)
        return reply

    # ---- tools ----

    def replace_tools(self, jobs: list[Job]) -> list[Job]:
        """The jobs, each armed fault of a tool having taken the place of the tool of one."""
        armed = [fault for fault in self._run.faults if fault.about.group == "tool"]
        changed = list(jobs)
        for at, (fault, job) in enumerate(zip(armed, jobs, strict=False)):
            substitute = self._substitutes[job.position] = Substitute.for_tool(fault, job.tool)
            changed[at] = job._replace(tool=substitute.tool)
        return changed

    def watch(self, results: Iterator[tuple[int, ToolResult]]) -> Iterator[tuple[int, ToolResult]]:
        """The results as they come; a substitute that was called, or waited for, has struck when its result is here."""
        try:
            for position, result in results:
                substitute = self._substitutes.get(position)
                if substitute is not None and (substitute.called.is_set() or result.timed_out):
                    call_id = self._run.pending[position].call.id
                    numbers = {name: substitute.fault.number(name) for name in substitute.fault.about.takes}
                    params = {"call": call_id, "tool": substitute.tool.name, **numbers}
                    self._strike(substitute.fault, Phase.EXECUTE, params)
                yield position, result
        finally:
            for substitute in self._substitutes.values():
                substitute.over.set()

    def _strike(self, fault: Fault, phase: Phase, params: dict[str, Any]) -> None:
        step = noting.step_number(self._run)
        strike = {"kind": fault.kind, "params": params, "step": step, "phase": str(phase), "by": "user"}
        note_strike(self._run, strike)
        self._journal.struck(strike)


def struck(interventions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The strikes among the interventions of a trace, in order."""
    return [item for item in interventions if str(item.get("kind")) in FAULTS and isinstance(item.get("step"), int)]


def _renumbered(retries: Iterable[Retry], before: int) -> list[Retry]:
    return [replace(retry, attempt=retry.attempt + before) for retry in retries]


def _switch_before(kind: str, settings: Settings) -> Any:
    """What the settings said about the thing that is switched off, as in a trace's ``config``."""
    config = settings.to_config()
    if kind == faults.LIMIT_REMOVED:
        guards = {name: config["limits"][name] for name in ("repeated_calls", "failing_steps")}
        return {"max_steps": config["max_steps"], **guards}
    return config["policy"] if kind == faults.PERMISSION_CHECK_REMOVED else config["interventions"]
