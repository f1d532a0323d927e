"""Setup: what a run is started with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agent.errors import InputError
from agent.limits import HARD_CAP
from agent.models.openai_chat import OPENAI_URL
from agent.scripts import Script, load_script, scenarios
from pages.parts.words import t

OWN_TASK = "own"
"""The choice of a task of one's own; every other choice is the name of a scenario."""

SCRIPTED, LIVE = "scripted", "live"
FIRST = "calc"
"""The scenario of a fresh app."""

OWN_STEPS = 8
"""The step limit of a task of one's own."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run is started with. The API key is no part of it: it stays in its field and in the model."""

    scenario: str = FIRST
    """The name of a scenario, or :data:`OWN_TASK`."""
    task: str = ""
    """The user's message of a task of one's own."""
    system: str = ""
    """The system text of a task of one's own; empty for none."""
    tools: tuple[str, ...] = ()
    """Tools on offer for a task of one's own."""
    kind: str = SCRIPTED
    """``scripted`` or ``live``."""
    model: str = ""
    """The name of the live model."""
    base_url: str = ""
    """Where the live model is served; empty: where the environment says, else at OpenAI."""
    keyed: bool = False
    """Whether a key was typed for the live model: then it never goes on without one."""
    max_steps: int = OWN_STEPS
    """Model calls that the run may make."""
    guards: bool = True
    """Whether repeated calls and failing steps end the run."""

    @property
    def own(self) -> bool:
        """True for a task of one's own, which no script can answer."""
        return self.scenario == OWN_TASK

    @property
    def live(self) -> bool:
        """True when a real model answers."""
        return self.kind == LIVE or self.own

    def script(self) -> Script | None:
        """The chosen scenario, read; None for a task of one's own.

        Raises:
            InputError: there is no such scenario.
        """
        return None if self.own else _script(self.scenario)

    def problem(self) -> str | None:
        """What is still missing before a run can start, as a sentence."""
        if self.max_steps > HARD_CAP:
            return t("The step limit on the left can be at most {n}.", n=HARD_CAP)
        if self.own and not self.task.strip():
            return t("Write a task on the left, then press a button.")
        if self.live and not self.model.strip():
            return t("Name the live model on the left, then press a button.")
        return None

    def to_dict(self) -> dict[str, Any]:
        """JSON data for the trace, so that an interrupted run can be set up again.

        The server is named as it was in fact used, so that no other is taken later because a field is empty.
        """
        return {
            **asdict(self),
            "base_url": _without_secrets(server_url(self.base_url, os.environ)) if self.live else "",
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Setup:
        """Read what :meth:`to_dict` wrote; what is unknown or missing takes its default."""
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        if "tools" in known:
            known["tools"] = tuple(known["tools"])
        return cls(**known)


def server_url(base_url: str, environment: Mapping[str, str]) -> str:
    """The server that a base URL means: an empty one that of the environment, else OpenAI's."""
    url = base_url.strip() or environment.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
    return url.rstrip("/")


def _without_secrets(url: str) -> str:
    """Without user name, password and query, all of which may hold a key; empty for what is no URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def default_steps(scenario: str) -> int:
    """The step limit that belongs to a scenario."""
    return OWN_STEPS if scenario == OWN_TASK else _script(scenario).max_steps or HARD_CAP


@cache
def _script(name: str) -> Script:
    """Only by the names of the list: a name out of a file or an address must never be taken for a path."""
    for info in scenarios():
        if info.name == name:
            return load_script(info.path)
    raise InputError(f"there is no scenario {name!r}")
