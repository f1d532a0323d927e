"""Conditions in words: what each changes, by the names of interventions and faults in the language of the session."""

from __future__ import annotations

import re
from typing import Any

from agent.faults import FAULTS, Fault
from agent.interventions import KINDS, Intervention
from pages.parts import address
from pages.parts.faults import fault_words
from pages.parts.intervention_words import kind_name, kind_words, param_words
from pages.parts.words import loop_words, t
from traces.experiments.design.experiment import BASELINE, ArmedFault, Condition
from traces.experiments.exercise import exercises

_FAULT = "fault:"
_JOIN = " + "
"""What stands between kinds in the name that a condition has by itself."""
_KIND = re.compile(r"(?P<kind>\w+)(?P<number> \d+)?")
"""One of them; a second condition of the same kind has a number."""
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


def condition_name(name: str) -> str:
    """The name of a condition: one that is made of interventions and faults in words, one's own as it is.

    It may hold words of a design, so it is for plain text only.
    """
    if name == BASELINE:
        return t("baseline")
    if address.language() == "zh":
        for exercise in exercises():
            if name in exercise.conditions_zh:
                return exercise.conditions_zh[name]
    words = [_part_words(part) for part in name.split(_JOIN)]
    return _JOIN.join(words) if all(words) else name


def _part_words(part: str) -> str:
    """A part of a name in words; empty where it is one's own."""
    found = _KIND.fullmatch(part)
    kind = found["kind"] if found else ""
    if not found or not (kind in KINDS or kind in FAULTS):
        return ""
    return kind_title(kind if kind in KINDS else f"{_FAULT}{kind}") + (found["number"] or "")


def what_differs(condition: Condition) -> str:
    """What a condition changes, beside its name: in a sentence where the name says the same already."""
    said = change_words(condition)
    if said != condition_name(condition.name):
        return said
    return " ".join(sentence_of(each.kind) for each in condition.interventions) or said


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
