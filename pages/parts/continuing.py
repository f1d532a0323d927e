"""Continue from here: from a moment of a replay into a new run, by the recording, with real tools or a live model."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from agent.errors import AgentError
from agent.events import Phase
from agent.moments import Moment
from agent.trace import Trace
from pages.parts import address, address_replay
from pages.parts.chosen_script import kept_name, scripts
from pages.parts.history import View
from pages.parts.model_form import model_form
from pages.parts.offered import known_names
from pages.parts.phases import phase_words
from pages.parts.player import Reel, standing
from pages.parts.player_source import named_reel
from pages.parts.resuming import continued
from pages.parts.setup import LIVE, OWN_TASK, SCRIPTED, Changed, Setup
from pages.parts.setup_form import chosen
from pages.parts.words import loop_words, t
from traces.redacting import without_secrets
from traces.scripting import script_data, script_text

_WAY = "continue-way"
_REPLAY = "continue-replay"
_REAL = "continue-real"
_STRICT, _LENIENT = "strict", "lenient"
_SCRIPT, _TOOLS, _MODEL = "script", "tools", "model"
_MOST_READABLE = 400
"""Messages up to which a script is YAML, for people; a longer one is JSON, which is read many times faster."""


def continue_panel(reel: Reel, view: View) -> None:
    """Draw the ways on from a moment, each with what it does, and the button.

    Args:
        reel: the trace.
        view: the moment at which the player stands.
    """
    st.caption(
        t("A new run begins at this moment and opens in the stepper, where it can be edited and forked as ever.")
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        way = _way(reel.trace)
        begins = beginning(reel, view.number - 1)
        if begins != view.moment:
            st.caption(_elsewhere(view, begins))
        st.button(
            _label(begins),
            key="continue-here",
            icon=":material/call_split:",
            type="primary",
            on_click=_go_on,
        )
    with right:
        if way == _MODEL:
            _live_fields()
        else:
            _replay_field(way)


def _way(trace: Trace) -> str:
    words = _ways(trace)
    address.seed(_WAY, _SCRIPT)
    return st.radio(
        t("How it goes on"),
        list(words),
        format_func=lambda each: words[each][0],
        captions=[caption for _, caption in words.values()],
        key=_WAY,
        label_visibility="collapsed",
    )


def beginning(reel: Reel, place: int) -> Moment:
    """Where the new run really begins.

    Where a turn is over there is nothing to go on with: it begins with the next words of the user, or before the last
    model call where there are none.
    """
    here = reel.moments[place]
    if here.phase is not None:
        return here
    if place < reel.last:
        return reel.moments[place + 1]
    return next((moment for moment in reversed(reel.moments) if moment.phase is Phase.PREPARE), here)


def _ways(trace: Trace) -> dict[str, tuple[str, str]]:
    """Each way on: its name, and a sentence about what it does."""
    here = _real(trace)
    which = t("They are here: {tools}.", tools=", ".join(here)) if here else t("None of them is here, so none runs.")
    return {
        _SCRIPT: (
            t("With the script"),
            t("The recorded replies and results come again, as if nothing had happened. Nothing is called."),
        ),
        _TOOLS: (
            t("With the script and real tools"),
            t("The recorded replies come again, but the tools really run.") + " " + which,
        ),
        _MODEL: (
            t("With a live model"),
            t("A real model answers from here on, and sees the messages up to here."),
        ),
    }


def _real(trace: Trace) -> list[str]:
    """The tools of a trace that are here and can run."""
    schemas = [schema.get("function") or {} for schema in trace.tools]
    named = {str(function.get("name")) for function in schemas}
    named |= {run.name for step in trace.steps for run in step.tools}
    return [name for name in known_names() if name in named]


def _replay_field(way: str) -> None:
    """How strictly the recording is followed. Real tools seldom answer the same, so there the usual is lenient."""
    key = f"{_REPLAY}-{way}"
    words = {_STRICT: t("Strict"), _LENIENT: t("Lenient")}
    address.seed(key, _STRICT if way == _SCRIPT else _LENIENT)
    st.radio(
        t("When a request is not the recorded one"),
        list(words),
        format_func=words.__getitem__,
        captions=[
            t("The run stops and shows the nearest recorded request and the difference."),
            t("The difference is noted and the recorded reply comes all the same."),
        ],
        key=key,
    )


def _live_fields() -> None:
    """The model form of the Run page, and which tools answer."""

    def nothing() -> None:
        """No run is at hand that a change would concern."""

    model_form(OWN_TASK, busy=False, changed=Changed(nothing, nothing, nothing, nothing))
    address.seed(_REAL, False)
    st.toggle(
        t("Let the real tools run"),
        key=_REAL,
        help=t("Off: a call that was recorded gets its recorded result, any other one an error that says so."),
    )


def _elsewhere(view: View, begins: Moment) -> str:
    if view.past and begins.turn > view.moment.turn:
        return t("The turn is over here, so the new run begins with the next words of the user.")
    if view.past:
        return t("The turn was over here and went on all the same; the new run begins where it did.")
    return t("The run is over here, so the new one begins before its last model call.")


def _label(begins: Moment) -> str:
    if begins.phase is None:
        return t("Continue from here: at the end")
    return t("Continue from here: step {n}, before {phase}", n=begins.step, phase=phase_words(begins.phase).word)


# ---- the press ----


def _go_on() -> None:
    """Make the new run, and lead to it. A second press before the page has followed makes no other."""
    if address_replay.gone_to() is not None:
        return
    try:
        reel = named_reel()
        if reel is None:
            return
        place = standing(reel).place
        address_replay.look(place)
        trace = without_secrets(reel.trace)[0]  # the script and the new run hold the same, on disk as well
        setup = _setup(trace)
        if (missing := _missing(setup)) is not None:
            address.tell(missing)
            return
        run = continued(trace, beginning(reel, place), setup)
    except (AgentError, OSError) as error:
        address.tell(loop_words(str(error)))
        return
    address_replay.go_to(run.id)


def _missing(setup: Setup) -> str | None:
    if setup.live and not setup.model.strip():
        return t("Name the live model, then press the button.")
    return setup.problem()


def _setup(trace: Trace) -> Setup:
    """What the new run is made of, as the fields say."""
    way = str(address.setting(_WAY, _SCRIPT))
    scenario = kept_name(script_of_trace(trace))
    if way != _MODEL:
        replay = str(address.setting(f"{_REPLAY}-{way}", _STRICT))
        return Setup(scenario, kind=SCRIPTED, replay=replay, real_tools=way == _TOOLS)
    real = bool(address.setting(_REAL))
    return replace(chosen(), scenario=scenario, kind=LIVE, script_tools=None, real_tools=real, replay="", seed=None)


def script_of_trace(trace: Trace) -> str:
    """The id of the kept script that holds what a trace recorded, made where there is none yet.

    One that somebody has changed since is another script: it is left as it is.

    Raises:
        AgentError: the trace cannot be written as a script, or the script cannot be kept.
    """
    text, _ = script_text(script_data(trace), as_json=len(trace.messages) > _MOST_READABLE)
    kept = scripts()
    same = (info.id for info in kept.list() if info.recorded == trace.trace_id and kept.read(info.id) == text)
    found = next(same, None) or kept.save(trace.title, text)
    address.opened().add(found)
    return found
