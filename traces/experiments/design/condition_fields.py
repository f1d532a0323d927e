"""The fields of a condition: what is different from the baseline; or a sweep, which is one condition for each value."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from agent.errors import InputError
from agent.faults import FAULTS
from agent.interventions import KINDS, Intervention
from agent.nearest import nearest
from agent.scripts.fields import InterventionFields
from agent.scripts.strict import Misplaced, Strict, found, short_for
from agent.scripts.turn_fields import AnyFaultFields
from traces.experiments.design.experiment import BASELINE
from traces.experiments.design.strict import Name, Whole

_OF_A_SWEEP = ("kind", "param", "values")
_NOT_OF_A_SWEEP = ("name", "interventions", "faults", "value")


class ArmedFaultFields(AnyFaultFields):
    """A fault, and the step at which it is armed."""

    step: Whole = 1


class ConditionFields(Strict):
    """One condition, or all conditions of a sweep."""

    name: Name | None = None
    interventions: list[Annotated[InterventionFields, short_for("kind")]] = []
    faults: list[Annotated[ArmedFaultFields, short_for("kind")]] = []
    sweep: Name | None = None
    """The name of a curve: beside ``values`` all of its points, beside ``value`` this one."""
    kind: str | None = None
    param: str | None = None
    values: Annotated[list[int], Field(min_length=1)] | None = None
    params: dict[str, Any] = {}
    value: float | None = None

    @property
    def sweeps(self) -> bool:
        """Whether it stands for one condition for each value."""
        return self.values is not None

    @property
    def names(self) -> list[str]:
        """Of each condition that it stands for."""
        if self.values is not None:
            return [f"{self.sweep} {value}" for value in self.values]
        kinds = [*(item.kind for item in self.interventions), *(item.kind for item in self.faults)]
        return [self.name or " + ".join(kinds)[:100]]

    @property
    def changes_something(self) -> bool:
        """Whether a run of it is not one of the baseline."""
        return bool(self.interventions or self.faults or self.sweeps)

    @model_validator(mode="after")
    def _is_a_condition_or_a_sweep(self) -> ConditionFields:
        given = {key for key in self.model_fields_set if getattr(self, key) is not None}
        swept = [key for key in _OF_A_SWEEP if key in given]
        if swept and (beside := [key for key in _NOT_OF_A_SWEEP if key in given]):
            raise Misplaced(beside[:1], f"{beside[0]} cannot stand beside {swept[0]}, which belongs to a sweep")
        if swept and (missing := [key for key in ("sweep", *_OF_A_SWEEP) if key not in given]):
            raise ValueError(f"a sweep needs the keys sweep, {', '.join(_OF_A_SWEEP)}; {missing[0]} is missing")
        if not swept and "params" in given:
            raise Misplaced(["params"], "params stand beside kind: in the list of interventions, or in a sweep")
        if not swept and (self.sweep is None) != (self.value is None):
            raise ValueError("sweep stands beside kind, param and values; or beside value, for one point of a curve")
        if not swept and not self.names[0]:
            raise ValueError("a condition needs interventions or faults; one that changes nothing needs a name")
        return self

    @model_validator(mode="after")
    def _sweeps_over_a_number(self) -> ConditionFields:
        if self.values is None or self.kind is None:
            return self
        if self.kind not in KINDS:
            raise Misplaced(["kind"], f"there is no intervention {found(self.kind)}{nearest(self.kind, KINDS)}")
        numbers = [name for name, param in KINDS[self.kind].params.items() if param.type is int]
        if self.param not in numbers:
            known = nearest(str(self.param), numbers) or "; it takes none"
            raise Misplaced(["param"], f"{self.kind} has no number {self.param!r} to sweep over{known}")
        for at, value in enumerate(self.values):
            if value in self.values[:at]:
                raise Misplaced(["values", at], f"the value {value} stands twice")
            try:
                Intervention(self.kind, {**self.params, self.param: value})
            except InputError as error:
                raise Misplaced(["values", at], str(error)) from error
        return self


def _lengthened(value: Any) -> Any:
    """A plain text is short for a condition with this one change."""
    if not isinstance(value, str):
        return value
    if value == BASELINE:
        return {"name": value}
    if value in FAULTS:
        return {"name": value, "faults": [value]}
    if value not in KINDS:
        raise ValueError(f"there is no intervention or fault {found(value)}{nearest(value, [*KINDS, *FAULTS])}")
    return {"name": value, "interventions": [value]}


AnyCondition = Annotated[ConditionFields, BeforeValidator(_lengthened)]
"""A plain text is the name of an intervention or a fault."""
