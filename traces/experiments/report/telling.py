"""Numbers of an experiment for people: shares in per cent, intervals, p-values."""

from __future__ import annotations

from traces.experiments.outcomes import OUTCOMES

PER_CENT = "\u202f%"
"""What follows the number of a share: a narrow blank that does not break, and the sign."""


def is_rate(outcome: str) -> bool:
    """Whether an outcome is yes or no in each run."""
    return outcome in OUTCOMES and OUTCOMES[outcome].scale == "rate"


def number_words(value: float | None, outcome: str, *, signed: bool = False) -> str:
    """A value of an outcome: a share in per cent, anything else with as many digits as it deserves; a dash for None."""
    if value is None:
        return "–"
    if is_rate(outcome):
        share = round(value * 100)
        text = f"{share:{'+' if signed and share else ''}d}{PER_CENT}"
    else:
        plus = "+" if signed and value else ""
        text = f"{value:{plus},.0f}" if abs(value) >= 100 else f"{value:{plus},.4g}"
    return text.replace("-", "−")


def points_words(difference: float, *, signed: bool = False) -> str:
    """A difference of two shares in percentage points: ``1 point``, ``−75 points``."""
    points = round(difference * 100)
    text = f"{points:{'+' if signed and points else ''}d}".replace("-", "−")
    return f"{text} {'point' if abs(points) == 1 else 'points'}"


def interval_words(low: float | None, high: float | None, outcome: str, *, signed: bool = False) -> str:
    """The ends of an interval in square brackets; empty where there is none."""
    if low is None or high is None:
        return ""
    return f"[{number_words(low, outcome, signed=signed)}, {number_words(high, outcome, signed=signed)}]"


def sentence_begin(text: str) -> str:
    """A text with the large first letter of a sentence, a title or a label; the rest as it is."""
    return text[:1].upper() + text[1:]


def p_words(p: float | None) -> str:
    """A p-value; a dash where nothing was tested."""
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
