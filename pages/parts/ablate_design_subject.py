"""The part of the design form in which the task is chosen that every condition is tried on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from agent.scripts import scenarios
from pages.parts import address_ablate
from pages.parts.ablate_design_begin import FIRST, from_trace, usual_outcome
from pages.parts.ablate_design_draft import change, relative
from pages.parts.ablate_design_facts import Facts, facts_of
from pages.parts.ablate_design_parts import Several, chooser, field, free_name
from pages.parts.chosen_script import kept_id, kept_titles, scripts
from pages.parts.data import listed
from pages.parts.library import title_words
from pages.parts.offered import known_names
from pages.parts.setup import OWN_TOOLS
from pages.parts.setup_form import scenario_title
from pages.parts.words import t
from traces.experiments.design.experiment import Experiment, Mode, Subject

MOST_LISTED = 200
"""Traces to choose from here, the newest ones; any other one is ablated from its own page."""
_TASK = "What is 2 + 3?"
_ANSWER = "answer_contains"


def subject_form(design: str, experiment: Experiment) -> None:
    """Draw the subjects of a design, one at a time."""
    subjects = experiment.subjects
    several = Several(
        design,
        "subjects",
        [subject.name for subject in subjects],
        {"scenario": t("Scenario"), "script": t("Script"), "trace": t("Trace"), "task": t("Own task")},
        lambda at: kind_of(subjects[at]),
        lambda at, kind: _set(design, at, _other(kind)),
        lambda: _add(design),
        lambda at: _remove(design, at),
    )
    at = chooser(
        several, title=t("Subject"), which=t("Which subject to show"), kind=t("What every condition is tried on")
    )
    subject = subjects[at]
    facts = facts_of(subject)
    if facts.problem:
        st.warning(t("This subject cannot be read."))
        st.text(facts.problem)
    {"scenario": _scenario, "script": _script, "trace": _trace, "task": _task}[kind_of(subject)](
        design, at, subject, facts
    )
    _checks(design, at, subject, facts)


def kind_of(subject: Subject) -> str:
    """What a subject is: scenario, script, trace or task."""
    return next((kind for kind in ("scenario", "script", "trace") if getattr(subject, kind)), "task")


def _scenario(design: str, at: int, subject: Subject, facts: Facts) -> None:
    names = [info.name for info in scenarios()]
    names += [subject.scenario] if subject.scenario not in names else []
    st.selectbox(
        t("Scenario"),
        names,
        format_func=lambda name: scenario_title(name) if name != subject.scenario or not facts.problem else name,
        label_visibility="collapsed",
        **field("ablate-scenario", subject.scenario, lambda name: _set(design, at, Subject(name=name, scenario=name))),
    )


def _script(design: str, at: int, subject: Subject, facts: Facts) -> None:
    titles = _script_titles()
    titles.setdefault(subject.script, subject.name)
    st.selectbox(
        t("Script"),
        list(titles),
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        **field(
            "ablate-script",
            subject.script,
            lambda path: _set(design, at, Subject(name=titles[path], script=path)),
        ),
    )


def _trace(design: str, at: int, subject: Subject, facts: Facts) -> None:
    _trace_choice(design, at, subject)
    modes = {"continue": t("Continue from a step"), "decision": t("Rerun one decision")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.segmented_control(
            t("What is run again"),
            list(modes),
            format_func=modes.__getitem__,
            required=True,
            **field("ablate-mode", subject.mode, lambda mode: _set_mode(design, at, mode)),
        )
        st.number_input(
            t("Step (1 to {n})", n=max(facts.steps, 1)),
            1,
            max(facts.steps, subject.step, 1),
            width=130,
            **field("ablate-step", subject.step, lambda step: _set_fields(design, at, step=int(step))),
        )
        if subject.mode == "continue":
            st.toggle(
                t("Let the real tools run"),
                help=t(
                    "Off: a recorded call gets its recorded result, any other call an error that says so. "
                    "On: tools that are here really run."
                ),
                **field("ablate-real-tools", subject.real_tools, lambda on: _set_fields(design, at, real_tools=on)),
            )
    st.caption(mode_words(subject.mode))


def mode_words(mode: str) -> str:
    """What such a rerun can and cannot show."""
    if mode == "decision":
        return t(
            "One model call over the recorded request; no tool runs. It shows what this one decision depends on, and "
            "nothing about how the run would have gone on."
        )
    return t(
        "A full rerun from that step on; everything before it is the recording. It shows how runs end without what you "
        "take away, but a later difference can have many causes."
    )


def _trace_choice(design: str, at: int, subject: Subject) -> None:
    infos = [info for info in listed()[:MOST_LISTED] if not info.error]
    places = {(relative(info.path), max(info.number, 0) + 1): title_words(info.title) or info.id for info in infos}
    here = (subject.trace, subject.conversation)
    places.setdefault(here, subject.name)

    def changed(place: tuple[str, int]) -> None:
        _set(design, at, from_trace(*place, places[place]))

    st.selectbox(
        t("Saved trace"),
        list(places),
        format_func=lambda place: places.get(place, ""),
        label_visibility="collapsed",
        **field("ablate-trace", here, changed),
    )


def _task(design: str, at: int, subject: Subject, facts: Facts) -> None:
    st.text_area(
        t("Your task"),
        height=68,
        **field("ablate-task", subject.task, lambda text: _set_fields(design, at, task=text.strip() or _TASK)),
    )
    with st.container(horizontal=True, gap="small"):
        st.text_input(
            t("System text"),
            placeholder=t("none"),
            **field("ablate-system", subject.system, lambda text: _set_fields(design, at, system=text)),
        )
        names = known_names()
        st.multiselect(
            t("Tools on offer"),
            [*names, *(name for name in subject.tools if name not in names)],
            placeholder=t("none"),
            **field("ablate-tools", list(subject.tools), lambda chosen: _set_fields(design, at, tools=tuple(chosen))),
        )


def _checks(design: str, at: int, subject: Subject, facts: Facts) -> None:
    """How a success is known, and how long a run may be."""
    own = next((str(check[_ANSWER]) for check in subject.evidence if _ANSWER in check), "")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            t("The answer must hold"),
            placeholder=t("as the script checks it") if facts.checked else t("nothing is checked"),
            help=t(
                "Evidence: a run is a success when its final answer holds this text. Other checks go into the YAML."
            ),
            **field("ablate-evidence", own, lambda text: _set_answer(design, at, text)),
        )
        st.number_input(
            t("Step limit"),
            1,
            200,
            value=None,
            placeholder=t("as in the trace") if subject.trace else t("its own"),
            width=200,
            **field("ablate-limit", subject.max_steps, lambda steps: _set_fields(design, at, max_steps=steps)),
        )


def _script_titles() -> dict[str, str]:
    """The kept scripts, by their paths."""
    found = {kept_id(name): title for name, title in kept_titles().items()}
    return {relative(info.path): found[info.id] for info in scripts().list() if info.id in found}


# ---- what the fields do ----


def _other(kind: str) -> Subject:
    """A subject of another kind to begin with."""
    if kind == "script" and (titles := _script_titles()):
        path, title = next(iter(titles.items()))
        return Subject(name=title, script=path)
    if kind == "trace" and (infos := [info for info in listed()[:MOST_LISTED] if not info.error and info.steps]):
        return from_trace(infos[0].path, max(infos[0].number, 0) + 1, infos[0].title)
    if kind == "task":
        return Subject(name="own", task=_TASK, tools=OWN_TOOLS)
    return Subject(name=FIRST, scenario=FIRST)


def _set_fields(design: str, at: int, **fields: Any) -> None:
    def make(experiment: Experiment) -> Experiment:
        return _with(experiment, at, replace(experiment.subjects[at], **fields))

    change(design, make)


def _set_mode(design: str, at: int, mode: Mode) -> None:
    """Change what is run again. One decision is best looked at where there is a result that it can depend on."""

    def make(experiment: Experiment) -> Experiment:
        subject = replace(experiment.subjects[at], mode=mode)
        facts = facts_of(subject)
        if subject.reruns_decision and subject.step == facts.first_call < facts.steps:
            subject = replace(subject, step=subject.step + 1)
        return _with(experiment, at, subject)

    change(design, make)


def _set_answer(design: str, at: int, text: str) -> None:
    """Let the evidence ask for this text in the answer, and for whatever else it asks for."""
    checks = [{_ANSWER: text.strip()}] if text.strip() else []

    def make(experiment: Experiment) -> Experiment:
        subject = experiment.subjects[at]
        others = (check for check in subject.evidence if _ANSWER not in check)
        return _with(experiment, at, replace(subject, evidence=(*others, *checks)))

    change(design, make)


def _set(design: str, at: int, subject: Subject) -> None:
    def make(experiment: Experiment) -> Experiment:
        taken = [each.name for number, each in enumerate(experiment.subjects) if number != at]
        return _with(experiment, at, replace(subject, name=free_name(subject.name, taken)))

    change(design, make)


def _with(experiment: Experiment, at: int, subject: Subject) -> Experiment:
    subjects = experiment.subjects
    return _judged(experiment, (*subjects[:at], subject, *subjects[at + 1 :]))


def _judged(experiment: Experiment, subjects: tuple[Subject, ...]) -> Experiment:
    """The design with other subjects, judged by what can be said of them unless somebody chose another outcome."""
    changed = replace(experiment, subjects=subjects)
    if experiment.outcome != usual_outcome(experiment):
        return changed
    return replace(changed, outcome=usual_outcome(changed))


def _add(design: str) -> None:
    def make(experiment: Experiment) -> Experiment:
        subjects = experiment.subjects
        address_ablate.choose(design, "subjects", len(subjects))
        subject = Subject(name=free_name(FIRST, [each.name for each in subjects]), scenario=FIRST)
        return _judged(experiment, (*subjects, subject))

    change(design, make)


def _remove(design: str, at: int) -> None:
    def make(experiment: Experiment) -> Experiment:
        return _judged(experiment, experiment.subjects[:at] + experiment.subjects[at + 1 :])

    change(design, make)
