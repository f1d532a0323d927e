"""What can be chosen about the script of a run: its seed, how strictly a recording is followed, whether tools run."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.scripts import Script
from pages.parts import address
from pages.parts.offered import known_names
from pages.parts.words import t

SEED = "seed"
REPLAY = "replay"
REAL_TOOLS = "real_tools"
HELD = (SEED, REPLAY, REAL_TOOLS)
"""Keys of the fields, in the URL as well."""

_STRICT, _LENIENT = "strict", "lenient"


def chosen_seed() -> int | None:
    """The seed that was typed; None: that of the script."""
    seed: int | None = address.setting(SEED)
    return seed


def chosen_replay() -> str:
    """How strictly a recording is followed; empty: as the script says."""
    return str(address.setting(REPLAY) or "")


def chosen_real_tools() -> bool:
    """Whether tools that are here run also where the script holds their answers."""
    return bool(address.setting(REAL_TOOLS))


def show_options(seed: int | None, replay: str, real_tools: bool) -> None:
    """Let the fields be those of a run that is opened."""
    address.put(SEED, seed)
    address.put(REPLAY, replay or _STRICT)
    address.put(REAL_TOOLS, real_tools)


def script_options(script: Script, *, busy: bool, changed: Callable[[], None]) -> None:
    """Draw the fields that mean something for this script.

    Args:
        script: of the run.
        busy: a run is moving; nothing can be changed meanwhile.
        changed: called when one of them changes.
    """
    if script.rules:
        address.seed(SEED, None, lambda text: int(text) if text.isascii() and text.isdigit() else None)
        st.number_input(
            t("Seed"),
            min_value=0,
            max_value=2**53 - 1,
            key=SEED,
            persist_state="session",
            placeholder=str(script.seed),
            help=t("The rules of this script draw their chances by it: the same seed, the same run."),
            disabled=busy,
            on_change=changed,
        )
        address.share(SEED, None)
    if script.recorded is not None:
        _replay(script, busy, changed)
    if _answered(script):
        address.seed(REAL_TOOLS, False, lambda text: text == "on")
        st.toggle(
            t("Let the real tools run"),
            key=REAL_TOOLS,
            persist_state="session",
            help=t("Off: tools answer what stands in the script. On: those that are here really run."),
            disabled=busy,
            on_change=changed,
        )
        address.share(REAL_TOOLS, False, lambda on: "on" if on else "off")


def _replay(script: Script, busy: bool, changed: Callable[[], None]) -> None:
    words = {_STRICT: t("Strict"), _LENIENT: t("Lenient")}
    usual: str = script.replay
    address.seed(REPLAY, usual, lambda text: text if text in words else None)
    st.radio(
        t("Replay"),
        list(words),
        format_func=words.__getitem__,
        horizontal=True,
        key=REPLAY,
        persist_state="session",
        help=t(
            "What happens when a request is not the recorded one. Strict: the run stops and shows the difference. "
            "Lenient: the difference is noted and the recorded reply comes all the same."
        ),
        disabled=busy,
        on_change=changed,
    )
    address.share(REPLAY, usual)


def _answered(script: Script) -> bool:
    """Whether the script answers for a tool that is here."""
    return not script.answered.isdisjoint(known_names())
