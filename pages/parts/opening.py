"""From settings to a run: making its model and its loop, finding it again, and what the buttons do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from agent.context import ContextBudget
from agent.errors import AgentError
from agent.events import Maker
from agent.limits import Limits
from agent.loop import Loop
from agent.messages import Message
from agent.runner import Runner
from agent.scripts import Script
from agent.trace import Trace, maker_of
from pages.parts import address
from pages.parts.breakpoints import hand_over
from pages.parts.data import data_folder
from pages.parts.faults import arm_chosen
from pages.parts.keys import Action
from pages.parts.live_model import make_model, missing
from pages.parts.offered import make_tools
from pages.parts.resuming import from_disk, woken
from pages.parts.runs import SETUP, OpenRun, registry
from pages.parts.setup import REQUEST_TOKENS, RESULT_TOKENS, Changed, Setup, guards_of
from pages.parts.setup_form import chosen, show_setup
from pages.parts.tabs import tabs
from pages.parts.transport import GOES_ON, VIEWS, move
from pages.parts.words import loop_words, t


def current_run(*, form: bool = True) -> OpenRun | None:
    """The run that the URL names: open in this server, or found on its disk, interrupted or over.

    Args:
        form: the side bar shows the settings of the run, and names the live model of one that waits for it.
    """
    run_id = address.run_id()
    if run_id is None:
        return None
    run = registry().find(run_id) or from_disk(run_id)
    if run is None:
        address.close_run()
        return None
    if not form:
        return run
    if address.first_sight(run_id):
        show_setup(run.setup)
        run.runner.rests = None  # it may come from a lesson, which lets it rest at its questions
    return woken(run) if run.asleep and missing(run.setup, chosen()) is None else run


def problem(run: OpenRun | None, setup: Setup) -> str | None:
    """What keeps the run from moving, or from being started with these settings, as a sentence."""
    if run is not None and run.asleep:
        return missing(run.setup, setup)
    return setup.problem()


def press(action: Action, seen: int | None) -> None:
    """What a press of a button of the Run page does. The first press makes the run; later ones only move it.

    Args:
        action: what was pressed.
        seen: how many moments of the run the page had drawn then.
    """
    new = address.run_id() is None
    run = None if new else current_run()
    if action in GOES_ON and (obstacle := problem(run, chosen())):
        address.tell(obstacle)
        return
    if new:
        run = started(chosen())
    if run is not None and (action in VIEWS or not run.asleep):
        move(run, action, seen)


def started(setup: Setup, *, bare: bool = False) -> OpenRun | None:
    """A new run with these settings; None, with the reason told, where there cannot be one.

    Args:
        setup: the settings.
        bare: without the breakpoints and faults that this session has chosen for its next run on the Run page.
    """
    run_id = address.next_run_id()
    try:
        run = registry().open(run_id, lambda: _make(run_id, setup, bare=bare))
    except (AgentError, OSError) as error:
        address.tell(loop_words(str(error)))
        return None
    address.open_run(run_id)
    address.first_sight(run_id)
    return run


def _leave_run() -> None:
    """The next press starts a new run. The old one stays open and saved."""
    if address.run_id() is not None:
        st.toast(t("The next press starts a new run. The old one is kept under Traces."))
    address.close_run()


def _model_changed() -> None:
    """A run whose model is missing waits for just this; any other keeps its model, and a new one begins."""
    run = current_run()
    if run is None or not run.asleep:
        _leave_run()


def _key_changed() -> None:
    """A live run goes on with the new key."""
    run = current_run()
    if run is not None and run.setup.live and not run.runner.busy:
        run.asleep = True


def _limits_changed() -> None:
    """New limits hold for the paused run from now on; after its end they are those of the next run."""
    run, setup = current_run(), chosen()
    if run is None or run.done:
        _leave_run()
    elif setup.problem() is None and not run.runner.busy:
        with run.lock:
            limits = _guarded(run.loop.settings.limits, run.setup.script(), setup.guards)
            try:
                run.loop.extend(max_steps=setup.max_steps, limits=limits, parallel=setup.parallel)
            except AgentError as error:
                address.tell(loop_words(str(error)))
                show_setup(run.setup)
                return
            except OSError as error:  # the limits hold all the same, and the next phase tries to write them again
                address.tell(str(error))
            run.keep_setup(max_steps=setup.max_steps, guards=setup.guards, parallel=setup.parallel)
        tabs().wake_others(run.id)
        st.toast(t("This holds for the run at hand from its next step on."))


CHANGED = Changed(task=_leave_run, model=_model_changed, key=_key_changed, limits=_limits_changed)
"""What a change of the settings means for the run at hand."""


def preview(setup: Setup) -> Trace:
    """The message list as it will stand before the first phase."""
    trace = Trace()
    script = setup.script()
    system = script.system if script is not None else setup.system
    if system:
        trace.add(Message("system", system), Maker.CODE)
    given = script.opening if script is not None else (Message("user", setup.task),) if setup.task else ()
    for message in given:
        trace.add(message, maker_of(message.role))
    return trace


def _make(run_id: str, setup: Setup, *, bare: bool) -> OpenRun:
    script = setup.script()
    limits = _guarded(script.limits if script is not None else Limits(), script, setup.guards)
    options: dict[str, Any] = {"trace_id": run_id, "journal": data_folder()}
    options |= {"max_steps": setup.max_steps, "limits": limits, "parallel": setup.parallel}
    if script is None or (script.context is None and script.recorded is None):
        options["context"] = ContextBudget(REQUEST_TOKENS, RESULT_TOKENS, summarise=setup.live)
    model = make_model(setup, script)
    tools = make_tools(setup.offered, script, real=setup.real_tools)
    if script is not None:
        loop = script.loop(model=model, tools=tools, **options)
    else:
        loop = Loop(model, tools, system=setup.system, **options)
    loop.trace.extra[SETUP] = setup.to_dict()
    loop.start(script.opening if script is not None else setup.task)
    run = OpenRun(Runner(loop), setup)
    if not bare:
        arm_chosen(run)
        hand_over(run)
    return run


def _guarded(limits: Limits, script: Script | None, guards: bool) -> Limits:
    """These limits with the guards on, just those that the script names where it names any, or off."""
    if not guards:
        return replace(limits, repeated_calls=None, failing_steps=None)
    some = guards_of(script)
    return replace(limits, repeated_calls=some.repeated_calls, failing_steps=some.failing_steps)
