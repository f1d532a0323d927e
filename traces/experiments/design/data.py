"""From a design to the data of its file: what is as usual is left out, and points of a curve are a sweep again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from itertools import groupby
from typing import TYPE_CHECKING, Any

from traces.experiments.design.experiment import BASELINE, ArmedFault, Condition, Experiment, ModelSpec, Subject

if TYPE_CHECKING:
    from agent.scripts.fields import EvidenceFields


def design_data(experiment: Experiment) -> dict[str, Any]:
    """A design as plain data, as :func:`~traces.experiments.design.file.parse_design` reads it."""
    data: dict[str, Any] = {"title": experiment.title} if experiment.title else {}
    data["subjects"] = [_subject(each) for each in experiment.subjects]
    data["models"] = [_model(each) for each in experiment.models]
    data["conditions"] = list(_conditions(experiment.conditions))
    for name in ("repeats", "seed", "outcome", "margin", "alpha"):
        data[name] = getattr(experiment, name)
    if budget := _unusual(experiment.budget):
        data["budget"] = budget
    return data


def from_check(check: EvidenceFields) -> Mapping[str, Any]:
    """A check of a script as plain data, the short form where it says all."""
    if check.tool_succeeded is None:
        return {"answer_contains": check.answer_contains}
    name, arguments = check.tool_succeeded.name, check.tool_succeeded.arguments
    return {"tool_succeeded": name if arguments is None else {"name": name, "arguments": arguments}}


def _unusual(record: Any) -> dict[str, Any]:
    """The fields of a record that are not as usual, as JSON data."""
    values = {
        each.name: getattr(record, each.name)
        for each in fields(record)
        if each.default is MISSING or getattr(record, each.name) != each.default
    }
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _subject(subject: Subject) -> str | dict[str, Any]:
    data = _unusual(subject)
    if "evidence" in data:
        data["evidence"] = [dict(check) for check in data["evidence"]]
    return subject.name if data == {"name": subject.name, "scenario": subject.name} else data


def _model(spec: ModelSpec) -> str | dict[str, Any]:
    if spec.kind != "live":
        return spec.kind if spec.name == spec.kind else {"name": spec.name, "kind": spec.kind}
    return {name: value for name, value in _unusual(spec).items() if name != "kind"}


# ---- conditions ----


def _conditions(conditions: Sequence[Condition]) -> Iterator[str | dict[str, Any]]:
    rest = [each for each in conditions if each.name != BASELINE]
    for sweep, group in groupby(rest, key=lambda each: each.sweep):
        points = list(group)
        if sweep and (whole := _sweep(sweep, points)):
            yield whole
        else:
            yield from map(_condition, points)


def _sweep(name: str, points: Sequence[Condition]) -> dict[str, Any] | None:
    """The points of a curve as one entry; None where they are no longer one intervention with one changing number."""
    values = [_number(point.value) for point in points]
    lone = all(len(point.interventions) == 1 and not point.faults for point in points)
    named = all(point.name == f"{name} {value}" for point, value in zip(points, values, strict=True))
    if not (lone and named):
        return None
    interventions = [point.interventions[0] for point in points]
    kind, params = interventions[0].kind, interventions[0].params
    for param in params:
        rest = {key: value for key, value in params.items() if key != param}
        if all(
            each.kind == kind and type(value) is int and each.params == {**rest, param: value}
            for each, value in zip(interventions, values, strict=True)
        ):
            data = {"sweep": name, "kind": kind, "param": param, "values": values}
            return {**data, "params": rest} if rest else data
    return None


def _number(value: float | None) -> int | float | None:
    """Whole numbers as such: that is how they were written."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _condition(condition: Condition) -> str | dict[str, Any]:
    name = condition.name
    interventions = [_named(item.kind, item.params) for item in condition.interventions]
    faults = [_fault(armed) for armed in condition.faults]
    if not condition.sweep and [*interventions, *faults] == [name]:
        return name
    data: dict[str, Any] = {"name": name}
    if interventions:
        data["interventions"] = interventions
    if faults:
        data["faults"] = faults
    if condition.sweep:
        data |= {"sweep": condition.sweep, "value": _number(condition.value)}
    return data


def _named(kind: str, params: Mapping[str, Any]) -> str | dict[str, Any]:
    return {"kind": kind, "params": dict(params)} if params else kind


def _fault(armed: ArmedFault) -> str | dict[str, Any]:
    named = _named(armed.fault.kind, armed.fault.params)
    if armed.step == 1:
        return named
    return {**({"kind": named} if isinstance(named, str) else named), "step": armed.step}
