"""Outcomes: what is measured of a run, and by which rule. The rules stand on the page and in the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SUCCESS, FINISHED, AGREEMENT, SAME_DECISION, INVENTED = "success", "finished", "agreement", "same_decision", "invented"
REPEATED = "repeated_calls"


@dataclass(frozen=True, slots=True)
class OutcomeKind:
    """One outcome."""

    name: str
    """A few words for a list."""
    sentence: str
    """The rule, in one plain sentence or two."""
    scale: Literal["rate", "number"]
    """``rate``: yes or no in each run. ``number``: how much in each run."""
    unit: str = ""
    """Of a number: tokens, ms, US dollars; empty: a count."""


OUTCOMES: dict[str, OutcomeKind] = {
    SUCCESS: OutcomeKind(
        "verified success",
        "All evidence of the run holds. The rate is over all runs that were started: one that ended with an error "
        "counts as not successful, but is never called a wrong answer; one that a person or the budget stopped is "
        "counted apart.",
        "rate",
    ),
    FINISHED: OutcomeKind("finished", "The run ended with a final answer of the model, right or wrong.", "rate"),
    AGREEMENT: OutcomeKind(
        "same answer",
        "The final answer is the recorded one; where nothing is recorded, the one that most other baseline runs of the "
        "same task gave. White space, upper and lower case and punctuation at the end do not count.",
        "rate",
    ),
    SAME_DECISION: OutcomeKind(
        "same decision",
        "Of a decision rerun: the model asks for the recorded calls, same tools and same arguments; or it answers "
        "without calls where the recording did.",
        "rate",
    ),
    INVENTED: OutcomeKind(
        "invented answer",
        "A final answer, not verified as right, that names something (a number, a word in capitals, a quoted text) "
        "which the request that it answers does not hold. A rule of thumb.",
        "rate",
    ),
    "steps": OutcomeKind("steps", "Model calls of the run; of a continued one from where it goes on.", "number"),
    "tokens": OutcomeKind("tokens", "Prompt and completion tokens of these model calls together.", "number", "tokens"),
    "cost": OutcomeKind("cost", "US dollars, as the provider says or by the table of prices.", "number", "US dollars"),
    "latency_ms": OutcomeKind(
        "model time",
        "Milliseconds of the model calls. Not measured of scripted models, which take none.",
        "number",
        "ms",
    ),
    REPEATED: OutcomeKind(
        "repeated calls", "Calls with the tool and the arguments of an earlier call of the same run.", "number"
    ),
    "tool_errors": OutcomeKind("tool errors", "Calls whose result was an error.", "number"),
}
"""Every outcome by its name in data, in the order of a table."""
