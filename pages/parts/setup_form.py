"""The side bar in which the settings of the next run are chosen."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial

import streamlit as st

from agent.errors import InputError
from agent.scripts import ScenarioInfo, scenarios
from pages.parts import address
from pages.parts.address_setup import named
from pages.parts.chosen_script import find_script, is_scenario, kept_titles, lesson_of
from pages.parts.class_lent import lent_by
from pages.parts.data import private
from pages.parts.model_form import model_form
from pages.parts.offered import known_names, own_names
from pages.parts.script_options import (
    HELD,
    chosen_real_tools,
    chosen_replay,
    chosen_seed,
    script_options,
    show_options,
)
from pages.parts.setup import (
    FIRST,
    LENT,
    OWN_TASK,
    REQUEST_TOKENS,
    RESULT_TOKENS,
    SCRIPTED,
    Changed,
    Setup,
    default_guards,
    default_protocol,
    default_steps,
    default_tools,
    guards_of,
    most_steps,
    server_url,
)
from pages.parts.words import t

_ORDER = ("calc", "order", "weather", "count_files", "atlantis", "code_word")
"""Scenarios for a first visit; the others follow by name."""

_HELD = (
    *(address.SCENARIO, address.TASK, address.SYSTEM, address.TOOLS, address.SCRIPT_TOOLS, address.MODEL_KIND),
    *(address.MODEL_NAME, address.BASE_URL, address.API_KEY, address.TEMPERATURE, address.MAX_TOKENS),
    *(address.PROTOCOL, address.TEXT_CALLS, address.PARALLEL, address.MAX_STEPS, address.GUARDS),
    *HELD,
)
"""The settings that cannot be changed while a run moves."""


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
        script_tools=_other_tools(scenario),
        kind=get(address.MODEL_KIND) or SCRIPTED,
        klass=lent_by() if get(address.MODEL_KIND) == LENT else "",
        model=get(address.MODEL_NAME) or "",
        base_url=get(address.BASE_URL) or "",
        keyed=bool(get(address.API_KEY)),
        temperature=get(address.TEMPERATURE),
        max_tokens=get(address.MAX_TOKENS),
        protocol=get(address.PROTOCOL) or "",
        text_calls=bool(get(address.TEXT_CALLS)),
        parallel=bool(get(address.PARALLEL, True)),
        max_steps=int(get(address.MAX_STEPS) or default_steps(scenario)),
        guards=bool(get(address.GUARDS, default_guards(scenario))),
        seed=chosen_seed(),
        replay=chosen_replay(),
        real_tools=chosen_real_tools(),
    )


def _other_tools(scenario: str) -> tuple[str, ...] | None:
    """The tools chosen for a scenario in place of its own."""
    names: list[str] | None = address.setting(address.SCRIPT_TOOLS)
    usual = scenario == OWN_TASK or names is None or tuple(names) == default_tools(scenario)
    return None if usual or names is None else tuple(names)


def show_setup(setup: Setup) -> None:
    """Let the settings be those of a run that is opened.

    Its server address is taken over on a private server only: elsewhere a link to a run could make somebody type a key
    for a stranger's server. A key that was typed for another run is no key for this one.
    """
    address.put(address.SCENARIO, setup.scenario)
    address.put(address.MODEL_KIND, setup.kind)
    address.put(address.MAX_STEPS, setup.max_steps)
    address.put(address.GUARDS, setup.guards)
    address.put(address.PARALLEL, setup.parallel)
    with suppress(InputError):  # its script is not here any more
        address.put(_tools_key(setup.scenario), list(setup.offered))
    show_options(setup.seed, setup.replay, setup.real_tools)
    if setup.own:
        address.put(address.TASK, setup.task)
        address.put(address.SYSTEM, setup.system)
    if setup.live:
        trusted = private() or setup.base_url == server_url("", os.environ)
        if not setup.lent:
            address.put(address.MODEL_NAME, setup.model)
            address.put(address.BASE_URL, setup.base_url if trusted else "")
            address.put(address.API_KEY, "")
        address.put(address.TEMPERATURE, setup.temperature)
        address.put(address.MAX_TOKENS, setup.max_tokens)
        address.put(address.PROTOCOL, setup.speaks)
        address.put(address.TEXT_CALLS, setup.text_calls)


def hold_setup() -> None:
    """From a callback that lets a run move: let the settings stay as they are, also one that came with the press.

    Their widgets are drawn disabled from then on, and the framework drops what comes for a disabled widget: who types a
    limit and goes straight to a button would see the run keep it and the field forget it. What a callback sets stays.
    """
    for key in _HELD:
        if (value := address.setting(key, ...)) is not ...:  # an empty field holds None
            address.put(key, value)


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
            script_options(find_script(scenario), busy=busy, changed=changed.task)
        _tools(scenario, busy, changed.task)
        model_form(scenario, busy=busy, changed=changed)
        _limits(scenario, busy, changed.limits)
    return chosen()


def _scenario_changed(changed: Callable[[], None]) -> None:
    scenario = address.setting(address.SCENARIO)
    address.put(address.MAX_STEPS, default_steps(scenario))
    address.put(address.GUARDS, default_guards(scenario))
    address.put(address.PROTOCOL, default_protocol(scenario))
    if scenario != OWN_TASK:
        address.put(address.SCRIPT_TOOLS, list(default_tools(scenario)))
    changed()


def _own_task(busy: bool, changed: Callable[[], None]) -> None:
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


def _tools(scenario: str, busy: bool, changed: Callable[[], None]) -> None:
    """Which tools are offered: those of the scenario, or others."""
    key = _tools_key(scenario)
    usual = list(default_tools(scenario))
    address.seed(key, usual, partial(_names, usual))
    names: list[str] = address.setting(key)
    own = own_names()
    words = {name: t("{tool} (own)", tool=name) if name in own else name for name in [*known_names(), *usual, *names]}
    with st.expander(t("Tools on offer: {n}", n=len(names)), key="tools_on_offer", type="compact"):
        st.multiselect(
            t("Tools on offer"),
            list(words),
            format_func=words.__getitem__,
            key=key,
            persist_state="session",
            label_visibility="collapsed",
            disabled=busy,
            on_change=changed,
        )
    address.share(key, usual, ",".join)


def _tools_key(scenario: str) -> str:
    return address.TOOLS if scenario == OWN_TASK else address.SCRIPT_TOOLS


def _names(usual: Collection[str], text: str) -> list[str] | None:
    """The tools that an address names; None where one of them is not here."""
    names = list(dict.fromkeys(name for name in text.split(",") if name))
    return names if set(names) <= {*known_names(), *usual} else None


def _about(scenario: str) -> None:
    script = find_script(scenario)
    if summary := _in_language(script.summary, script.summary_zh):
        st.caption(summary) if is_scenario(scenario) else st.text(summary)


def _limits(scenario: str, busy: bool, changed: Callable[[], None]) -> None:
    steps, guarded = default_steps(scenario), default_guards(scenario)
    address.seed(address.MAX_STEPS, steps, partial(_steps, most_steps(scenario)))
    st.number_input(
        t("Step limit"),
        min_value=1,
        key=address.MAX_STEPS,
        persist_state="session",
        disabled=busy,
        on_change=changed,
    )
    address.share(address.MAX_STEPS, steps)
    address.seed(address.GUARDS, guarded, lambda text: text != "off")
    guards = guards_of(None if scenario == OWN_TASK else find_script(scenario))
    calls, failing = guards.repeated_calls or "∞", guards.failing_steps or "∞"
    st.toggle(
        t("Guards: {n} equal calls, {m} failing steps", n=calls, m=failing),
        key=address.GUARDS,
        persist_state="session",
        help=t(
            "Guards end a run when a call keeps giving the same result, or when every call of several steps fails. "
            "Always on: a request holds at most about {request} tokens, one result {result}, where a script says "
            "nothing else; what is longer is cut, visibly.",
            request=f"{REQUEST_TOKENS:,}",
            result=f"{RESULT_TOKENS:,}",
        ),
        disabled=busy,
        on_change=changed,
    )
    address.share(address.GUARDS, guarded, lambda on: "on" if on else "off")


def _steps(most: int, text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= most else None


def scenario_title(scenario: str) -> str:
    """The title of a choice in the language of the session."""
    bundled = next((info for info in scenarios() if info.name == scenario), None)
    if bundled is not None:  # the usual case, and a side bar asks for many: only what else there is takes the disk
        return _title(bundled)
    return _choices().get(scenario, scenario)


def _choices() -> dict[str, str]:
    """The choices of a run: name -> title, first the ones for a first visit, last one's own scripts and task."""
    infos = {info.name: info for info in scenarios()}
    names = [name for name in _ORDER if name in infos] + [name for name in infos if name not in _ORDER]
    kept = {name: _of_whom(name, title) for name, title in _kept().items()}
    return {name: _title(infos[name]) for name in names} | kept | {OWN_TASK: t("Your own task")}


def _of_whom(name: str, title: str) -> str:
    return t("{title} (lesson)", title=title) if lesson_of(name) else t("{title} (own script)", title=title)


def _kept() -> dict[str, str]:
    """The kept scripts to choose from, and one that the address or an open run names."""
    titles, chosen_name = kept_titles(), str(address.setting(address.SCENARIO) or named(address.SCENARIO))
    if not is_scenario(chosen_name) and chosen_name not in titles:
        with suppress(InputError):
            script = find_script(chosen_name)
            titles[chosen_name] = _in_language(script.title, script.title_zh)
    return titles


def _title(info: ScenarioInfo) -> str:
    return _in_language(info.title, info.title_zh)


def _in_language(english: str, chinese: str) -> str:
    return chinese if chinese and address.language() == "zh" else english
