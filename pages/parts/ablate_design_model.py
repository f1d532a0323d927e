"""The part of the design form in which the models are chosen that answer, and the keys of live ones are typed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import streamlit as st

from pages.parts import address, address_ablate
from pages.parts.ablate_design_begin import sidebar_model
from pages.parts.ablate_design_draft import change
from pages.parts.ablate_design_parts import Several, chooser, field, free_name
from pages.parts.live_model import key_for
from pages.parts.setup import MOST_HEAT, server_url
from pages.parts.words import t
from traces.experiments.design.experiment import Experiment, ModelKind, ModelSpec


def model_part(design: str, experiment: Experiment) -> None:
    """Draw the models of a design, one at a time."""
    models = experiment.models
    several = Several(
        design,
        "models",
        [model.name for model in models],
        {"script": t("Script"), "stand_in": t("Stand-in"), "live": t("Live")},
        lambda at: models[at].kind,
        lambda at, kind: _set_kind(design, at, kind),
        lambda: _add(design),
        lambda at: _remove(design, at),
    )
    at = chooser(several, title=t("Model"), which=t("Which model to show"), kind=t("Which model answers"))
    model = models[at]
    st.caption(kind_words(model.kind))
    if model.kind == "live":
        _live(design, at, model)


def kind_words(kind: ModelKind) -> str:
    """What such a model is, and whose rules it follows."""
    return {
        "script": t(
            "The fake model of the script, or the recorded replies of a trace. It follows rules of ours: what is found "
            "holds for this script, and says nothing about a real model."
        ),
        "stand_in": t(
            "A fake model made of the trace, which reacts to what is taken away. Its rules are ours: it shows how the "
            "laboratory works, and says nothing about a real model."
        ),
        "live": t("A real model on a server that speaks the OpenAI Chat API. What is found holds for it."),
    }[kind]


def key_fields(models: Sequence[ModelSpec]) -> None:
    """Draw a field for the key of each server of the live models, in the side bar.

    A key is kept nowhere else than in its field, which therefore stays there whatever part of the page is shown. It
    belongs to a server and not to a model: another address has another field, which is empty.
    """
    for server in dict.fromkeys(_server(model) for model in models if model.kind == "live"):
        with st.sidebar:
            st.text_input(
                t("API key"),
                key=address_ablate.key_field(server),
                type="password",
                autocomplete="off",
                placeholder=t("from the environment, or none"),
                help=t("Used for this experiment only; never saved, logged or put into a link."),
            )
            st.text(server)  # it may be anybody's


def _server(model: ModelSpec) -> str:
    return server_url(model.base_url, os.environ)


def typed_keys(models: Sequence[ModelSpec]) -> dict[str, str]:
    """The keys of the live models, by their names. That of the environment goes to the environment's own server alone.

    A design is text of anybody: neither its address of a server nor its name of a variable gets a key of ours sent.
    """
    keys = {}
    for model in models:
        if model.kind != "live":
            continue
        typed = str(address.setting(address_ablate.key_field(_server(model))) or "")
        keys[model.name] = key_for(model.base_url, typed, os.environ) or os.environ.get("OPENAI_API_KEY", "")
    return keys


def _live(design: str, at: int, model: ModelSpec) -> None:
    with st.container(horizontal=True, gap="small"):
        st.text_input(
            t("Model name"),
            **field("ablate-model-name", model.model, lambda name: _set_model(design, at, name.strip())),
        )
        st.text_input(
            t("Base URL"),
            placeholder="https://api.openai.com/v1",
            help=t("Any server that speaks the OpenAI Chat API."),
            **field("ablate-url", model.base_url, lambda url: _set_fields(design, at, base_url=url.strip())),
        )
    st.caption(t("Its key goes into the side bar."))
    _options(design, at, model)


def _options(design: str, at: int, model: ModelSpec) -> None:
    """How it is asked."""

    def setter(name: str) -> Any:
        return lambda value: _set_fields(design, at, **{name: value})

    with (
        st.expander(t("Model options"), key="ablate-model-options", type="compact"),
        st.container(horizontal=True, vertical_alignment="bottom", gap="small"),
    ):
        st.number_input(
            t("Temperature"),
            0.0,
            MOST_HEAT,
            value=None,
            step=0.1,
            format="%.2f",
            placeholder=t("the server's"),
            width=140,
            **field("ablate-heat", model.temperature, setter("temperature")),
        )
        st.number_input(
            t("Longest reply (tokens)"),
            1,
            value=None,
            step=50,
            placeholder=t("the server's"),
            width=160,
            **field("ablate-longest", model.max_tokens, setter("max_tokens")),
        )
        st.number_input(
            t("Time limit (s)"),
            1.0,
            step=10.0,
            format="%.0f",
            width=130,
            **field("ablate-timeout", float(model.timeout_s), setter("timeout_s")),
        )
        protocols = {"native": t("Native"), "json_action": t("JSON action")}
        st.selectbox(
            t("Protocol"),
            list(protocols),
            format_func=protocols.__getitem__,
            width=150,
            **field("ablate-protocol", model.protocol, setter("protocol")),
        )
        st.toggle(
            t("Send the seed"),
            help=t("Each request carries the seed of its run. Few servers heed it, and some refuse it."),
            **field("ablate-send-seed", model.send_seed, setter("send_seed")),
        )


# ---- what the fields do ----


def _new(kind: str) -> ModelSpec:
    """A model of a kind to begin with; a live one is that of the Run page, where it names one."""
    return (sidebar_model() if kind == "live" else None) or ModelSpec(name=kind, kind=cast("ModelKind", kind))


def _set_kind(design: str, at: int, kind: str) -> None:
    def make(experiment: Experiment) -> Experiment:
        return _with(experiment, at, _new(kind))

    change(design, make)


def _set_model(design: str, at: int, name: str) -> None:
    """A live model that was not named otherwise is called by its server's name for it."""

    def make(experiment: Experiment) -> Experiment:
        before = experiment.models[at]
        called = name.replace("/", " ") if name and before.name in ("live", before.model) else before.name
        return _with(experiment, at, replace(before, model=name, name=called))

    change(design, make)


def _set_fields(design: str, at: int, **fields: Any) -> None:
    def make(experiment: Experiment) -> Experiment:
        return _with(experiment, at, replace(experiment.models[at], **fields))

    change(design, make)


def _with(experiment: Experiment, at: int, model: ModelSpec) -> Experiment:
    models = experiment.models
    taken = [each.name for number, each in enumerate(models) if number != at]
    named = replace(model, name=free_name(model.name, taken))
    return replace(experiment, models=(*models[:at], named, *models[at + 1 :]))


def _add(design: str) -> None:
    def make(experiment: Experiment) -> Experiment:
        models = experiment.models
        address_ablate.choose(design, "models", len(models))
        new = _new("live")
        return replace(experiment, models=(*models, replace(new, name=free_name(new.name, [m.name for m in models]))))

    change(design, make)


def _remove(design: str, at: int) -> None:
    def make(experiment: Experiment) -> Experiment:
        return replace(experiment, models=experiment.models[:at] + experiment.models[at + 1 :])

    change(design, make)
