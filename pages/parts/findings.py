"""What the linter found in a trace: how much, and a list of it, each finding with its place and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import streamlit as st

from agent import jsontext
from agent.trace import Trace
from pages.parts import address
from pages.parts.finding_words import cost_words, rule_words, sentence, severity_look
from pages.parts.paging import page_of
from pages.parts.words import t
from traces.lint import RULES, Finding, Rule, Severity

ON_PAGE = 6
"""Findings shown at once; each has a button, and buttons are what makes a page slow."""
_ALL = ""
_ORDER = {name: place for place, name in enumerate(RULES)}
_WEIGHT = {severity: weight for weight, severity in enumerate(Severity)}


def findings_panel(trace: Trace, findings: Sequence[Finding], *, key: str) -> None:
    """Draw one page of the findings, the gravest first, those of one rule together.

    Args:
        trace: the trace.
        findings: what :func:`traces.lint.lint` gave for it.
        key: names the widgets.
    """
    if not findings:
        st.caption(t("The linter found nothing to remark on."))
        return
    counts = Counter(finding.rule.name for finding in findings)
    names = sorted(counts, key=lambda name: (_WEIGHT[RULES[name].severity], _ORDER[name]))
    rule = _ALL
    if len(findings) > ON_PAGE:
        rule = _choose_rule(counts, names, key)
    shown = [finding for finding in findings if rule in (_ALL, finding.rule.name)]
    shown.sort(key=lambda finding: names.index(finding.rule.name))
    numbered = page_of(list(enumerate(shown)), ON_PAGE, key=f"{key}-page-{rule}")
    for of_rule, group in groupby(numbered, key=lambda item: item[1].rule):
        with st.container(gap="xsmall"):
            _rule(of_rule)
            for number, finding in group:
                _finding(trace, finding, key=f"{key}-go-{rule}-{number}")


def count_words(findings: Sequence[Finding]) -> str:
    """How many there are of each severity; empty where there are none."""
    counts = Counter(finding.severity for finding in findings)
    looks = [(severity_look(severity), counts[severity]) for severity in Severity if counts[severity]]
    return " · ".join(f"{look.label} {number:,}" for look, number in looks)


def _choose_rule(counts: Counter[str], names: list[str], key: str) -> str:
    def label(name: str) -> str:
        if name == _ALL:
            return t("All rules: {n}", n=f"{counts.total():,}")
        look = severity_look(RULES[name].severity)
        return f"{look.icon} {rule_words(RULES[name].title)}: {counts[name]:,}"

    chosen = st.selectbox(t("Rule"), [_ALL, *names], format_func=label, key=f"{key}-rule", label_visibility="collapsed")
    return chosen if chosen in names else _ALL


def _rule(rule: Rule) -> None:
    look = severity_look(rule.severity)
    st.markdown(f"{look.badge} **{rule_words(rule.title)}**")
    st.caption(f"{rule_words(rule.why)}  \n{t('To mend it:')} {rule_words(rule.fix)}")


def _finding(trace: Trace, finding: Finding, *, key: str) -> None:
    """One finding. Its sentence may quote the trace, so it is plain text."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        position = finding.message
        if position is not None and position < len(trace.messages):
            st.button(
                t("Message {n}", n=position + 1),
                key=key,
                icon=":material/arrow_forward:",
                type="tertiary",
                on_click=address.choose_message,
                args=(trace, position),
            )
        cost = cost_words(finding)
        words = jsontext.clean(sentence(finding))
        st.text(f"{words} {t('Cost: {cost}', cost=cost)}" if cost else words, width="stretch")
