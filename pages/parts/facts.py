"""The numbers of a trace on one line. What the file does not say is "not reported", never 0."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.data import prices
from pages.parts.findings import count_words
from pages.parts.price_words import dollars
from pages.parts.words import t
from traces.billing import bill_of, total_cost
from traces.prices import step_costs
from traces.reading import Reading
from traces.timing import WallTime


def facts_line(reading: Reading) -> DeltaGenerator:
    """Draw messages, steps, calls, tokens, time and cost, each with what is to be known about it below.

    Gives the place of :func:`findings_fact`, which holds its room until then, so that nothing below it jumps.
    """
    summary, tokens = reading.summary, reading.summary.tokens
    about = "≈ " if tokens.estimated else ""
    stated = summary.reported
    with st.container(horizontal=True, gap="medium", key="fact-line"):
        _fact(t("Messages"), f"{summary.messages:,}")
        _fact(t("Steps"), f"{summary.steps:,}")
        errors = t("errors: {n}", n=f"{summary.errors:,}") if summary.errors else None
        _fact(t("Tool calls"), f"{summary.tool_calls:,}", errors)
        cached = _share(tokens.cached_tokens, tokens.prompt_tokens)
        _fact(t("Prompt tokens"), _count(tokens.prompt_tokens, about), cached and t("{part} cached", part=cached))
        reasoning = _share(tokens.reasoning_tokens, tokens.completion_tokens)
        _fact(
            t("Answer tokens"),
            _count(tokens.completion_tokens, about),
            reasoning and t("{part} reasoning", part=reasoning),
        )
        if stated is not None and stated.total is not None and stated.total != tokens.total:
            _fact(t("Total, as the file states it"), _count(stated.total, ""), t("the steps add up to another sum"))
        _fact(t("Duration"), _seconds(reading.wall.wall), _split(reading.wall))
        _fact(t("Cost"), *_cost(reading))
        place = st.empty()
        if reading.linted:  # so nothing flickers while a page is drawn again
            findings_fact(reading, place)
        else:
            place.metric(t("Findings"), "…", width="content")
    return place


def findings_fact(reading: Reading, place: DeltaGenerator) -> None:
    """Draw how much the linter found. It reads the whole trace, so it is asked after the table is drawn."""
    found = reading.findings
    with place:
        _fact(t("Findings"), f"{len(found):,}", count_words(found) or None)


def _fact(name: str, value: str, remark: str | None = None) -> None:
    st.metric(name, value, remark, delta_color="off", delta_arrow="off", width="content")


def _count(count: int | None, about: str) -> str:
    return t("not reported") if count is None else f"{about}{count:,}"


def _share(part: int | None, whole: int | None) -> str | None:
    """A part in percent; None where it is not reported or nothing."""
    return f"{part / whole:.0%}" if part and whole else None


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return t("not reported")
    if seconds < 120:
        return f"{seconds:,.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def _split(wall: WallTime) -> str | None:
    """Where the time went. Parts of an unknown whole are given in seconds."""
    parts = {t("model"): wall.model, t("tools"): wall.tools, t("idle"): wall.idle}
    known = {name: seconds for name, seconds in parts.items() if seconds is not None}
    if not known:
        return None
    if wall.wall and wall.idle is not None:
        return " · ".join(f"{name} {seconds / wall.wall:.0%}" for name, seconds in known.items())
    return " · ".join(f"{name} {_seconds(seconds)}" for name, seconds in known.items() if seconds) or None


def _cost(reading: Reading) -> tuple[str, str | None]:
    """The cost and where it comes from, as in the list: what the file says, and by the table what it does not."""
    table, stated = prices(), reading.summary.cost
    cost = total_cost(stated, bill_of(reading.trace, stated), table)
    if cost.value is None:
        return t("not reported"), None
    if not cost.computed:
        return dollars(cost.value), t("as reported")
    if cost.complete:
        return f"≈ {dollars(cost.value)}", t("computed")
    steps = step_costs(reading.trace, table)
    known = sum(step.value is not None for step in steps)
    return f"≥ {dollars(cost.value)}", t("computed for {n} of {all} steps", n=known, all=len(steps))
