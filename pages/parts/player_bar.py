"""The bar of the player: its buttons, the slider over all moments, and how fast it plays."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_replay
from pages.parts.keys import Control, controls, keys_panel
from pages.parts.player import Press, Reel, Standing, standing
from pages.parts.player_source import named_reel
from pages.parts.words import t

_TEMPO = "player-tempo"
_CUT = "player-cut"


def player_controls() -> dict[Press, Control]:
    """All controls of the player in their order; those that the stepper has too have the same keys."""
    run = controls()
    return {
        "start": Control(t("Start"), "Home", ":material/skip_previous:", t("The first moment")),
        "back": run["back"],
        "play": Control(t("Play"), "W", ":material/play_arrow:", t("Phase after phase by itself, at the pace below")),
        "pause": Control(t("Pause"), "P", ":material/pause:", t("Stay at this moment")),
        "step": Control(run["step"].label, run["step"].key, ":material/arrow_forward:", t("One phase")),
        "step_over": run["step_over"],
        "next_call": run["next_call"],
        "end": Control(t("End"), "End", ":material/skip_next:", t("The last moment")),
    }


def player_bar(reel: Reel, stands: Standing) -> None:
    """Draw the buttons, the slider and the pace.

    Args:
        reel: the trace.
        stands: where the player stands; the same as for the rest of the page.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="player-buttons"):
        for press, control in player_controls().items():
            _button(press, control, enabled=_enabled(press, reel, stands))
    if reel.last:
        key = address_replay.slider_key(stands.place)
        st.slider(
            t("Moment"),
            1,
            reel.last + 1,
            stands.place + 1,
            key=key,
            label_visibility="collapsed",
            on_change=_slid,
            args=(key,),
        )


def keys_button() -> None:
    """Draw the button that shows all keys of the player."""
    control = controls()["keys"]
    pressed = st.button(
        control.label,
        key="player-keys",
        icon=control.icon,
        shortcut=control.key,
        help=control.help,
        type="tertiary",
    )
    if pressed:
        keys_panel([*player_controls().values(), control])


def pace_fields() -> None:
    """Draw the choice of the pace, and where long waits are cut."""
    address.put(_TEMPO, address_replay.tempo())
    address.put(_CUT, address_replay.cut())
    st.selectbox(
        t("Pace"),
        address_replay.tempos(),
        format_func=_tempo_words,
        key=_TEMPO,
        label_visibility="collapsed",
        width=168,
        on_change=_pace_chosen,
        help=t("As recorded, a call takes as long as the model did, an execute as long as its tools."),
    )
    st.selectbox(
        t("Long waits"),
        [0, *address_replay.CUTS_S],
        format_func=_cut_words,
        key=_CUT,
        label_visibility="collapsed",
        width=148,
        disabled=address_replay.tempo().endswith("s"),
        on_change=_pace_chosen,
    )


def _tempo_words(tempo: str) -> str:
    number = tempo[:-1]
    if tempo.endswith("s"):
        return t("{n} s a phase", n=number)
    return t("as recorded") if number == "1" else t("as recorded, × {n}", n=number)


def _cut_words(seconds: int) -> str:
    return t("waits cut at {n} s", n=seconds) if seconds else t("waits in full")


def _enabled(press: Press, reel: Reel, stands: Standing) -> bool:
    if press == "pause":
        return stands.playing
    if press in ("start", "back"):
        return stands.place > 0
    if press == "play":
        return not stands.playing and reel.last > 0
    return stands.place < reel.last


def _button(press: Press, control: Control, *, enabled: bool) -> None:
    st.button(
        control.label,
        key=f"player-{press}",
        icon=control.icon,
        shortcut=control.key,
        help=control.help,
        type="primary" if press == "play" else "secondary",
        disabled=not enabled,
        on_click=_pressed,
        args=(press,),
    )


# ---- what a press does. Where the player stands is asked anew: it may have gone on since the page was drawn ----


def _reel() -> Reel | None:
    """The trace at hand; None where it went away meanwhile, which the page says as soon as it is drawn."""
    with suppress(AgentError, OSError):
        return named_reel()
    return None


def _pressed(press: Press) -> None:
    reel = _reel()
    if reel is None:
        return
    place = standing(reel).place
    if press == "play":
        address_replay.play(0 if place == reel.last else place)
    else:
        address_replay.look(reel.after(place, press))


def _slid(key: str) -> None:
    value = address.setting(key)
    if value is not None:  # else it is one that is gone already
        address_replay.slide(key, int(value) - 1)


def _pace_chosen() -> None:
    reel = _reel()
    if reel is None:
        return
    stands = standing(reel)
    tempo, cut = str(address.setting(_TEMPO)), int(address.setting(_CUT))
    address_replay.choose_pace(tempo, cut, stands.place, playing=stands.playing)
