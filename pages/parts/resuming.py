"""Runs that go on: out of a journal or a trace file after a restart, with their live model again, or as a fork."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.errors import AgentError, InputError
from agent.fork import Changes, fork
from agent.journal import write_trace
from agent.limits import HARD_CAP, Limits
from agent.loop import Loop
from agent.models.absent import AbsentModel
from agent.moments import Moment, moments
from agent.recovery import recover
from agent.rewind import rewind
from agent.runner import Runner
from agent.trace import Trace
from pages.parts import address
from pages.parts.data import data_folder, store
from pages.parts.live_model import make_model
from pages.parts.offered import make_tools, recorded_tools
from pages.parts.runs import SETUP, OpenRun, registry
from pages.parts.setup import OWN_STEPS, Setup
from pages.parts.setup_form import chosen
from pages.parts.words import loop_words, t
from traces import read_file
from traces.index import TraceInfo
from traces.scripting.continuing import room_for, settings_before, settings_options

_RUN_ID = re.compile(r"[0-9a-f]{12}")


def from_disk(run_id: str) -> OpenRun | None:
    """A run that this server does not hold any more: interrupted, or over. None, with the reason told, where it cannot.

    A live run is asleep until its model is there again, and any run until its tools are. Its loop has a model that says
    nothing and tools that do nothing, and writes no journal.
    """
    try:
        run = revived(run_id)
        if run is None:
            over = t("This run is over and is no longer open here. Its trace is in the list of Traces.")
            address.tell(over if store().find(run_id) else t("This server has no run with the id in the address."))
        return run
    except (AgentError, OSError) as error:
        address.tell(loop_words(str(error)))
        return None


def revived(run_id: str) -> OpenRun | None:
    """The same, with nothing told: None where no file of the data folder holds the run, or enough of it.

    Raises:
        AgentError: the file cannot be read, or the run cannot go on from it.
        OSError: the same, because of the disk.
    """
    snapshot = _snapshot(run_id) if _RUN_ID.fullmatch(run_id) else None
    return None if snapshot is None else registry().open(run_id, lambda: _opened(snapshot))


def can_open(info: TraceInfo, traces: Sequence[Trace]) -> bool:
    """Whether the Run page can show a line of the list again that is over.

    Args:
        info: the line.
        traces: what its file holds.
    """
    own = info.kind == "saved" and Path(info.path).name == _saved_path(info.id).name
    return own and len(traces) == 1 and SETUP in traces[0].extra


def _saved_path(run_id: str) -> Path:
    return data_folder() / f"{run_id}.json"


def _snapshot(run_id: str) -> dict[str, Any] | None:
    """From the journal of a run that was interrupted, or the trace file of one that was started in the app."""
    journal = data_folder() / f"{run_id}.jsonl"
    if journal.is_file():
        return recover(journal)
    saved = _saved_path(run_id)
    found = read_file(saved, saved.name).traces if saved.is_file() else []
    trace = found[0] if len(found) == 1 and found[0].trace_id == run_id else None
    return rewind(trace, moments(trace)[-1]).to_dict() if trace and SETUP in trace.extra else None


def _opened(snapshot: dict[str, Any]) -> OpenRun:
    if SETUP not in snapshot["trace"]:
        raise InputError(t("This run was not started in the app, so its model and tools are not known here."))
    setup, interrupted = Setup.from_dict(snapshot["trace"][SETUP]), snapshot["phase"] is not None
    if not setup.live and setup.lost() is None:
        run = _resumed(snapshot, setup)
    else:
        shown = recorded_tools(snapshot["trace"].get("tools") or ())
        loop = Loop.resume(snapshot, model=AbsentModel(snapshot), tools=shown)
        run = OpenRun(Runner(loop), setup, asleep=True)
    run.recovered = interrupted
    return run


def woken(run: OpenRun) -> OpenRun:
    """The run with the live model of the settings; as it was, with the reason told, where that cannot be made."""
    setup = _with_live_model(run.setup)
    try:
        new = registry().renew(run, lambda: _resumed(run.loop.snapshot(), setup))
    except (AgentError, OSError) as error:
        address.tell(loop_words(str(error)))
        return run
    new.recovered = run.recovered
    return new


def forked(run: OpenRun, moment: Moment, changes: Changes) -> OpenRun:
    """A new open run that begins at a moment of this one, with the live model of the settings where it has one.

    Raises:
        AgentError: a change that makes no sense, or the model or a tool cannot be made.
        OSError: the new run cannot be saved.
    """
    setup, options = _with_live_model(run.setup), dict[str, Any]()
    if changes.tools is not None:
        names = tuple(changes.tools)
        setup = replace(setup, tools=names) if setup.own else replace(setup, script_tools=names)
    if "max_steps" in changes.settings:
        options["max_steps"] = changes.settings["max_steps"]
        setup = replace(setup, max_steps=options["max_steps"])
    if "limits" in changes.settings:
        limits = Limits.from_dict(changes.settings["limits"])
        options["limits"] = limits
        setup = replace(setup, guards=bool(limits.repeated_calls or limits.failing_steps))
    snapshot = fork(replace(run.loop.run, trace=run.held()), moment, changes)
    new = registry().open(snapshot["trace"]["trace_id"], lambda: _resumed(snapshot, setup, **options))
    if new.loop.phase is None:
        write_trace(new.loop.trace, data_folder(), new.loop.secrets)
    return new


def continued(trace: Trace, moment: Moment, setup: Setup) -> OpenRun:
    """A new open run that begins at a moment of a trace of any kind, with what these settings name.

    It keeps the limits under which the trace was made; where it does not say, those of the script hold. A live model,
    which goes its own way, gets some steps of its own.

    Args:
        trace: without secrets; it stays as it is.
        moment: one of its moments.
        setup: its script, model and tools; of its limits only the guards of a live model count.

    Raises:
        AgentError: the model or a tool cannot be made, or the trace keeps settings that make no sense.
        OSError: the new run cannot be saved.
    """
    snapshot, script = fork(trace, moment), setup.script()
    options = settings_options(trace, script)
    before = settings_before(snapshot, options)
    if setup.live:
        options["max_steps"] = room_for(snapshot, before.max_steps, OWN_STEPS)
        options["parallel"] = setup.parallel
        if setup.guards:
            options["limits"] = replace(before.limits, repeated_calls=3, failing_steps=3)
    after = replace(before, **options)
    guards = bool(after.limits.repeated_calls or after.limits.failing_steps)
    setup = replace(setup, max_steps=after.max_steps or HARD_CAP, guards=guards, parallel=after.parallel)
    return registry().open(snapshot["trace"]["trace_id"], lambda: _resumed(snapshot, setup, **options))


def _with_live_model(setup: Setup) -> Setup:
    """The settings of a run with the live model that the side bar names now; that of a class is named by nobody."""
    if not setup.live or setup.lent:
        return setup
    now = chosen()
    base_url, keyed = now.base_url or setup.base_url, now.keyed or setup.keyed
    return replace(setup, model=now.model, base_url=base_url, keyed=keyed)


def _resumed(snapshot: dict[str, Any], setup: Setup, **options: Any) -> OpenRun:
    script = setup.script()
    snapshot["trace"][SETUP] = setup.to_dict()
    loop = Loop.resume(
        snapshot,
        model=make_model(setup, script),
        tools=make_tools(setup.offered, script, real=setup.real_tools),
        user=script.make_user() if script is not None else None,
        evidence=script.evidence if script is not None else (),
        journal=data_folder(),
        **options,
    )
    return OpenRun(Runner(loop), setup)
