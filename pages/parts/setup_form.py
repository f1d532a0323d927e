"""The side bar in which the settings of the next run are chosen."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from agent.limits import HARD_CAP, Limits
from agent.scripts import ScenarioInfo, scenarios
from agent.toolbox import toolbox
from pages.parts import address
from pages.parts.data import private
from pages.parts.setup import FIRST, LIVE, OWN_TASK, SCRIPTED, Setup, default_steps, server_url
from pages.parts.words import t

_ORDER = ("calc", "order", "weather", "count_files", "atlantis")
"""Scenarios for a first visit; the others follow by name."""


def chosen() -> Setup:
    """The settings as the widgets hold them now; also right inside a callback."""
    get = address.setting
    scenario = get(address.SCENARIO)
    scenario = scenario if scenario in _choices() else FIRST
    return Setup(
        scenario=scenario,
        task=get(address.TASK) or "",
        system=get(address.SYSTEM) or "",
        tools=tuple(get(address.TOOLS) or ()),
        kind=get(address.MODEL_KIND) or SCRIPTED,
        model=get(address.MODEL_NAME) or "",
        base_url=get(address.BASE_URL) or "",
        keyed=bool(get(address.API_KEY)),
        max_steps=int(get(address.MAX_STEPS) or default_steps(scenario)),
        guards=bool(get(address.GUARDS, True)),
    )


def show_setup(setup: Setup) -> None:
    """Let the settings be those of a run that is opened.

    Its server address is taken over on a private server only: elsewhere a link to a run could make somebody type a key
    for a stranger's server. A key that was typed for another run is no key for this one.
    """
    address.put(address.SCENARIO, setup.scenario)
    address.put(address.MODEL_KIND, setup.kind)
    address.put(address.MAX_STEPS, setup.max_steps)
    address.put(address.GUARDS, setup.guards)
    if setup.own:
        address.put(address.TASK, setup.task)
        address.put(address.SYSTEM, setup.system)
        address.put(address.TOOLS, list(setup.tools))
    if setup.live:
        trusted = private() or setup.base_url == server_url("", os.environ)
        address.put(address.MODEL_NAME, setup.model)
        address.put(address.BASE_URL, setup.base_url if trusted else "")
        address.put(address.API_KEY, "")


@dataclass(frozen=True, slots=True)
class Changed:
    """What is called when a setting changes. Callbacks run before anything is drawn."""

    task: Callable[[], None]
    """What a run is made of: scenario, task, tools, kind of model."""
    model: Callable[[], None]
    """The name of the live model, or its server."""
    key: Callable[[], None]
    """The key of the live model."""
    limits: Callable[[], None]
    """The step limit or the guards."""


def setup_form(*, busy: bool, changed: Changed) -> Setup:
    """Draw the settings in the side bar and give them.

    Args:
        busy: a run is moving; nothing can be changed meanwhile.
        changed: what is called when a setting changes.
    """
    with st.sidebar:
        choices = _choices()
        address.seed(address.SCENARIO, FIRST, lambda text: text if text in choices else None)
        scenario = st.selectbox(
            t("Scenario"),
            list(choices),
            format_func=choices.__getitem__,
            key=address.SCENARIO,
            persist_state="session",
            disabled=busy,
            on_change=_scenario_changed,
            args=(changed.task,),
        )
        address.share(address.SCENARIO, FIRST)
        if scenario == OWN_TASK:
            _own_task(busy, changed.task)
        else:
            _about(scenario)
        _model(scenario == OWN_TASK, busy, changed)
        _limits(default_steps(scenario), busy, changed.limits)
    return chosen()


def _scenario_changed(changed: Callable[[], None]) -> None:
    address.put(address.MAX_STEPS, default_steps(address.setting(address.SCENARIO)))
    changed()


def _own_task(busy: bool, changed: Callable[[], None]) -> None:
    address.seed(address.TOOLS, ["add", "multiply"])
    st.text_area(
        t("Your task"), key=address.TASK, persist_state="session", height=100, disabled=busy, on_change=changed
    )
    st.text_area(
        t("System text"),
        key=address.SYSTEM,
        persist_state="session",
        height=68,
        placeholder=t("none"),
        help=t("Rules for the model, as the first message of the list."),
        disabled=busy,
        on_change=changed,
    )
    st.multiselect(
        t("Tools on offer"),
        list(toolbox()),
        key=address.TOOLS,
        persist_state="session",
        disabled=busy,
        on_change=changed,
    )


def _about(scenario: str) -> None:
    info = next(info for info in scenarios() if info.name == scenario)
    st.caption(_in_language(info.summary, info.summary_zh))


def _model(own: bool, busy: bool, changed: Changed) -> None:
    kinds = {SCRIPTED: t("Scripted"), LIVE: t("Live")}
    kind: str | None = LIVE
    if not own:
        address.seed(address.MODEL_KIND, SCRIPTED, lambda text: text if text in kinds else None)
        kind = st.radio(
            t("Model"),
            list(kinds),
            format_func=kinds.__getitem__,
            horizontal=True,
            key=address.MODEL_KIND,
            persist_state="session",
            help=t("A script of ours plays the model: no key, no network, the same every time. Or a real one answers."),
            disabled=busy,
            on_change=changed.task,
        )
        address.share(address.MODEL_KIND, SCRIPTED)
    if kind != LIVE:
        return
    address.seed(address.MODEL_NAME, os.environ.get("OPENAI_MODEL", ""))
    address.seed(address.BASE_URL, os.environ.get("OPENAI_BASE_URL", ""))
    st.text_input(
        t("Model name"),
        key=address.MODEL_NAME,
        persist_state="session",
        disabled=busy,
        on_change=changed.model,
    )
    st.text_input(
        t("Base URL"),
        key=address.BASE_URL,
        persist_state="session",
        placeholder="https://api.openai.com/v1",
        help=t("Any server that speaks the OpenAI Chat API."),
        disabled=busy,
        on_change=changed.model,
    )
    st.text_input(
        t("API key"),
        key=address.API_KEY,
        type="password",
        autocomplete="off",
        placeholder=t("from the environment, or none"),
        help=t("Used for this run only; never saved, logged or put into a link."),
        disabled=busy,
        on_change=changed.key,
    )


def _limits(steps: int, busy: bool, changed: Callable[[], None]) -> None:
    address.seed(address.MAX_STEPS, steps, _steps)
    st.number_input(
        t("Step limit"),
        min_value=1,
        key=address.MAX_STEPS,
        persist_state="session",
        disabled=busy,
        on_change=changed,
    )
    address.share(address.MAX_STEPS, steps)
    address.seed(address.GUARDS, True, lambda text: text != "off")
    guards = Limits.guarded()
    st.toggle(
        t("Guards: {n} equal calls, {m} failing steps", n=guards.repeated_calls, m=guards.failing_steps),
        key=address.GUARDS,
        persist_state="session",
        help=t("Guards end a run when a call keeps giving the same result, or when every call of several steps fails."),
        disabled=busy,
        on_change=changed,
    )
    address.share(address.GUARDS, True, lambda on: "on" if on else "off")


def _steps(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= HARD_CAP else None


def scenario_title(scenario: str) -> str:
    """The title of a choice in the language of the session."""
    return _choices().get(scenario, scenario)


def _choices() -> dict[str, str]:
    """The choices of a run: name -> title, first the ones for a first visit, last a task of one's own."""
    infos = {info.name: info for info in scenarios()}
    names = [name for name in _ORDER if name in infos] + [name for name in infos if name not in _ORDER]
    return {name: _title(infos[name]) for name in names} | {OWN_TASK: t("Your own task")}


def _title(info: ScenarioInfo) -> str:
    return _in_language(info.title, info.title_zh)


def _in_language(english: str, chinese: str) -> str:
    return chinese if chinese and address.language() == "zh" else english
