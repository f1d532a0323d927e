"""Analysis: from the rows of an experiment to what it found. The same design and rows always give the same summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from traces.experiments.analysis import statistics as st
from traces.experiments.analysis import summary_words
from traces.experiments.analysis.arms import arm
from traces.experiments.analysis.contrast import Contrast, contrast, effect
from traces.experiments.analysis.stability import identical, stability
from traces.experiments.analysis.summary import Arm, Effect, Stability, Summary
from traces.experiments.analysis.values import Values, values_of
from traces.experiments.analysis.verdicts import Case, verdicts
from traces.experiments.design.experiment import BASELINE, Experiment
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.rows import Row


def analyse(experiment: Experiment, rows: Sequence[Row]) -> Summary:
    """What the runs say: per arm the outcomes with their uncertainty, the differences to the baseline, the verdicts.

    Args:
        experiment: the design.
        rows: one for each cell that has run, in any order. Those of names that the design does not hold are left out.
    """
    models = [_Model(experiment, spec.name, _in_order(experiment, spec.name, rows)) for spec in experiment.models]
    effects = _corrected([each for model in models for each in model.effects], experiment.outcome)
    cases = [case for model in models for case in model.cases(effects)]
    known = sum(len(model.rows) for model in models)
    return Summary(
        title=experiment.title,
        outcome=experiment.outcome,
        alpha=experiment.alpha,
        margin=experiment.margin,
        runs=known,
        arms=tuple(arm for model in models for arm in model.arms.values()),
        effects=tuple(effects),
        verdicts=tuple(verdicts(cases)),
        stability=tuple(model.stability for model in models),
        remarks=(
            *summary_words.of_runs(experiment, [row for model in models for row in model.rows]),
            *summary_words.of_outcomes(experiment, [values for model in models for values in model.values.values()]),
            *summary_words.of_sensitivity(experiment, cases),
            *(said for model in models for said in summary_words.of_baseline(experiment, model.stability)),
        ),
    )


class _Model:
    """The part of an experiment with one model.

    Args:
        experiment: the design.
        name: of the model.
        rows: its runs, in the order of the design.
    """

    def __init__(self, experiment: Experiment, name: str, rows: Sequence[Row]) -> None:
        self.experiment = experiment
        self.name = name
        self.rows = rows
        counted = [row for row in rows if row.counted]
        self.values: dict[str, Values] = {outcome: values_of(outcome, counted) for outcome in OUTCOMES}
        self.arms: dict[str, Arm] = {
            condition.name: arm(
                name,
                condition.name,
                self._rows_of(condition.name),
                self.values,
                primary=experiment.outcome,
                seed=experiment.seed,
            )
            for condition in experiment.conditions
        }
        self.compared: dict[tuple[str, str], Contrast] = {
            (condition.name, outcome): found
            for condition in experiment.conditions
            for outcome, values in self.values.items()
            if condition.name != BASELINE and (found := contrast(values, condition.name)) is not None
        }
        self.stability: Stability = stability(
            name, self.values[experiment.outcome], counted, margin=experiment.margin, seed=experiment.seed
        )

    @property
    def effects(self) -> Iterator[Effect]:
        """Every outcome of every arm against the baseline; p values not yet corrected."""
        for (condition, _), seen in self.compared.items():
            yield effect(seen, self.name, condition, self.experiment.seed)

    def cases(self, effects: Sequence[Effect]) -> Iterator[Case]:
        """What the verdict about each arm rests on."""
        outcome = self.experiment.outcome
        of_arm = {each.condition: each for each in effects if (each.model, each.outcome) == (self.name, outcome)}
        for condition in self.experiment.conditions[1:]:
            yield Case(
                experiment=self.experiment,
                condition=condition,
                arm=self.arms[condition.name],
                baseline=self.arms[BASELINE],
                seen=self.compared.get((condition.name, outcome)),
                effect=of_arm.get(condition.name),
                identical=self.stability.identical and identical(self._rows_of(condition.name)),
            )

    def _rows_of(self, condition: str) -> list[Row]:
        return [row for row in self.rows if row.condition == condition]


def _in_order(experiment: Experiment, model: str, rows: Sequence[Row]) -> list[Row]:
    """The runs of a model in the order of the design, whatever the order in which they ended."""
    subjects = {subject.name: at for at, subject in enumerate(experiment.subjects)}
    conditions = {condition.name: at for at, condition in enumerate(experiment.conditions)}
    known = [row for row in rows if row.model == model and row.subject in subjects and row.condition in conditions]
    return sorted(known, key=lambda row: (conditions[row.condition], subjects[row.subject], row.repeat))


def _corrected(effects: Sequence[Effect], outcome: str) -> list[Effect]:
    """The effects, those of the primary outcome with their p values corrected over all arms and models."""
    tested = [each for each in effects if each.outcome == outcome and each.p is not None]
    corrected = dict(zip(map(id, tested), st.holm([each.p for each in tested if each.p is not None]), strict=True))
    return [replace(each, p_holm=corrected.get(id(each))) for each in effects]
