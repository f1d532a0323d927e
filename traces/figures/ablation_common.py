"""What the pictures of an experiment share: names of arms, their colours and signs, and the words of findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import plotly.graph_objects as go

from agent import jsontext
from traces.experiments.analysis.summary import Effect, Summary
from traces.experiments.outcomes import OUTCOMES
from traces.figures.common import Translate, colour_of, escaped

ROW_PX = 34
"""Height of one arm."""
_NAMES = ("user", "completion", "ok", "error", "system", "reasoning", "cached", "unknown")
_SIGNS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star", "pentagon")
_LONGEST = 30
"""Characters of a name."""


def shown(text: str, length: int = _LONGEST) -> str:
    """A name or an answer, not too long, safe in a label, and such that it can be sent."""
    return escaped(jsontext.clean(text), length)


class ArmKey(NamedTuple):
    """One condition with one model."""

    model: str
    condition: str

    def label(self, models: int) -> str:
        """How pictures call it: the condition alone where there is only one model. Safe in a label."""
        name = shown(self.condition)
        return name if models <= 1 else f"{name} · {shown(self.model)}"


class Mark(NamedTuple):
    """How an arm or a model is told apart: never by its colour alone."""

    colour: str
    sign: str


def mark_of(position: int, colours: Mapping[str, str]) -> Mark:
    """The colour and sign of the one at this position; after the last colour the first comes again."""
    return Mark(colour_of(colours, _NAMES[position % len(_NAMES)]), _SIGNS[position % len(_SIGNS)])


def tall(figure: go.Figure, height: int) -> go.Figure:
    """Give a figure this height in pixels, its legend close above it however high it is."""
    return figure.update_layout(height=height, legend_y=1 + 6 / height)


def count_models(keys: Iterable[ArmKey]) -> int:
    """How many models these arms are of."""
    return len({key.model for key in keys})


def effects_by_arm(summary: Summary, outcome: str) -> dict[ArmKey, Effect]:
    """The effects on one outcome."""
    return {ArmKey(each.model, each.condition): each for each in summary.effects if each.outcome == outcome}


def outcome_label(outcome: str, t: Translate) -> str:
    """The name of an outcome with its unit."""
    kind = OUTCOMES.get(outcome)
    if kind is None:
        return shown(outcome)
    return t(kind.name) + (f" ({t(kind.unit)})" if kind.unit not in ("", kind.name) else "")
