"""What the pictures of an experiment share: names of arms, their colours and signs, and the words of findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import plotly.graph_objects as go

from agent import jsontext
from traces.experiments.analysis.summary import Effect, Summary
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.telling import sentence_begin
from traces.figures.common import Translate, colour_of, english, escaped

ROW_PX = 40
"""Height of one arm, which may have two lines of letters."""
FONT_PX = 14
"""Letters of labels and legends: results are shown to a room. Elsewhere charts are looked at by one person."""
_FEWEST_TICKS = 10
"""An axis that is as long as this has whole numbers by itself."""
_NAMES = ("user", "completion", "ok", "error", "system", "reasoning", "cached", "unknown")
_SIGNS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star", "pentagon")
_LONGEST = 40
"""Characters of a name."""


def shown(text: str, length: int = _LONGEST) -> str:
    """A name or an answer, not too long, safe in a label, and such that it can be sent."""
    return escaped(jsontext.clean(text), length)


class ArmKey(NamedTuple):
    """One condition with one model."""

    model: str
    condition: str

    def label(self, models: int, called: Translate = english) -> str:
        """How pictures call it: the condition alone where there is only one model. Safe in a label.

        Args:
            models: how many there are.
            called: from the name of a condition to what it is called.
        """
        name = shown(called(self.condition))
        return name if models <= 1 else f"{name} · {shown(self.model)}"


class Mark(NamedTuple):
    """How an arm or a model is told apart: never by its colour alone."""

    colour: str
    sign: str


def mark_of(position: int, colours: Mapping[str, str]) -> Mark:
    """The colour and sign of the one at this position; after the last colour the first comes again."""
    return Mark(colour_of(colours, _NAMES[position % len(_NAMES)]), _SIGNS[position % len(_SIGNS)])


def tall(figure: go.Figure, height: int) -> go.Figure:
    """Give a figure this height in pixels, its legend close above it however high it is, and large letters."""
    return large(figure).update_layout(height=height, legend_y=1 + 6 / height)


def large(figure: go.Figure) -> go.Figure:
    """Give all words of a figure letters that can be read from afar."""
    font = {"size": FONT_PX}
    figure.update_layout(font=font, legend_font=font)
    figure.update_xaxes(tickfont=font, title_font=font)
    return figure.update_yaxes(tickfont=font, title_font=font)


def is_count(outcome: str) -> bool:
    """Whether an outcome is a number of things, of which there are no halves."""
    kind = OUTCOMES.get(outcome)
    return kind is not None and kind.scale == "number" and not kind.unit


def whole_ticks(values: Iterable[float]) -> dict[str, int]:
    """What an axis of counts, which has no halves, needs to show these values: a tick a number where it is short."""
    known = list(values)
    return {"dtick": 1} if known and max(known) - min(known) < _FEWEST_TICKS else {}


def count_models(keys: Iterable[ArmKey]) -> int:
    """How many models these arms are of."""
    return len({key.model for key in keys})


def effects_by_arm(summary: Summary, outcome: str) -> dict[ArmKey, Effect]:
    """The effects on one outcome."""
    return {ArmKey(each.model, each.condition): each for each in summary.effects if each.outcome == outcome}


def outcome_label(outcome: str, t: Translate) -> str:
    """The name of an outcome with its unit, as a label begins with it."""
    kind = OUTCOMES.get(outcome)
    if kind is None:
        return shown(outcome)
    return sentence_begin(t(kind.name)) + (f" ({t(kind.unit)})" if kind.unit not in ("", kind.name) else "")
