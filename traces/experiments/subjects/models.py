"""The model of a run: the subject's own fake one, the stand-in of a trace, or a live one behind a server."""

from __future__ import annotations

import os
from functools import lru_cache

from agent.errors import InputError
from agent.models.base import Model
from agent.models.json_action import JsonActionModel
from agent.models.openai_chat import OpenAIModel
from agent.models.profiles import profile_for
from traces.experiments.design.experiment import ModelSpec
from traces.experiments.subjects.task import Task

USUAL_KEY = ModelSpec(name="any").key_env
_NO_KEY = "no-key"
"""Sent to a server that needs none."""


def make_model(spec: ModelSpec, task: Task, *, seed: int, key: str | None = None) -> Model:
    """The model of one run.

    Args:
        spec: of the design.
        task: what it is to do.
        seed: of the run.
        key: of a live model; empty: it has none; None: the environment is asked, which is for designs of one's own
            alone, as a design names the server that the key goes to.

    Raises:
        InputError: the task holds nothing that such a model could say, or a key or a server is missing.
    """
    if spec.kind == "live":
        return _live(spec, seed, key)
    if spec.kind == "stand_in":
        return task.stand_in.make_model(0, seed=seed)
    if not task.scripted:
        raise InputError(
            f"the subject {task.subject.name!r} has no script, so there is nothing that the model {spec.name!r} could "
            "say: give it a live model"
        )
    return task.script.make_model(0, seed=seed, replay="lenient")


def _live(spec: ModelSpec, seed: int, key: str | None) -> Model:
    key = key_from_environment(spec) if key is None else key
    model = _server(spec, os.environ.get("OPENAI_BASE_URL", ""), key or "")
    if spec.send_seed:
        model = model.with_seed(seed)
    return JsonActionModel(model) if spec.protocol == "json_action" else model


def key_from_environment(spec: ModelSpec) -> str:
    """The key of a live model that stands in the environment; empty where none does.

    Raises:
        InputError: the design names a variable of its own, which is not there.
    """
    key = os.environ.get(spec.key_env, "").strip() if spec.key_env else ""
    if not key and spec.key_env not in ("", USUAL_KEY):
        raise InputError(
            f"the model {spec.name!r} needs its key in the environment variable {spec.key_env}, which is not set"
        )
    return key


@lru_cache(maxsize=16)
def _server(spec: ModelSpec, usual_server: str, key: str) -> OpenAIModel:
    """One model for all runs with the same settings: they share its connections, of which a new one costs 30 ms."""
    base_url = spec.base_url or usual_server
    if not spec.model.strip():
        raise InputError(f"the model {spec.name!r} needs model: the name that its server knows it by")
    if not key and (not base_url or profile_for(base_url).name == "openai"):
        raise InputError(
            f"the model {spec.name!r} needs the base_url of its server; or, for OpenAI, a key in the environment "
            f"variable {spec.key_env or USUAL_KEY}"
        )
    try:
        return OpenAIModel(
            spec.model,
            base_url=base_url or None,
            api_key=key or _NO_KEY,
            temperature=spec.temperature,
            max_tokens=spec.max_tokens,
            timeout_s=spec.timeout_s,
        )
    except InputError as error:
        raise InputError(f"the model {spec.name!r}: {error}") from error
