"""The design of an experiment in words: what was tried on what, with which models and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element

from agent import jsontext
from agent.faults import FAULTS
from traces.experiments.design.experiment import BASELINE, Condition, Experiment, ModelSpec, Subject
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.telling import is_rate, number_words, sentence_begin
from traces.export.elements import Piece, element, facts, items, section
from traces.export.words import Say


def asked(experiment: Experiment, say: Say) -> Element:
    """What was asked, in three lines at the head of the report."""
    kinds = {
        "script": say("fake: follows its script"),
        "stand_in": say("fake: follows rules of ours"),
        "live": say("a real model"),
    }
    outcome = say(OUTCOMES[experiment.outcome].name)
    conditions = ", ".join(each.name for each in experiment.conditions if each.name != BASELINE)
    return facts(
        [
            (say("Asked"), say("Does {outcome} change under: {conditions}?", outcome=outcome, conditions=conditions)),
            (say("Models"), ", ".join(f"{model.name} ({kinds[model.kind]})" for model in experiment.models)),
            (say("Runs"), _size(experiment, say)),
        ]
    )


def design_part(experiment: Experiment, say: Say) -> Element:
    """Subjects, models, conditions and numbers."""
    return section(
        say("What was run"),
        facts(_numbers(experiment, say)),
        element("h3", say("Subjects")),
        *(piece for subject in experiment.subjects for piece in _subject(subject, say)),
        element("h3", say("Models")),
        *(piece for model in experiment.models for piece in _model(model, say)),
        element("h3", say("Conditions")),
        *(piece for condition in experiment.conditions for piece in _condition(condition, say)),
        id="design",
    )


def limits_part(experiment: Experiment, say: Say) -> Element:
    """What this kind of run can show and what it cannot, and which models follow rules of ours."""
    told: list[str] = []
    if any(subject.reruns_decision for subject in experiment.subjects):
        told.append(
            say(
                "A decision rerun asks for one reply to one recorded request; no tool runs. It shows whether this "
                "decision depends on what was taken away. It cannot show how the run would have gone on, nor whether "
                "the task would have been done."
            )
        )
    if any(subject.trace and not subject.reruns_decision for subject in experiment.subjects):
        told.append(
            say(
                "A continued run takes everything before its first step from the recording and runs on from there to "
                "its own end. It shows where the run ends up. It cannot show what other steps before would have "
                "changed; where recorded results stand in for tools, a call that was never recorded gets an error that "
                "says so."
            )
        )
    if any(not subject.trace for subject in experiment.subjects):
        told.append(
            say(
                "A full run begins with the user's message. It shows what the change does to the whole run: its end, "
                "its steps and its cost. It cannot show which single request made the difference."
            )
        )
    ours = [model.name for model in experiment.models if model.kind != "live"]
    if ours:
        told.append(
            say(
                "These models are fake and follow rules written by hand, or replies that were recorded: {names}. What "
                "they do with a change is what their rules say. It shows how the method works, not how a real model "
                "behaves.",
                names=", ".join(ours),
            )
        )
    told.append(say("What was found holds for these tasks and these models, under these settings."))
    return section(say("What this can show, and what it cannot"), items(told), id="limits")


def _numbers(experiment: Experiment, say: Say) -> Iterator[tuple[str, Piece]]:
    outcome, last = OUTCOMES[experiment.outcome], experiment.seed + experiment.repeats - 1
    yield say("Runs"), _size(experiment, say)
    yield say("Seeds"), say("{first} to {last}; repeats with the same seed are pairs", first=experiment.seed, last=last)
    yield say("Order"), say("interleaved: one repeat after the other, each time beginning with another condition")
    yield say("Primary outcome"), f"{sentence_begin(say(outcome.name))}: {say(outcome.sentence)}"
    margin = number_words(experiment.margin, experiment.outcome)
    if not is_rate(experiment.outcome):
        margin = say("{n} of the baseline", n=f"{experiment.margin:.0%}")
    yield say("Difference that would matter"), margin
    yield say("False alarms allowed, over all conditions together"), f"{experiment.alpha:.3g}"
    if experiment.budget.tokens is not None:
        yield say("Budget"), say("{n} tokens", n=f"{experiment.budget.tokens:,}")
    if experiment.budget.cost is not None:
        yield say("Budget in money"), say("{n} US dollars", n=f"{experiment.budget.cost:g}")


def _size(experiment: Experiment, say: Say) -> str:
    return say(
        "{n}: subjects {subjects} × models {models} × conditions {conditions} × repeats {repeats}",
        n=f"{experiment.size:,}",
        subjects=len(experiment.subjects),
        models=len(experiment.models),
        conditions=len(experiment.conditions),
        repeats=experiment.repeats,
    )


def _subject(subject: Subject, say: Say) -> list[Piece]:
    pieces: list[Piece] = [element("h4", subject.name), element("p", _what(subject, say))]
    pieces += [element("pre", text) for text in (subject.system, subject.task) if text]
    about: list[tuple[str, Piece]] = []
    if subject.tools:
        about.append((say("Tools on offer"), ", ".join(subject.tools)))
    if subject.max_steps is not None:
        about.append((say("Step limit"), f"{subject.max_steps}"))
    if subject.evidence:
        checks = (element("code", jsontext.dumps(dict(check))) for check in subject.evidence)
        about.append((say("Evidence, beside that of the script"), items(checks)))
    return [*pieces, facts(about)] if about else pieces


def _what(subject: Subject, say: Say) -> str:
    if subject.scenario:
        return say("The scenario {name} of the program.", name=subject.scenario)
    if subject.script:
        return say("The script {name}.", name=subject.script)
    if not subject.trace:
        return say("A task in words, for a live model: its system text, if there is one, and the question.")
    where = {"name": subject.trace, "n": subject.conversation, "step": subject.step}
    if subject.reruns_decision:
        return say("One decision of the recorded trace {name}, conversation {n}: the reply of step {step}.", **where)
    tools = say("Tools that are here really run.") if subject.real_tools else say("Tools answer as they are recorded.")
    return say("The recorded trace {name}, conversation {n}, continued from step {step}.", **where) + " " + tools


def _model(model: ModelSpec, say: Say) -> list[Piece]:
    sentences = {
        "script": say(
            "The fake model of the subject's own script, or the recorded replies of its trace. Its rules are written "
            "by hand."
        ),
        "stand_in": say("A fake model made of the trace that reacts to what is taken away. Its rules are ours."),
        "live": say("A model behind a server that speaks the OpenAI protocol."),
    }
    pieces: list[Piece] = [element("h4", model.name), element("p", sentences[model.kind])]
    if model.kind != "live":
        return pieces
    server = say("not set: whatever the server takes by itself")
    temperature = server if model.temperature is None else f"{model.temperature:g}"
    longest = server if model.max_tokens is None else f"{model.max_tokens:,}"
    settings: list[tuple[str, Piece]] = [
        (say("Model"), model.model or say("not set: as the environment says")),
        (say("Server"), model.base_url or say("not set: as the environment says")),
        (say("Temperature"), temperature),
        (say("Most tokens of a reply"), longest),
        (say("Time limit of a call"), say("{n} s", n=f"{model.timeout_s:g}")),
        (say("Seed"), say("sent with each request") if model.send_seed else say("not sent")),
        (say("Protocol"), model.protocol),
    ]
    return [*pieces, facts(settings)]


def _condition(condition: Condition, say: Say) -> list[Piece]:
    title = element("h4", condition.name)
    if condition.name == BASELINE:
        return [title, element("p", say("Nothing is changed. Everything is compared with it."))]
    lines: list[Piece] = []
    for each in condition.interventions:
        line = f"{say(each.about.name)}: {say(each.about.sentence)}"
        lines.append(element("span", line, *_params(each.params)))
    for armed in condition.faults:
        kind = FAULTS[armed.fault.kind]
        line = f"{say(kind.name)}: {say(kind.sentence)} {say('Armed at step {n}.', n=armed.step)}"
        lines.append(element("span", line, *_params(armed.fault.params)))
    if not lines:
        return [title, element("p", say("Nothing is changed."))]
    broken = say("Its requests break the protocol on purpose; a strict server refuses them, which counts as an error.")
    return [title, items(lines), element("p", broken) if condition.breaks_protocol else None]


def _params(params: Mapping[str, Any]) -> list[Piece]:
    return [" ", element("code", jsontext.dumps(dict(params)))] if params else []
