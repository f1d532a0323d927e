"""What an experiment found: first how far the baseline differs from itself, then one verdict an arm, all in words."""

from __future__ import annotations

import streamlit as st

from pages.parts import ablate_words as words
from pages.parts.ablate_condition_words import condition_name
from pages.parts.paging import page_of
from pages.parts.words import t
from traces.experiments.analysis.summary import Arm, Effect, Stability, Summary, Verdict
from traces.experiments.design.experiment import BASELINE
from traces.experiments.report.telling import is_rate

PAGE_VERDICTS = 30
"""Most verdicts drawn at once."""
MOST_NAMES = 6
"""Arms that a remark about all of them names; of more, only how many there are."""


def verdicts_panel(summary: Summary) -> None:
    """Draw stability, verdicts and remarks of an experiment that is over."""
    several = len({stability.model for stability in summary.stability}) > 1
    for stability in summary.stability:
        _stability(summary, stability, several=several)
    common = remarks_of_all(summary)
    for verdict in page_of(summary.verdicts, PAGE_VERDICTS, key="ablate-verdicts"):
        _verdict(summary, verdict, [remark for remark in verdict.remarks if remark not in common], several=several)
    if told := besides(summary):
        with st.container(border=True, gap="xsmall"):
            st.markdown(f":gray-badge[ℹ {t('To know besides')}]")
            st.text("\n".join(f"• {line}" for line in told))


def remarks_of_all(summary: Summary) -> list[str]:
    """What is to be said of every verdict, so that it need be said only once."""
    if len(summary.verdicts) < 2:
        return []
    first, *others = summary.verdicts
    return [remark for remark in first.remarks if all(remark in each.remarks for each in others)]


def besides(summary: Summary) -> list[str]:
    """What is to be said of all arms, which it names, and of the experiment as a whole."""
    arms = _arms(summary)
    common = [t("{arms}: {remark}", arms=arms, remark=words.remark(each)) for each in remarks_of_all(summary)]
    return [*common, *map(words.remark, summary.remarks)]


def _arms(summary: Summary) -> str:
    """The arms that have verdicts, by name."""
    verdicts, several = summary.verdicts, len(summary.stability) > 1
    names = t(", ").join(_named(condition_name(each.condition), each.model, several) for each in verdicts[:MOST_NAMES])
    return f"{names} … ({len(verdicts)})" if len(verdicts) > MOST_NAMES else names


def _stability(summary: Summary, stability: Stability, *, several: bool) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(stability_badge(stability), width="content")
            st.text(_named(t("The baseline against itself"), stability.model, several), width="content")
        st.text(" ".join(stability_lines(summary.outcome, stability)))


def stability_badge(stability: Stability) -> str:
    """Whether the baseline is steady enough to compare anything with, as a badge."""
    if stability.identical:
        return f":gray-badge[＝ {t('identical in all repeats')}]"
    if stability.low is None:
        return f":gray-badge[⊘ {t('not measured')}]"
    if stability.stable:
        return f":green-badge[✔ {t('steady')}]"
    return f":orange-badge[▲ {t('unsteady')}]"


def stability_lines(outcome: str, stability: Stability) -> list[str]:
    """The sentences about a baseline: its value, how often repeats disagree, and the A/A spread."""
    name = words.outcome_label(outcome)
    lines = [t("{outcome} in the baseline: {value}.", outcome=name, value=words.value_words(outcome, stability.value))]
    if stability.identical:
        return lines
    if stability.flips is not None:
        part = f"{stability.flips:.0%}"
        lines.append(t("Of all pairs of repeats of the same task {part} disagree.", part=part))
    if stability.low is not None and stability.high is not None:
        low, high = (words.difference_words(outcome, bound) for bound in (stability.low, stability.high))
        lines.append(t("Two samples of it differ by {low} to {high} by chance alone (95 of 100).", low=low, high=high))
    return lines


def _verdict(summary: Summary, verdict: Verdict, remarks: list[str], *, several: bool) -> None:
    effect = effect_of(summary, verdict)
    look = words.finding_look(verdict.finding, better=_up(effect))
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(look.badge, width="content")
            st.text(_named(condition_name(verdict.condition), verdict.model, several), width="content")
        st.text(verdict_sentence(summary, verdict))
        if effect is not None and (figures := effect_line(effect)):
            st.caption(words.in_markdown(figures))
        for remark in remarks:
            st.text(f"ℹ {words.remark(remark)}")  # it may quote the name of a condition


def verdict_sentence(summary: Summary, verdict: Verdict) -> str:
    """What the primary outcome says about an arm, with its numbers."""
    effect = effect_of(summary, verdict)
    if effect is None or effect.value is None:
        return t("There is nothing to compare.")
    parts = [_difference(summary, effect)]
    margin = words.margin_words(summary.outcome, summary.margin)
    if effect.low is None or effect.high is None:
        parts.append(t("One run proves nothing."))
    elif verdict.without_chance:
        parts.append(_of_identical(verdict))
    elif verdict.finding == "effect":
        parts.append(t("That is more than chance."))
    elif verdict.finding == "none":
        parts.append(t("No effect larger than {margin}: the interval of the difference lies within it.", margin=margin))
    elif verdict.finding == "refused":
        parts.append(t("No loss could be seen, because the baseline itself has so little to lose."))
    elif verdict.needed is None:
        parts.append(t("Too few runs to tell, and how many would settle it is not known."))
    else:
        n = f"{verdict.needed:,}"
        parts.append(
            t(
                "Too few runs to tell: if further runs are like these, {n} repeats of each condition, in all, would "
                "probably settle it.",
                n=n,
            )
        )
    return " ".join(parts)


def _of_identical(verdict: Verdict) -> str:
    """Repeats without any chance in them are one observation, however many there are."""
    if verdict.finding == "effect":
        return t("Every repeat was the same, here and in the baseline.")
    return t(
        "Every repeat was the same, here and in the baseline: where chance has no part, more repeats say nothing new."
    )


def _difference(summary: Summary, effect: Effect) -> str:
    outcome = effect.outcome
    here, base = (
        words.value_words(outcome, _value(summary, effect.model, condition, outcome))
        for condition in (effect.condition, BASELINE)
    )
    values = {
        "outcome": words.outcome_label(outcome),
        "base": base,
        "here": here,
        "difference": words.difference_words(outcome, effect.value),
    }
    if is_rate(outcome):
        return t("{outcome}: {base} in the baseline, {here} here, a difference of {difference}.", **values)
    return t("{outcome}: median {base} in the baseline, {here} here, a mean difference of {difference}.", **values)


def effect_line(effect: Effect) -> str:
    """The figures behind a verdict: the interval, p with its correction, the test, and the pairs."""
    parts = [words.difference_interval(effect.outcome, effect.low, effect.high)]
    if effect.p_holm is not None:
        parts.append(t("{p} after Holm's correction", p=words.p_line(effect.p_holm)))
    elif effect.p is not None:
        parts.append(t("{p}, of this test alone", p=words.p_line(effect.p)))
    if effect.test:
        parts.append(words.said(effect.test))
    if effect.pairs and is_rate(effect.outcome):
        parts.append(
            t("{n} pairs: {gained} gained, {lost} lost", n=effect.pairs, gained=effect.gained, lost=effect.lost)
        )
    elif effect.pairs:
        parts.append(t("{n} pairs", n=effect.pairs))
    elif effect.value is not None:
        parts.append(t("no pairs"))
    return " · ".join(filter(None, parts))


def effect_of(summary: Summary, verdict: Verdict) -> Effect | None:
    """The difference that a verdict speaks of."""
    place = (verdict.model, verdict.condition, summary.outcome)
    return next((each for each in summary.effects if (each.model, each.condition, each.outcome) == place), None)


def arm_of(summary: Summary, model: str, condition: str) -> Arm | None:
    """All runs of one condition with one model."""
    return next((arm for arm in summary.arms if (arm.model, arm.condition) == (model, condition)), None)


def _value(summary: Summary, model: str, condition: str, outcome: str) -> float | None:
    arm = arm_of(summary, model, condition)
    estimate = arm.outcomes.get(outcome) if arm is not None else None
    return None if estimate is None else estimate.value


def _up(effect: Effect | None) -> bool | None:
    return None if effect is None or not effect.value else effect.value > 0


def _named(name: str, model: str, several: bool) -> str:
    return f"{name} · {model}" if several else name
