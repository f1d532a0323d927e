"""Numbers of an experiment for people: shares in per cent, intervals, p-values."""

from __future__ import annotations

from traces.experiments.outcomes import OUTCOMES


def is_rate(outcome: str) -> bool:
    """Whether an outcome is yes or no in each run."""
    return outcome in OUTCOMES and OUTCOMES[outcome].scale == "rate"


def number_words(value: float | None, outcome: str, *, signed: bool = False) -> str:
    """A value of an outcome: a share in per cent, anything else with as many digits as it deserves; a dash for None."""
    if value is None:
        return "–"
    plus = "+" if signed and value else ""
    if is_rate(outcome):
        text = f"{value * 100:{plus}.0f}\u202f%"
    else:
        text = f"{value:{plus},.0f}" if abs(value) >= 100 else f"{value:{plus},.4g}"
    return text.replace("-", "−")


def interval_words(low: float | None, high: float | None, outcome: str, *, signed: bool = False) -> str:
    """The ends of an interval in square brackets; empty where there is none."""
    if low is None or high is None:
        return ""
    return f"[{number_words(low, outcome, signed=signed)}, {number_words(high, outcome, signed=signed)}]"


def p_words(p: float | None) -> str:
    """A p-value; a dash where nothing was tested."""
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
