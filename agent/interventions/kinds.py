"""Every kind of intervention: what it does, in words, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agent.interventions import pairing, results, switches, words
from agent.interventions.pairing import OMIT_RESULTS
from agent.interventions.results import REMOVED

if TYPE_CHECKING:
    from agent.settings import Settings

MOST_WHOLE = 10**9
"""The largest number that a parameter may be: nothing in a run is more, and every program can read it."""

Group = Literal["results", "errors", "protocol", "offer", "words", "switch"]


class Param(NamedTuple):
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


class Kind(NamedTuple):
    """One kind of intervention."""

    group: Group
    name: str
    """A few words for a list of its group."""
    sentence: str
    """What happens, in one plain sentence."""
    change: Callable[..., None] | None = None
    """What it does to a draft; None: it changes no requests."""
    takes: Mapping[str, Param] = MappingProxyType({})
    """Parameters of its own."""
    selects: Mapping[str, Param] = MappingProxyType({})
    """Those of its parameters that say which results are meant."""
    switch: Callable[[Settings], dict[str, Any]] | None = None
    """The settings that it sets, by their names; None: it is no switch."""
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
        "Calls go together with their results, as if the tools had never been asked for. A reply without any call left "
        "goes as well.",
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
        "Only the beginning of each result is sent: at most so many characters, or about so many tokens.",
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
        "Each result says what the one before it said, the first what the last one said: right ids, wrong contents. "
        "One result alone stays as it is.",
        results.swap_results,
        selects=SELECTION,
    ),
    "drop_errors": Kind(
        "errors",
        "hidden",
        "Failed calls go together with their errors, as if nothing had gone wrong. An error is a JSON object with the "
        "key error.",
        results.drop_errors,
        selects=SELECTION,
    ),
    "blank_errors": Kind(
        "errors",
        "blanked",
        "Every result that is an error, a JSON object with the key error, becomes empty, or the text that is given "
        "here.",
        results.blank_errors,
        _TEXT,
        SELECTION,
    ),
    OMIT_RESULTS: Kind(
        "protocol",
        "results not written back",
        "The calls stay and their results are missing. This breaks the protocol: strict servers refuse it.",
        pairing.omit_results,
        selects=SELECTION,
        breaks_protocol=True,
    ),
    "shuffle_ids": Kind(
        "protocol",
        "ids shuffled",
        "Each result carries the id of another call, one alone the id of none. Unless all calls stand in one reply, "
        "this breaks the protocol: strict servers refuse it.",
        pairing.shuffle_ids,
        selects=SELECTION,
        breaks_protocol=True,
    ),
    "reorder_results": Kind(
        "protocol",
        "results out of order",
        "The results of parallel calls stand in reverse order, each under its own id. One result alone stays as it is.",
        pairing.reorder_results,
        selects=SELECTION,
    ),
    "results_as_user": Kind(
        "protocol",
        "results told by the user",
        "Results come as messages of the user, and calls as text: no structured calls any more.",
        pairing.results_as_user,
        selects=SELECTION,
    ),
    "hide_tool": Kind(
        "offer",
        "hidden",
        "A tool is not on offer; a call of it is answered as one of an unknown tool.",
        takes={"tool": Param("", str, needed=True)},
    ),
    "drop_system": Kind(
        "words",
        "system text removed",
        "The system text is left out, or one paragraph of it, counted from 1.",
        words.drop_system,
        {"paragraph": Param(None, int, 1)},
    ),
    "drop_reasoning": Kind(
        "words",
        "reasoning removed",
        "The reasoning of earlier replies is not sent back: its own fields, and thoughts at the head of a text.",
        words.drop_reasoning,
        selects=_STEPS_AND_AGES,
    ),
    "no_step_limit": Kind(
        "switch",
        "no step limit",
        "The step limit is off; only the hard cap stays.",
        switch=switches.no_step_limit,
    ),
    "no_guards": Kind(
        "switch",
        "no guards",
        "The guards against repeated calls and failing steps are off.",
        switch=switches.no_guards,
    ),
    "no_policy": Kind(
        "switch",
        "no policy",
        "No policy is asked: every tool on offer may run.",
        switch=switches.no_policy,
    ),
    "no_context_budget": Kind(
        "switch",
        "no context budget",
        "Requests may be as long as they get: nothing is left out and no result is cut.",
        switch=switches.no_context_budget,
    ),
}
"""Every intervention by its name in data, in the order of a menu."""
