"""Setup: what a run is started with."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agent.errors import InputError
from agent.limits import HARD_CAP, Limits
from agent.models import json_action
from agent.models.openai_chat import OPENAI_URL
from agent.scripts import Script
from pages.parts.chosen_script import find_script, is_scenario
from pages.parts.class_lent import not_lent
from pages.parts.offered import gone
from pages.parts.words import t

OWN_TASK = "own"
"""The choice of a task of one's own; every other choice is the name of a scenario."""

SCRIPTED, LIVE, LENT = "scripted", "live", "lent"
NATIVE, JSON_ACTION = "native", json_action.KEY
PROTOCOLS = (NATIVE, JSON_ACTION)
"""How a model can ask for tools: by the tool calls of its API, or by JSON objects in its text."""
FIRST = "calc"
"""The scenario of a fresh app."""

OWN_TOOLS = ("add", "multiply")
"""The tools of a fresh task of one's own."""

MOST_HEAT = 2.0
"""The highest temperature that providers take."""

OWN_STEPS = 8
"""The step limit of a task of one's own."""

REQUEST_TOKENS, RESULT_TOKENS = 100_000, 8_000
"""Tokens that a request, and one tool result in it, may take where a script does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run is started with. The API key is no part of it: it stays in its field and in the model."""

    scenario: str = FIRST
    """The name of a scenario or of a kept script, or :data:`OWN_TASK`."""
    task: str = ""
    """The user's message of a task of one's own."""
    system: str = ""
    """The system text of a task of one's own; empty for none."""
    tools: tuple[str, ...] = ()
    """Tools on offer for a task of one's own."""
    script_tools: tuple[str, ...] | None = None
    """Tools on offer in a scenario; None: those of its script."""
    kind: str = SCRIPTED
    """``scripted``, ``live``, or ``lent``: the live model of a class."""
    klass: str = ""
    """The id of the class whose model answers; empty for none."""
    model: str = ""
    """The name of the live model."""
    base_url: str = ""
    """Where the live model is served; empty: where the environment says, else at OpenAI."""
    keyed: bool = False
    """Whether a key was typed for the live model: then it never goes on without one."""
    temperature: float | None = None
    """Sampling temperature of the live model; None leaves it to the server, as for the following one."""
    max_tokens: int | None = None
    """Tokens that one reply of the live model may take."""
    protocol: str = ""
    """One of :data:`PROTOCOLS` for the live model; empty: that of the script."""
    text_calls: bool = False
    """Whether a call that the live model left in its text is run like a real one."""
    parallel: bool = True
    """Whether the model may ask for several tools at once, and these run at the same time."""
    max_steps: int = OWN_STEPS
    """Model calls that the run may make."""
    guards: bool = True
    """Whether repeated calls and failing steps end the run."""
    seed: int | None = None
    """For the chances of a script's rules; None: that of the script."""
    replay: str = ""
    """How strictly a recording is followed, ``strict`` or ``lenient``; empty: as the script says."""
    real_tools: bool = False
    """Whether tools that are here run also where the script holds their answers."""

    @property
    def own(self) -> bool:
        """True for a task of one's own, which no script can answer."""
        return self.scenario == OWN_TASK

    @property
    def live(self) -> bool:
        """True when a real model answers."""
        return self.kind in (LIVE, LENT) or self.own

    @property
    def lent(self) -> bool:
        """True when the real model is that of a class: its name, server and key are the teacher's."""
        return self.kind == LENT

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools on offer.

        Raises:
            InputError: there is no such scenario.
        """
        if self.own:
            return self.tools
        return default_tools(self.scenario) if self.script_tools is None else self.script_tools

    @property
    def speaks(self) -> str:
        """The protocol of the run, one of :data:`PROTOCOLS`: a scripted model keeps that of its script.

        Raises:
            InputError: there is no such scenario.
        """
        return (self.protocol if self.live else "") or default_protocol(self.scenario)

    def script(self) -> Script | None:
        """The chosen scenario, read; None for a task of one's own.

        Raises:
            InputError: there is no such scenario.
        """
        return None if self.own else find_script(self.scenario)

    def problem(self) -> str | None:
        """What is still missing before a run can start, as a sentence."""
        if (lost := self.lost()) is not None:
            return lost
        if self.max_steps > (most := most_steps(self.scenario)):
            return t("The step limit on the left can be at most {n}.", n=most)
        if self.own and not self.task.strip():
            return t("Write a task on the left, then press a button.")
        if self.lent and (obstacle := not_lent()) is not None:
            return obstacle
        if self.live and not self.lent and not self.model.strip():
            return t("Name the live model on the left, then press a button.")
        if self.live and self.temperature is not None and not 0 <= self.temperature <= MOST_HEAT:
            return t("The temperature on the left can be from 0 to {most}, or empty.", most=f"{MOST_HEAT:g}")
        if self.live and self.max_tokens is not None and self.max_tokens < 1:
            return t("The length of a reply on the left can be from 1 token, or empty.")
        return None

    def lost(self) -> str | None:
        """What of it is not here any more, its script or a tool, and what to do about it; None where all is."""
        try:
            return gone(self.offered, self.script())
        except InputError as error:
            return str(error)

    def to_dict(self) -> dict[str, Any]:
        """JSON data for the trace, so that an interrupted run can be set up again.

        The server is named as it was in fact used, so that no other is taken later because a field is empty.
        """
        own_model = self.live and not self.lent
        return {
            **asdict(self),
            "model": "" if self.lent else self.model,
            "base_url": without_secrets(server_url(self.base_url, os.environ)) if own_model else "",
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Setup:
        """Read what :meth:`to_dict` wrote; what is unknown or missing takes its default."""
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        for name in ("tools", "script_tools"):
            if known.get(name) is not None:
                known[name] = tuple(known[name])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Changed:
    """What is called when a setting changes. Callbacks run before anything is drawn."""

    task: Callable[[], None]
    """What a run is made of: scenario, task, tools, kind of model, its options."""
    model: Callable[[], None]
    """The name of the live model, or its server."""
    key: Callable[[], None]
    """The key of the live model."""
    limits: Callable[[], None]
    """What a run takes up on its way: the step limit, the guards, and whether the tools of a script run in parallel."""


def by_rules(setup: Setup) -> bool:
    """Whether the model of a run follows rules of its script."""
    if setup.live:
        return False
    try:
        script = setup.script()
    except InputError:  # it is not here any more, which is told elsewhere
        return False
    return script is not None and script.rules


def server_url(base_url: str, environment: Mapping[str, str]) -> str:
    """The server that a base URL means: an empty one that of the environment, else OpenAI's."""
    url = base_url.strip() or environment.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
    return url.rstrip("/")


def without_secrets(url: str) -> str:
    """Without user name, password and query, all of which may hold a key; empty for what is no URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def default_steps(scenario: str) -> int:
    """The step limit that belongs to a scenario."""
    return OWN_STEPS if scenario == OWN_TASK else find_script(scenario).max_steps or HARD_CAP


def most_steps(scenario: str) -> int:
    """The highest step limit: a recording may have gone on for longer than anything else is let."""
    return max(HARD_CAP, default_steps(scenario))


def default_guards(scenario: str) -> bool:
    """Whether the guards are on at first: a kept script or a lesson has those that it names, as in its preview."""
    if is_scenario(scenario):
        return True
    limits = find_script(scenario).limits
    return bool(limits.repeated_calls or limits.failing_steps)


def guards_of(script: Script | None) -> Limits:
    """The guards of a run: just those that its script names where it names any, else the usual ones."""
    own = script.limits if script is not None else Limits()
    return own if own.repeated_calls or own.failing_steps else Limits.guarded()


def default_tools(scenario: str) -> tuple[str, ...]:
    """The tools that belong to a scenario."""
    return OWN_TOOLS if scenario == OWN_TASK else find_script(scenario).tools


def default_protocol(scenario: str) -> str:
    """The protocol that belongs to a scenario."""
    return NATIVE if scenario == OWN_TASK else find_script(scenario).protocol
