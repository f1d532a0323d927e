"""How a design begins: from a saved trace, a scenario or a script, with everything filled in that makes sense."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agent.errors import InputError
from agent.interventions import Intervention
from pages.parts import address
from pages.parts.ablate_design_draft import base, begin, begin_text, moved, relative
from pages.parts.ablate_design_facts import evident, facts_of
from pages.parts.chosen_script import find_script, kept_name, scripts
from pages.parts.data import private, store
from pages.parts.setup import LIVE
from pages.parts.words import t
from traces.experiments.design.experiment import Condition, Experiment, ModelSpec, Subject
from traces.experiments.design.file import read_design
from traces.experiments.exercise import EXERCISES, exercises
from traces.experiments.outcomes import AGREEMENT, FINISHED, REPEATED, SAME_DECISION, SUCCESS

FIRST = "code_word"
"""The scenario of a new design: what a model does without its tool results."""
USUAL = ("blank_results", "drop_pairs")
"""What is taken away at first: the results, and the calls with them."""
_LONGEST_NAME = 40


def new_design() -> str:
    """Begin a design with nothing chosen; gives its id."""
    return begin(_design(Subject(name=FIRST, scenario=FIRST)))


def copied(text: str) -> str:
    """Begin a design with the text of another one; gives its id."""
    return begin_text(text, _design(Subject(name=FIRST, scenario=FIRST)))


def exercise_design(name: str) -> str:
    """Begin the design of an exercise; gives its id.

    Args:
        name: of the exercise.

    Raises:
        InputError: its files cannot be read.
    """
    exercise = next(each for each in exercises() if each.name == name)
    experiment = moved(read_design(exercise.design), EXERCISES)
    title = exercise.title_zh if address.language() == "zh" else exercise.title
    return begin(replace(experiment, title=title))


def design_from(source: Mapping[str, str]) -> str:
    """Begin a design from what the URL names; gives its id.

    Args:
        source: texts by the keys of :data:`pages.parts.address_ablate.SOURCES`.

    Raises:
        InputError: there is no such trace, scenario or script here.
    """
    return begin(_design(_subject(source)))


def usual_outcome(experiment: Experiment) -> str:
    """The outcome that a design can be judged by."""
    if all(subject.reruns_decision for subject in experiment.subjects):
        return SAME_DECISION
    if evident(experiment):
        return SUCCESS
    if all(facts_of(subject).answer for subject in experiment.subjects):
        return AGREEMENT
    # A recording that ends with a call, to submit for example, gives no answer however it is run again.
    return REPEATED if any(subject.trace for subject in experiment.subjects) else FINISHED


def from_trace(path: str, conversation: int, title: str) -> Subject:
    """A saved trace as a subject, to be continued from its first step with a tool call.

    Args:
        path: of its file; a relative one is in the data folder.
        conversation: its place in the file, from 1.
        title: what it is called.
    """
    name = _short(title) or Path(path).stem
    subject = Subject(name=name, trace=relative(base() / path), conversation=conversation)
    return replace(subject, step=facts_of(subject).first_call)


def sidebar_model() -> ModelSpec | None:
    """The live model that the settings of the Run page name; None: there is none."""
    name = str(address.setting(address.MODEL_NAME) or "").strip()
    if address.setting(address.MODEL_KIND) != LIVE or not name:
        return None
    return ModelSpec(
        name=_short(name) or LIVE,
        kind="live",
        model=name,
        base_url=str(address.setting(address.BASE_URL) or "").strip(),
        temperature=address.setting(address.TEMPERATURE),
        max_tokens=address.setting(address.MAX_TOKENS),
    )


def _subject(source: Mapping[str, str]) -> Subject:
    if (trace := source.get("trace")) is not None:
        return _of_library(trace, source)
    if (path := source.get("path")) is not None:
        if not private():
            raise InputError(t("Files are opened by their path only where no other machine can reach the server."))
        return _at_step(from_trace(path, _number(source, "conversation", 1), Path(path).stem), source)
    script = source.get("script")
    if script is not None:
        found = scripts().find(script)
        if found is None:
            raise InputError(t("There is no script with the id in the address."))
        title = find_script(kept_name(script)).title
        return Subject(name=_short(title) or script, script=relative(found))
    scenario = source.get("scenario", FIRST)
    find_script(scenario)
    return Subject(name=scenario, scenario=scenario)


def _of_library(trace: str, source: Mapping[str, str]) -> Subject:
    info = store().find(trace)
    if info is None:
        raise InputError(t("There is no trace with the id in the address."))
    address.opened().add(trace)
    conversation = _number(source, "conversation", max(info.number, 0) + 1)
    return _at_step(from_trace(info.path, conversation, info.title), source)


def _at_step(subject: Subject, source: Mapping[str, str]) -> Subject:
    return replace(subject, step=_number(source, "step", subject.step))


def _design(subject: Subject) -> Experiment:
    live = sidebar_model() if subject.trace else None
    model = live or ModelSpec(name="stand_in", kind="stand_in") if subject.trace else ModelSpec(name="script")
    experiment = Experiment(
        title=t("{subject}: does it need its tool results?", subject=subject.name),
        subjects=(subject,),
        models=(model,),
        conditions=tuple(Condition(name=kind, interventions=(Intervention(kind),)) for kind in USUAL),
        seed=1,
    )
    return replace(experiment, outcome=usual_outcome(experiment))


def _number(source: Mapping[str, str], name: str, default: int) -> int:
    text = source.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) else default


def _short(name: str) -> str:
    """A name for tables. A slash would end the name of a run."""
    return re.sub(r"[\s/]+", " ", name)[:_LONGEST_NAME].strip()
