"""The laboratory's words: outcomes with their rules, findings, states and numbers, in the language of the session.

The rules are written in :mod:`traces.experiments`, in English; their Chinese is that of the report, and that of
remarks with numbers in them stands in ``experiments_zh.json``.
"""

from __future__ import annotations

from pages.parts import address
from pages.parts.library_table import UNKNOWN
from pages.parts.roles import Colour, Look
from pages.parts.words import loop_words, t
from traces.experiments.analysis.summary import Estimate
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.page import WORDS
from traces.experiments.report.telling import PER_CENT, interval_words, is_rate, number_words, p_words, sentence_begin
from traces.export.words import table
from traces.figures.ablation import FINDINGS

_LEFT_OUT = "Left out, because no run says anything about it:"


def said(text: str) -> str:
    """A text of the laboratory or of its pictures, its ``{names}`` filled in or not, in the language of the session."""
    return table(address.language(), WORDS).get(text) or loop_words(text)


def remark(text: str) -> str:
    """A remark of the analysis, which may list outcomes."""
    left_out, found, names = text.partition(_LEFT_OUT)
    if not found or left_out:
        return said(text)
    return f"{said(_LEFT_OUT)} {t(', ').join(map(said, names.strip(' .').split(', ')))}"


def outcome_name(outcome: str) -> str:
    """An outcome in a few words."""
    return said(OUTCOMES[outcome].name)


def outcome_label(outcome: str) -> str:
    """An outcome where a sentence or a label begins with it."""
    return sentence_begin(outcome_name(outcome))


def outcome_rule(outcome: str) -> str:
    """The rule of an outcome in a sentence or two."""
    return said(OUTCOMES[outcome].sentence)


def finding_look(finding: str, *, better: bool | None = None) -> Look:
    """Word, icon and colour of what a verdict found.

    Args:
        finding: of the verdict.
        better: whether the number went up; None: it cannot be told.
    """
    looks: dict[str, tuple[str, Colour]] = {
        "effect": ({True: "▲", False: "▼", None: "◆"}[better], "violet"),
        "none": ("＝", "green"),
        "inconclusive": ("?", "orange"),
        "refused": ("⊘", "gray"),
    }
    words = {str(name): word for name, (word, _, _) in FINDINGS.items()}
    return Look(said(words[finding]), *looks[finding])


def state_look(state: str, *, cut: bool = False) -> Look:
    """Word, icon and colour of the state of an experiment; ``cut``: it is over before all runs were made."""
    if state == "done" and cut:
        return Look(t("cut short"), "▲", "orange")
    return {
        "ready": Look(t("interrupted"), "◐", "orange"),
        "running": Look(t("running"), "▶", "blue"),
        "paused": Look(t("paused"), "❚❚", "orange"),
        "cancelled": Look(t("cancelled"), "■", "gray"),
        "done": Look(t("finished"), "✔", "green"),
        "failed": Look(t("failed"), "✖", "red"),
    }[state]


def status_look(status: str) -> Look:
    """Word, icon and colour of how a run of an experiment went."""
    return {
        "ended": Look(t("ended"), "✔", "green"),
        "error": Look(t("error"), "✖", "red"),
        "stopped": Look(t("stopped"), "■", "gray"),
    }[status]


def reason_word(reason: str | None) -> str:
    """Why a run of an experiment stopped, in a word or two."""
    return said((reason or "").replace("_", " "))


# ---- numbers ----


def value_words(outcome: str, value: float | None) -> str:
    """A value of an outcome with its unit."""
    if value is None:
        return UNKNOWN
    return " ".join(filter(None, (number_words(value, outcome), unit_words(outcome))))


def unit_words(outcome: str) -> str:
    """The unit of a number; empty for a count and for a rate."""
    units = {"tokens": t("tokens"), "ms": "ms", "US dollars": "$"}
    return units.get(OUTCOMES[outcome].unit, "")


def estimate_words(outcome: str, estimate: Estimate | None) -> str:
    """A value with its interval."""
    if estimate is None:
        return UNKNOWN
    parts = (value_words(outcome, estimate.value), interval_words(estimate.low, estimate.high, outcome))
    return " ".join(filter(None, parts))


def difference_words(outcome: str, value: float | None) -> str:
    """A difference to the baseline, with its sign: rates differ by percentage points."""
    if value is None:
        return UNKNOWN
    if is_rate(outcome):
        return _points(number_words(value, outcome, signed=True).removesuffix(PER_CENT))
    return " ".join(filter(None, (number_words(value, outcome, signed=True), unit_words(outcome))))


def difference_interval(outcome: str, low: float | None, high: float | None) -> str:
    """The interval of a difference; empty where there is none."""
    if low is None or high is None:
        return ""
    ends = [difference_words(outcome, end) for end in (low, high)]
    return t("95% interval {low} to {high}", low=ends[0], high=ends[1])


def margin_words(outcome: str, margin: float) -> str:
    """The difference that would matter: of a rate in points, of a number as a share of the baseline."""
    if is_rate(outcome):
        return _points(f"{margin * 100:.3g}")
    return t("{part} of the baseline", part=f"{margin:.0%}")


def _points(number: str) -> str:
    """So many percentage points."""
    return t("{n} point", n=number) if number.strip("+−") == "1" else t("{n} points", n=number)


def p_line(p: float) -> str:
    """A p-value as it is usually written."""
    said = p_words(p)
    return f"p {said}" if said.startswith("<") else f"p = {said}"


def seconds_words(seconds: float) -> str:
    """A length of time in its two largest units."""
    whole = round(seconds)
    if whole < 60:
        return t("{s} s", s=whole)
    if whole < 3600:
        return t("{m} min {s} s", m=whole // 60, s=whole % 60)
    return t("{h} h {m} min", h=whole // 3600, m=whole % 3600 // 60)


def in_markdown(text: str) -> str:
    """Figures as a caption or a label takes them: there two dollar signs would make a formula of what is between."""
    return text.replace("$", "\\$")
