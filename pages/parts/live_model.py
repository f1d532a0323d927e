"""The live model of a run: made from the settings, or what is still missing for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from agent.models.base import Model
from agent.models.json_action import JsonActionModel
from agent.models.openai_chat import OpenAIModel
from agent.scripts import Script
from pages.parts import address
from pages.parts.class_lent import borrow, not_lent
from pages.parts.setup import JSON_ACTION, Setup, server_url
from pages.parts.words import t

_NO_KEY = "no-key"
"""Sent to a server that needs none."""


def make_model(setup: Setup, script: Script | None) -> Model:
    """The script's own fake model, the live one of the settings with the key that stands in its field, or the class's.

    Raises:
        InputError: the server's address or the key cannot be right, or no model is lent.
    """
    if script is not None and not setup.live:
        pace = 0 if script.recorded else 1
        replay: Any = setup.replay or None
        return script.make_model(pace, seed=setup.seed, replay=replay)
    options: dict[str, Any] = {
        "stream": True,
        "temperature": setup.temperature,
        "max_tokens": setup.max_tokens,
        "parallel_tool_calls": None if setup.parallel else False,
        "text_calls": setup.text_calls,
    }
    model = borrow(**options) if setup.lent else _own_model(setup, options)
    return JsonActionModel(model) if setup.speaks == JSON_ACTION else model


def _own_model(setup: Setup, options: dict[str, Any]) -> Model:
    key = key_for(setup.base_url, address.setting(address.API_KEY) or "", os.environ)
    return OpenAIModel(setup.model, base_url=setup.base_url or None, api_key=key, **options)


def key_for(base_url: str, typed: str, environment: Mapping[str, str]) -> str | None:
    """The key for a server: the typed one, else the environment's, but that only for the environment's own server.

    Otherwise anybody who can open the page could send the key of whoever started it to a server of his own. None
    leaves it to the model, which takes the environment's.
    """
    if typed:
        return typed
    return None if server_url(base_url, environment) == server_url("", environment) else _NO_KEY


def missing(before: Setup, now: Setup) -> str | None:
    """What is missing before an interrupted run can go on, as sentences; None: nothing is.

    An empty field for the server is enough only where it means the server that the run used before: its conversation
    must not go to another one unasked.

    Args:
        before: what the run was started with.
        now: the settings as the side bar holds them.
    """
    needed = not_lent(before.klass) if before.lent else _missing_fields(before, now) if before.live else None
    sentences = [before.lost(), needed]
    return " ".join(filter(None, sentences)) or None


def _missing_fields(before: Setup, now: Setup) -> str | None:
    """What has to be filled in before an interrupted live run can go on."""
    fields = []
    if not now.model.strip():
        fields.append(t("Model name"))
    if not now.base_url.strip() and before.base_url != server_url("", os.environ):
        fields.append(t("Base URL"))
    if before.keyed and not now.keyed:
        fields.append(t("API key"))
    if not fields:
        return None
    used = t("This run used the model {model} at {url}.", model=before.model, url=before.base_url or "?")
    return f"{used} {t('To go on, fill in on the left: {fields}.', fields=', '.join(fields))}"
