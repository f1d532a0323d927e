"""Conditions in words: what each changes, by the names of interventions and faults in the language of the session."""

from __future__ import annotations

from typing import Any

from agent.faults import FAULTS, Fault
from agent.interventions import Intervention
from pages.parts.faults import fault_words
from pages.parts.intervention_words import kind_name, kind_words, param_words
from pages.parts.words import loop_words, t
from traces.experiments.design.experiment import ArmedFault, Condition

_FAULT = "fault:"
_LONGEST = 40
"""Characters shown of the value of a parameter."""


def kind_title(kind: str) -> str:
    """A line of the menu: what it concerns and what happens; a fault stands behind ``fault:``."""
    if kind.startswith(_FAULT):
        return t("Fault · {what}", what=fault_words(kind.removeprefix(_FAULT)))
    return kind_name(kind)


def sentence_of(kind: str) -> str:
    """What happens, in one sentence."""
    if kind.startswith(_FAULT):
        return loop_words(FAULTS[kind.removeprefix(_FAULT)].sentence)
    return kind_words(kind)[1]


def fault_title(fault: Fault) -> str:
    """What a fault is, as the menu has it."""
    return kind_title(f"{_FAULT}{fault.kind}")


def number_words(name: str) -> str:
    """A parameter of a fault."""
    words = {
        "timeout_s": t("Time limit (s)"),
        "wait_s": t("Seconds to wait"),
        "characters": t("Characters"),
        "times": t("How many times"),
    }
    return words[name]


def change_words(condition: Condition) -> str:
    """What a condition changes, in one line. It may hold words of a design, so it is for plain text only."""
    said = [*map(_intervention_words, condition.interventions), *map(_armed_words, condition.faults)]
    return " + ".join(said) or t("nothing is changed")


def _intervention_words(intervention: Intervention) -> str:
    params = t(", ").join(f"{param_words(name)} {_value(value)}" for name, value in intervention.params.items())
    return f"{kind_title(intervention.kind)}{f' ({params})' if params else ''}"


def _armed_words(armed: ArmedFault) -> str:
    return f"{fault_title(armed.fault)} ({t('step {n}', n=armed.step)})"


def _value(value: Any) -> str:
    text = t(", ").join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
