"""From settings to a run: making its model and its loop, finding it again, and what the buttons do."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.errors import AgentError, InputError
from agent.events import Maker
from agent.limits import Limits
from agent.loop import Loop
from agent.messages import Message
from agent.models.base import Model
from agent.models.json_action import JsonActionModel
from agent.models.openai_chat import OpenAIModel
from agent.recovery import recover
from agent.runner import Runner
from agent.scripts import Script
from agent.toolbox import pick
from agent.tools import ToolRegistry
from agent.trace import Trace
from pages.parts import address
from pages.parts.data import data_folder
from pages.parts.runs import OpenRun, registry
from pages.parts.setup import Setup
from pages.parts.setup_form import chosen
from pages.parts.transport import Action, move
from pages.parts.words import t

_NO_KEY = "no-key"
"""Sent to a server that needs none."""

_SETUP = "setup"
"""The key under which a trace keeps the settings of its run."""

_RUN_ID = re.compile(r"[0-9a-f]{12}")


def current_run() -> OpenRun | None:
    """The run that the URL names: open in this server, or found interrupted on its disk."""
    run_id = address.run_id()
    if run_id is None:
        return None
    run = registry().find(run_id) or _recovered(run_id)
    if run is None:
        address.close_run()
    return run


def press(action: Action) -> None:
    """What a press of a button does. The first press makes the run; later ones only move it."""
    run = current_run() if address.run_id() is not None else _started()
    if run is not None:
        move(run, action)


def _started() -> OpenRun | None:
    """A new run from the settings; None, with the reason told, where there cannot be one."""
    run_id = address.next_run_id()
    try:
        run = registry().open(run_id, lambda: _make(run_id, chosen()))
    except (AgentError, OSError) as error:
        address.tell(str(error))
        return None
    address.open_run(run_id)
    return run


def leave_run() -> None:
    """A setting was changed: the next press starts a new run. The old one stays open and saved."""
    address.close_run()


def preview(setup: Setup) -> Trace:
    """The message list as it will stand before the first phase."""
    trace = Trace()
    script = setup.script()
    if script is not None and script.system:
        trace.add(Message("system", script.system), Maker.CODE)
    task = script.task if script is not None else setup.task
    if task:
        trace.add(Message("user", task), Maker.USER)
    return trace


def _make(run_id: str, setup: Setup) -> OpenRun:
    script = setup.script()
    options: dict[str, Any] = {"trace_id": run_id, "journal": data_folder()}
    options |= {"max_steps": setup.max_steps, "limits": _limits(script, setup.guards)}
    model, tools = _model(setup, script), _tools(setup, script)
    loop = script.loop(model=model, tools=tools, **options) if script is not None else Loop(model, tools, **options)
    loop.trace.extra[_SETUP] = setup.to_dict()
    loop.start(script.task if script is not None else setup.task)
    return OpenRun(Runner(loop), setup, driver=address.visitor())


def _limits(script: Script | None, guards: bool) -> Limits:
    limits = script.limits if script is not None else Limits()
    if not guards:
        return replace(limits, repeated_calls=None, failing_steps=None)
    return replace(limits, repeated_calls=limits.repeated_calls or 3, failing_steps=limits.failing_steps or 3)


def _model(setup: Setup, script: Script | None) -> Model:
    """The script's own fake model, or the live one of the settings."""
    if script is not None and not setup.live:
        return script.make_model()
    key = key_for(setup.base_url, address.setting(address.API_KEY) or "", os.environ)
    model = OpenAIModel(setup.model, base_url=setup.base_url or None, api_key=key, stream=True)
    return JsonActionModel(model) if script is not None and script.protocol == "json_action" else model


def key_for(base_url: str, typed: str, environment: Mapping[str, str]) -> str | None:
    """The key for a server: the typed one, else the environment's, but that only for the environment's own server.

    Otherwise anybody who can open the page could send the key of whoever started it to a server of his own. None
    leaves it to the model, which takes the environment's.
    """
    if typed:
        return typed
    own = environment.get("OPENAI_BASE_URL", "").strip().rstrip("/")
    return None if base_url.strip().rstrip("/") in ("", own) else _NO_KEY


def _tools(setup: Setup, script: Script | None) -> ToolRegistry:
    tools = pick(setup.tools) if script is None else script.make_tools()
    return tools.with_timeout()


def _recovered(run_id: str) -> OpenRun | None:
    """A run whose server process ended, continued from its journal; None, with the reason told, where it cannot be."""
    path = data_folder() / f"{run_id}.jsonl"
    if not _RUN_ID.fullmatch(run_id) or not path.is_file():
        address.tell(t("This server has no run with the id in the address."))
        return None

    def make() -> OpenRun:
        snapshot = recover(path)
        if _SETUP not in snapshot["trace"]:
            raise InputError(t("This run was not started in the app, so its model and tools are not known here."))
        setup = Setup.from_dict(snapshot["trace"][_SETUP])
        script = setup.script()
        current = chosen()
        if setup.live:
            setup = replace(setup, model=current.model or setup.model, base_url=current.base_url)
        loop = Loop.resume(
            snapshot,
            model=_model(setup, script),
            tools=_tools(setup, script),
            evidence=script.evidence if script is not None else (),
            journal=data_folder(),
        )
        return OpenRun(Runner(loop), setup, driver=address.visitor())

    try:
        return registry().open(run_id, make)
    except (AgentError, OSError) as error:
        address.tell(str(error))
        return None
