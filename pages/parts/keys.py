"""Every control of a run with its name, its key and what it does: one list for the buttons and for the help panel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import streamlit as st

from pages.parts.words import t

Action = Literal[
    "step",
    "step_over",
    "next_call",
    "continue",
    "walk",
    "pause",
    "stop",
    "back",
    "forward",
    "now",
    "reset",
    "keys",
    "approve",
    "extend",
]


@dataclass(frozen=True, slots=True)
class Control:
    """One control, in the words of the session."""

    label: str
    key: str
    icon: str
    help: str


def controls() -> dict[Action, Control]:
    """All controls that move a run or the view of it."""
    return {
        "step": Control(t("Step"), "S", ":material/skip_next:", t("One phase")),
        "step_over": Control(t("Step over"), "O", ":material/redo:", t("One whole step: until its last phase is done")),
        "next_call": Control(
            t("To call"), "M", ":material/psychology:", t("Until the next model call is about to be made")
        ),
        "continue": Control(t("Continue"), "G", ":material/play_arrow:", t("To the end, or to a breakpoint")),
        "walk": Control(
            t("Walk"), "W", ":material/directions_walk:", t("Phase after phase by itself, at the pace beside it")
        ),
        "pause": Control(
            t("Pause"),
            "P",
            ":material/pause:",
            t("Wait after the phase that is running. The run can go on, also tomorrow"),
        ),
        "stop": Control(t("Stop"), "Q", ":material/stop:", t("End the run now. Pause only lets it rest, Stop ends it")),
        "back": Control(t("Back"), "B", ":material/arrow_back:", t("Look at the phase before. Nothing runs")),
        "forward": Control(t("Forward"), "F", ":material/arrow_forward:", t("Look at the phase after. Nothing runs")),
        "now": Control(t("Now"), "N", ":material/last_page:", t("Look again at where the run stands")),
        "reset": Control(t("Reset"), "X", ":material/restart_alt:", t("Leave this run and set up a new one")),
        "keys": Control(t("Keys"), "H", ":material/keyboard:", t("Show all keys")),
        "extend": Control(
            t("Go on"), "E", ":material/more_time:", t("After a limit: more of what ran out, in the same run")
        ),
        "approve": Control(
            t("Run as asked"), "A", ":material/check:", t("Let the first undecided call run as the model asked")
        ),
    }


def keys_panel(known: Iterable[Control] | None = None) -> None:
    """Open the list of keys as a dialog.

    Args:
        known: the controls of the page; None: those of a run.
    """
    shown = controls().values() if known is None else known

    @st.dialog(t("Keys"), width="medium")
    def panel() -> None:
        rows = [(control.key, control.label, control.help) for control in shown]
        rows += [
            ("Tab", t("Next control"), t("Every control and every table is reached by it")),
            ("↑ ↓", t("Move in a table"), ""),
            ("Shift+Space", t("Select the row"), t("The message is shown in full below the table")),
            ("Esc", t("Close"), t("This panel, or the menu that is open")),
        ]
        st.table(pd.DataFrame(rows, columns=[t("Key"), t("Control"), t("What it does")]), hide_index=True)

    panel()
