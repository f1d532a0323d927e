"""What a design may say and probably does not mean, told before it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.interventions import KINDS
from agent.nearest import nearest
from traces.experiments.design.experiment import Experiment
from traces.experiments.outcomes import AGREEMENT, FINISHED, OUTCOMES, SUCCESS
from traces.experiments.subjects.task import Task

_MEASURED = ("latency_ms", "cost")
"""Outcomes that only a live model has."""
_OF_WHOLE_RUNS = (FINISHED, AGREEMENT)
"""Outcomes that need a final answer."""


def doubts(experiment: Experiment, tasks: Mapping[str, Task]) -> list[str]:
    """What is allowed and probably not meant, a sentence each.

    Args:
        experiment: the design.
        tasks: its subjects as they were loaded, by name.
    """
    return [
        *_evidence(experiment, tasks),
        *_outcome(experiment),
        *_results(experiment, tasks),
        *_tools(experiment, tasks),
        *_repeats(experiment),
    ]


def _evidence(experiment: Experiment, tasks: Mapping[str, Task]) -> Iterator[str]:
    for subject in experiment.subjects if experiment.outcome == SUCCESS else ():
        if subject.reruns_decision:
            yield f"{subject.name!r} is a decision rerun, and one reply is no success: choose same_decision as outcome"
        elif subject.name in tasks and not tasks[subject.name].evidence:
            yield f"nothing says when {subject.name!r} is a success: add evidence, or choose another outcome"


def _outcome(experiment: Experiment) -> Iterator[str]:
    for subject in experiment.subjects if experiment.outcome in _OF_WHOLE_RUNS else ():
        if subject.reruns_decision:
            yield f"{subject.name!r} is a decision rerun, whose reply may be no answer: choose same_decision"
    if experiment.outcome in _MEASURED and all(model.kind != "live" for model in experiment.models):
        yield f"{OUTCOMES[experiment.outcome].name} is not measured of scripted models: choose another outcome"


def _results(experiment: Experiment, tasks: Mapping[str, Task]) -> Iterator[str]:
    of_results = [
        condition.name
        for condition in experiment.conditions
        if condition.interventions and all(KINDS[item.kind].group == "results" for item in condition.interventions)
    ]
    for name, task in tasks.items():
        results = task.source is None or any(message.role == "tool" for message in task.source.messages)
        if of_results and not results and not task.tools():
            yield f"{of_results[0]!r} changes nothing in {name!r}: the recording has no tool result"


def _tools(experiment: Experiment, tasks: Mapping[str, Task]) -> Iterator[str]:
    for name, task in tasks.items():
        offered = [tool.name for tool in task.tools()]
        for condition in experiment.conditions:
            for item in condition.interventions:
                wanted = [item.params["tool"]] if item.kind == "hide_tool" else item.params.get("tools", [])
                for tool in wanted:
                    if tool not in offered:
                        yield f"{condition.name!r}: {name!r} offers no tool {tool!r}{nearest(tool, offered)}"


def _repeats(experiment: Experiment) -> Iterator[str]:
    if experiment.repeats == 1 and len(experiment.subjects) == 1:
        yield "one run of each condition proves nothing: set repeats to 10 or more"
