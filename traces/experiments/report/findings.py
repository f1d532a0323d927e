"""What was found, in words and tables: verdicts first, then how stable the baseline is, then every number."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from traces.experiments.analysis.summary import Arm, Effect, Stability, Summary, Verdict
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.telling import interval_words, number_words, p_words, sentence_begin
from traces.export.elements import Piece, element, facts, paragraphs, section, table
from traces.export.words import Say

SIGNS = {"effect": "●", "none": "■", "inconclusive": "○", "refused": "✕"}
"""Beside the word of a finding, so that it is never told by colour alone."""


def finding_word(finding: str, say: Say) -> str:
    """A finding in a word or two."""
    words = {
        "effect": say("effect"),
        "none": say("no effect"),
        "inconclusive": say("inconclusive"),
        "refused": say("no claim"),
    }
    return words[finding]


def verdicts_part(summary: Summary, say: Say, *, sentences: bool) -> Element:
    """One verdict an arm.

    Args:
        summary: what was found.
        say: the language.
        sentences: show the sentences of the analysis, which are English; else a fixed one and the numbers stand in
            their place.
    """
    effects = {(each.model, each.condition): each for each in summary.effects if each.outcome == summary.outcome}
    many = len({arm.model for arm in summary.arms}) > 1
    pieces: list[Piece] = []
    for verdict in summary.verdicts:
        name = f"{verdict.condition} · {verdict.model}" if many else verdict.condition
        word = f"{SIGNS[verdict.finding]} {finding_word(verdict.finding, say)}"
        head = element("h3", element("span", word, class_=f"badge {verdict.finding}"), " ", name)
        told = [verdict.sentence] if sentences and verdict.sentence else [_sentence(verdict, say)]
        effect = effects.get((verdict.model, verdict.condition))
        if effect is not None and told != [verdict.sentence]:
            told.append(_numbers(effect, say))
        remarks = paragraphs((say(remark) for remark in verdict.remarks), "small")
        pieces.append(element("article", head, *paragraphs(told), *remarks, class_=verdict.finding))
    if not pieces:
        pieces = paragraphs([say("There is nothing to compare: no condition beside the baseline has a verdict.")])
    return section(say("What was found"), *pieces, *paragraphs(map(say, summary.remarks)), id="found")


def _sentence(verdict: Verdict, say: Say) -> str:
    if verdict.without_chance:
        same = say("Every repeat was the same, here and in the baseline.")
        if verdict.finding == "effect":
            return same
        return f"{same} {say('Where chance has no part, more repeats say nothing new.')}"
    if verdict.finding == "effect":
        return say("The difference to the baseline is more than chance.")
    if verdict.finding == "none":
        return say("There is no effect larger than the difference that would matter.")
    if verdict.finding == "refused":
        return say("No claim: the baseline itself is too unstable, or there is nothing to compare.")
    if verdict.needed is None:
        return say("Too few runs to say whether it has an effect.")
    return say(
        "Too few runs to say whether it has an effect; if further runs are like these, about {n} repeats would "
        "probably settle it.",
        n=f"{verdict.needed:,}",
    )


def _numbers(effect: Effect, say: Say) -> str:
    value = number_words(effect.value, effect.outcome, signed=True)
    ends = interval_words(effect.low, effect.high, effect.outcome, signed=True)
    p = p_words(effect.p if effect.p_holm is None else effect.p_holm)
    pairs = say("{n} pairs", n=effect.pairs) if effect.pairs else say("unpaired")
    parts = [f"{_outcome(effect.outcome, say)}: {value} {ends}".strip(), f"p {p}", pairs, say(effect.test)]
    return " · ".join(part for part in parts if part)


def stability_part(summary: Summary, say: Say) -> Element:
    """The baseline against itself, before any claim."""
    lead = say(
        "The baseline against itself: how far two samples of it, each as large as a condition, differ by chance alone. "
        "A difference that lies within this spread says nothing."
    )
    heads = [say("Model"), say("Stable"), say("Baseline"), say("A/A spread"), say("Repeats that disagree")]
    rows = [_stability(each, summary.outcome, say) for each in summary.stability]
    title = say("How stable the baseline is")
    return section(title, element("p", lead), table(_outcome(summary.outcome, say), heads, rows, 2), id="stability")


def _stability(found: Stability, outcome: str, say: Say) -> list[Piece]:
    word = say("yes") if found.stable else say("no")
    if found.identical:
        word = say("identical in all seeds: a model without chance")
    return [
        found.model,
        word,
        number_words(found.value, outcome),
        interval_words(found.low, found.high, outcome, signed=True) or "–",
        "–" if found.flips is None else f"{found.flips:.0%}",
    ]


def arms_part(summary: Summary, say: Say) -> Element:
    """Counts of runs, and every outcome of every arm with its interval."""
    heads = [
        say("Model"),
        say("Condition"),
        say("Started"),
        say("Ended"),
        say("Errors"),
        say("Error rate"),
        say("Stopped"),
    ]
    counts = [_counts(arm) for arm in summary.arms]
    names = [name for name in OUTCOMES if any(name in arm.outcomes for arm in summary.arms)]
    names.sort(key=lambda name: name != summary.outcome)
    outcome_heads = [say("Model"), say("Condition"), *(_outcome(name, say) for name in names)]
    outcomes = [[arm.model, arm.condition, *(_estimate(arm, name) for name in names)] for arm in summary.arms]
    spread_heads = [say("Model"), say("Condition"), say("Between repeats of a task"), say("Between tasks")]
    spreads = [
        [arm.model, arm.condition, *(_spread(value) for value in (arm.run_to_run, arm.task_to_task))]
        for arm in summary.arms
    ]
    spread_title = say("Spread of the primary outcome, as standard deviations")
    return section(
        say("Every arm"),
        element("p", say("Stopped runs, by a person or the budget, are counted apart from those that were started.")),
        table(say("Runs"), heads, counts, 2),
        element(
            "p", say("A rate with its Wilson interval, or a median with a bootstrap interval; n is how many runs.")
        ),
        table(say("Outcomes"), outcome_heads, outcomes, 2),
        table(spread_title, spread_heads, spreads, 2),
        element("h3", say("The rules of the outcomes")),
        facts((_outcome(name, say), say(OUTCOMES[name].sentence)) for name in names),
        id="arms",
    )


def _counts(arm: Arm) -> list[Piece]:
    rate = f"{arm.errors / arm.started:.0%}" if arm.started else "–"
    return [arm.model, arm.condition, f"{arm.started}", f"{arm.ended}", f"{arm.errors}", rate, f"{arm.stopped}"]


def _estimate(arm: Arm, outcome: str) -> str:
    found = arm.outcomes.get(outcome)
    if found is None or found.value is None:
        return "–"
    parts = [number_words(found.value, outcome), interval_words(found.low, found.high, outcome), f"n = {found.n}"]
    return " ".join(part for part in parts if part)


def _spread(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def effects_part(summary: Summary, say: Say) -> Element:
    """Every difference to the baseline with its interval and its test."""
    heads = [
        say("Outcome"), say("Model"), say("Condition"), say("Test"), say("Difference"), say("Interval"), "p",
        say("p, corrected by Holm"), say("Pairs"), say("Gained"), say("Lost"),
    ]  # fmt: skip
    lead = say(
        "Condition less baseline. Gained and lost are pairs of runs in which only the condition, or only the baseline, "
        "has it. The verdicts speak of the primary outcome alone; the p-values of the others are not corrected and "
        "claim nothing."
    )
    return section(
        say("Every difference"),
        element("p", lead),
        table(say("Differences to the baseline"), heads, _effects(summary, say), 4),
        id="effects",
    )


def _effects(summary: Summary, say: Say) -> Iterator[list[Piece]]:
    for each in sorted(summary.effects, key=lambda effect: effect.outcome != summary.outcome):
        yield [
            _outcome(each.outcome, say),
            each.model,
            each.condition,
            say(each.test),
            number_words(each.value, each.outcome, signed=True),
            interval_words(each.low, each.high, each.outcome, signed=True) or "–",
            p_words(each.p),
            p_words(each.p_holm),
            f"{each.pairs}" if each.pairs else say("unpaired"),
            f"{each.gained}",
            f"{each.lost}",
        ]


def _outcome(name: str, say: Say) -> str:
    return sentence_begin(say(OUTCOMES[name].name)) if name in OUTCOMES else name
