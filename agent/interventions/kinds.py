"""Every kind of intervention: what it does, in words, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.interventions import results, switches, words
from agent.interventions.results import OMIT_RESULTS, REMOVED

Group = Literal["results", "errors", "protocol", "offer", "words", "switch"]


@dataclass(frozen=True, slots=True)
class Param:
    """What a parameter takes."""

    usual: Any
    """What it is where nothing is said; None where it may be left out."""
    type: type[Any]
    least: int | None = None
    """Of a number: the least that makes sense."""
    choices: tuple[str, ...] = ()
    """Of a text: the words that it may be; empty: any."""
    needed: bool = False
    """There is no usual value: it must be given."""


SELECTION = {
    "tools": Param([], list),
    "from_step": Param(1, int, 1),
    "to_step": Param(None, int, 1),
    "min_age": Param(0, int, 0),
    "max_age": Param(None, int, 0),
}
"""The parameters of :class:`~agent.interventions.rounds.Selection`: which results are meant."""
_STEPS_AND_AGES = {name: SELECTION[name] for name in SELECTION if name != "tools"}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of intervention."""

    group: Group
    name: str
    """A few words for a list."""
    sentence: str
    """What happens, in one plain sentence."""
    change: Callable[..., Any] | None = None
    """Of a switch: which settings it sets. Else what it does to a draft. None: it only hides a tool."""
    takes: Mapping[str, Param] = field(default_factory=dict)
    """Parameters of its own."""
    selects: Mapping[str, Param] = field(default_factory=dict)
    """Those of its parameters that say which results are meant."""
    breaks_protocol: bool = False
    """The request is broken on purpose and is sent as it is; strict servers refuse it."""

    @property
    def params(self) -> dict[str, Param]:
        """All of its parameters, its own first."""
        return {**self.takes, **self.selects}


_TEXT = {"text": Param("", str)}
KINDS: dict[str, Kind] = {
    "drop_pairs": Kind(
        "results",
        "dropped with their calls",
        "Calls go together with their results, as if the tools had never been asked for.",
        results.drop_pairs,
        selects=SELECTION,
    ),
    "blank_results": Kind(
        "results",
        "blanked",
        "Every result stays under its id, but says nothing, or the text that is given here.",
        results.blank_results,
        _TEXT,
        SELECTION,
    ),
    "replace_results": Kind(
        "results",
        "words replaced",
        "Wherever a result holds certain words, others stand in their place.",
        results.replace_results,
        {"find": Param("", str, needed=True), "text": Param("", str)},
        SELECTION,
    ),
    "truncate_results": Kind(
        "results",
        "cut short",
        "Only the beginning of each result is sent.",
        results.truncate_results,
        {"size": Param(200, int, 0), "unit": Param("characters", str, choices=("characters", "tokens"))},
        SELECTION,
    ),
    "keep_last_results": Kind(
        "results",
        "only the newest kept",
        "Only the newest results are sent; older ones are masked, or dropped with their calls.",
        results.keep_last_results,
        {
            "count": Param(1, int, 0),
            "how": Param("mask", str, choices=("mask", "drop")),
            "text": Param(REMOVED, str),
        },
        SELECTION,
    ),
    "swap_results": Kind(
        "results",
        "swapped",
        "Each result says what another one said: right ids, wrong contents.",
        results.swap_results,
        selects=SELECTION,
    ),
    "drop_errors": Kind(
        "errors",
        "errors hidden",
        "Failed calls go together with their errors, as if nothing had gone wrong.",
        results.drop_errors,
        selects=SELECTION,
    ),
    "blank_errors": Kind(
        "errors",
        "errors blanked",
        "Every result that is an error becomes empty, or the text that is given here.",
        results.blank_errors,
        _TEXT,
        SELECTION,
    ),
    OMIT_RESULTS: Kind(
        "protocol",
        "not written back",
        "The calls stay and their results are missing. This breaks the protocol: strict servers refuse it.",
        results.omit_results,
        selects=SELECTION,
        breaks_protocol=True,
    ),
    "shuffle_ids": Kind(
        "protocol",
        "ids shuffled",
        "Each result carries the id of another call. This breaks the protocol: strict servers refuse it.",
        results.shuffle_ids,
        selects=SELECTION,
        breaks_protocol=True,
    ),
    "reorder_results": Kind(
        "protocol",
        "out of order",
        "The results of parallel calls stand in reverse order, each under its own id.",
        results.reorder_results,
        selects=SELECTION,
    ),
    "results_as_user": Kind(
        "protocol",
        "told by the user",
        "Results come as messages of the user, and calls as text: no structured calls any more.",
        results.results_as_user,
        selects=SELECTION,
    ),
    "hide_tool": Kind(
        "offer",
        "tool hidden",
        "A tool is not on offer; a call of it is answered as one of an unknown tool.",
        takes={"tool": Param("", str, needed=True)},
    ),
    "drop_system": Kind(
        "words",
        "system text removed",
        "The system text is left out, or one paragraph of it.",
        words.drop_system,
        {"paragraph": Param(None, int, 1)},
    ),
    "drop_reasoning": Kind(
        "words",
        "reasoning removed",
        "The reasoning of earlier replies is not sent back.",
        words.drop_reasoning,
        selects=_STEPS_AND_AGES,
    ),
    "no_step_limit": Kind(
        "switch", "no step limit", "The step limit is off; only the hard cap stays.", switches.no_step_limit
    ),
    "no_guards": Kind(
        "switch", "no guards", "The guards against repeated calls and failing steps are off.", switches.no_guards
    ),
    "no_policy": Kind("switch", "no policy", "No policy is asked: every tool on offer may run.", switches.no_policy),
    "no_context_budget": Kind(
        "switch",
        "no context budget",
        "Requests may be as long as they get: nothing is left out and no result is cut.",
        switches.no_context_budget,
    ),
}
"""Every intervention by its name in data, in the order of a menu."""
