"""The part of the design form about how often, judged by what, and what it may cost; and what that will take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_ablate
from pages.parts.ablate_design_draft import base, change, set_fields, stamp
from pages.parts.ablate_design_parts import field, heading
from pages.parts.ablate_words import in_markdown, outcome_name, outcome_rule, seconds_words
from pages.parts.data import prices
from pages.parts.options import options
from pages.parts.price_words import dollars
from pages.parts.words import loop_words, t
from traces.experiments.before.estimate import Estimated, estimate
from traces.experiments.design.experiment import Experiment
from traces.experiments.outcomes import OUTCOMES

MOST_WORKERS = 8


def runs_part(design: str, experiment: Experiment) -> None:
    """Draw how often everything is run, which outcome the verdict speaks of, and the budget."""
    heading(t("Runs"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _how_often(design, experiment)
        _outcome(design, experiment)
    st.caption(outcome_rule(experiment.outcome))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _budget(design, experiment)
        st.number_input(
            t("At a time"),
            1,
            MOST_WORKERS,
            width=100,
            help=t("Runs at the same time. More than one pays for live models only."),
            key=address_ablate.WORKERS,
            persist_state="session",
        )


def _setter(design: str, name: str) -> Callable[[Any], None]:
    return lambda value: set_fields(design, **{name: value})


def _how_often(design: str, experiment: Experiment) -> None:
    st.number_input(
        t("Repeats"),
        1,
        10_000,
        width=92,
        help=t("Runs of each condition for each subject and model. One run proves nothing."),
        **field("ablate-repeats", experiment.repeats, _setter(design, "repeats")),
    )
    st.number_input(
        t("Seed"),
        0,
        width=92,
        help=t("The runs of one repeat have the same seed in every condition, so that they can be compared in pairs."),
        **field("ablate-seed", experiment.seed, _setter(design, "seed")),
    )


def _outcome(design: str, experiment: Experiment) -> None:
    """What the verdict speaks of, and which difference would matter."""
    rate = OUTCOMES[experiment.outcome].scale == "rate"
    st.selectbox(
        t("Primary outcome"),
        list(OUTCOMES),
        format_func=outcome_name,
        width=160,
        **field("ablate-outcome", experiment.outcome, _setter(design, "outcome")),
    )
    st.number_input(
        t("Margin"),
        0.001,
        10.0,
        step=0.01,
        format="%.3g",
        width=92,
        help=t("The difference that would matter: 0.1 is ten points of a rate.")
        if rate
        else t("The difference that would matter, as a share of the baseline: 0.1 is a tenth of it."),
        **field("ablate-margin", float(experiment.margin), _setter(design, "margin")),
    )


def _budget(design: str, experiment: Experiment) -> None:
    def set_budget(**what: Any) -> None:
        change(design, lambda now: replace(now, budget=replace(now.budget, **what)))

    st.number_input(
        t("Token budget"),
        1,
        value=None,
        step=10_000,
        placeholder=t("none"),
        width=200,
        help=t("No run begins beyond it, and those under way are stopped."),
        **field("ablate-tokens", experiment.budget.tokens, lambda tokens: set_budget(tokens=tokens)),
    )
    st.number_input(
        t("Cost budget ($)"),
        0.0001,
        value=None,
        step=0.1,
        format="%.4g",
        placeholder=t("none"),
        width=130,
        help=t("No run begins beyond it, and those under way are stopped."),
        **field("ablate-cost", experiment.budget.cost, lambda cost: set_budget(cost=cost)),
    )


def workers() -> int:
    """How many runs at a time are wanted."""
    return int(address.setting(address_ablate.WORKERS) or 1)


def estimate_of(text: str, experiment: Experiment) -> Estimated | str:
    """What the whole experiment will take, as far as that is known before; or why it cannot be run, in a sentence."""
    stamps = tuple(map(stamp, experiment.subjects))
    try:
        return _estimated(text, stamps, tuple(tool.name for tool in options().tools), experiment)
    except (AgentError, OSError) as error:
        return loop_words(str(error))


def estimate_lines(found: Estimated) -> None:
    """Draw what it will take, and what is probably not meant. All of it may quote the design, so it is plain text."""
    with st.container(gap="xsmall"):
        with st.expander(in_markdown(estimated_words(found)), type="compact", key="ablate-estimate"):
            st.text("\n".join(map(loop_words, found.remarks)))
        for doubt in found.doubts:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f":orange-badge[▲ {t('Probably not meant')}]", width="content")
                st.text(loop_words(doubt), width="content")


def estimated_words(found: Estimated) -> str:
    """Runs, calls, tokens, money and time, each from the least to the most."""
    parts = [
        t("{n} runs", n=f"{found.runs:,}"),
        t("{range} model calls", range=_range(found.calls_low, found.calls_high)),
        t("{range} tokens", range=_range(found.tokens_low, found.tokens_high)),
    ]
    if found.cost_high == 0:
        return " · ".join([*parts, t("no cost")])
    parts.append(_span(found.cost_low, found.cost_high, dollars) or t("cost unknown"))
    parts.append(_span(found.seconds_low, found.seconds_high, seconds_words) or t("time unknown"))
    return " · ".join(parts)


def _range(low: int, high: int) -> str:
    return _span(low, high, lambda number: f"{number:,.0f}")


def _span(low: float | None, high: float | None, words: Callable[[float], str]) -> str:
    """From the least to the most; empty where that is not known."""
    if low is None or high is None:
        return ""
    least, most = words(low), words(high)
    return least if least == most else t("{low} to {high}", low=least, high=most)


@st.cache_resource(max_entries=16, show_spinner=False)
def _estimated(text: str, stamps: object, own: tuple[str, ...], _experiment: Experiment) -> Estimated:
    """Worked out once for a design, as long as its files stay as they are."""
    return estimate(_experiment, base(), prices(), options().tools)
