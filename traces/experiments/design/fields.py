"""The fields of a design: what may stand in its file, and what makes no sense together.

This module imports pydantic; :mod:`traces.experiments.design.file` imports it when the first design is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from agent.errors import InputError
from agent.faults import Fault
from agent.nearest import nearest
from agent.scripts import scenarios
from agent.scripts.fields import EvidenceFields
from agent.scripts.strict import Misplaced, Strict, found, short_for
from agent.secret_shapes import hide_shapes
from traces.experiments.design.condition_fields import AnyCondition
from traces.experiments.design.experiment import BASELINE, ArmedFault, Mode, ModelKind
from traces.experiments.design.no_keys import checked_address
from traces.experiments.design.strict import Name, Whole, Words
from traces.experiments.outcomes import OUTCOMES, SAME_DECISION, SUCCESS

_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
_OF_A_TASK, _OF_A_TRACE = ("system", "tools"), ("conversation", "step", "mode", "real_tools")


def _scenario(name: str) -> str:
    known = [info.name for info in scenarios()]
    if name in known:
        return name
    if name.lower().endswith(_SUFFIXES):
        raise ValueError("a plain text is the name of a scenario; a file is {script: PATH} or {trace: PATH}")
    raise ValueError(f"there is no scenario {found(name)}{nearest(name, known)}")


class SubjectFields(Strict):
    """One task that every condition is tried on."""

    name: Name | None = None
    scenario: Annotated[str, AfterValidator(_scenario)] | None = None
    script: Words | None = None
    task: Words | None = None
    trace: Words | None = None
    system: str = ""
    tools: list[str] = []
    conversation: Whole = 1
    step: Whole = 1
    mode: Mode = "continue"
    real_tools: bool = False
    max_steps: Whole | None = None
    evidence: list[EvidenceFields] = []

    @model_validator(mode="after")
    def _is_one_thing(self) -> SubjectFields:
        given = [name for name in ("scenario", "script", "task", "trace") if getattr(self, name) is not None]
        if not given:
            raise ValueError("a subject needs one of the keys scenario, script, task and trace")
        if len(given) > 1:
            raise Misplaced(given[1:2], f"a subject is one thing: give {given[0]} or {given[1]}, not both")
        for owner, keys in (("task", _OF_A_TASK), ("trace", _OF_A_TRACE)):
            if given != [owner] and (beside := [key for key in keys if key in self.model_fields_set]):
                raise Misplaced(beside[:1], f"{beside[0]} goes with {owner}, and this subject is a {given[0]}")
        return self

    @model_validator(mode="after")
    def _decides_once(self) -> SubjectFields:
        if self.mode == "decision":
            if self.real_tools:
                raise Misplaced(["real_tools"], "in a decision rerun no tool runs: leave out real_tools")
            if self.max_steps is not None:
                raise Misplaced(["max_steps"], "a decision rerun is one model call: leave out max_steps")
        return self

    @property
    def called(self) -> str:
        """Its name; without one that of the scenario or file."""
        path = self.script or self.trace or "task"
        return self.name or self.scenario or PurePath(path).stem[:100]


def _url(url: str) -> str:
    try:
        return checked_address(url)
    except InputError as error:
        raise ValueError(str(error)) from error


def _variable(name: str) -> str:
    """The name of an environment variable; empty: none holds a key."""
    if name and (not name.isidentifier() or not name.isascii() or hide_shapes(name) != name):
        raise ValueError("expected the name of an environment variable, such as OPENAI_API_KEY, and never the key")
    return name


class ModelFields(Strict):
    """A model that answers."""

    name: Name | None = None
    kind: ModelKind = "live"
    model: Words | None = None
    base_url: Annotated[str, AfterValidator(_url)] | None = None
    key_env: Annotated[str, AfterValidator(_variable)] = "OPENAI_API_KEY"
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Whole | None = None
    timeout_s: Annotated[float, Field(gt=0, le=86_400)] = 120
    send_seed: bool = False
    protocol: Literal["native", "json_action"] = "native"

    @model_validator(mode="after")
    def _is_live_or_not(self) -> ModelFields:
        if self.kind == "live" and self.model is None:
            raise ValueError("name the live model: model is what its server calls it")
        if self.kind != "live" and (beside := self.model_fields_set - {"name", "kind"}):
            given = min(beside, key=list(type(self).model_fields).index)
            raise Misplaced([given], f"{given} goes with a live model, and this one is {self.kind}")
        return self

    @property
    def called(self) -> str:
        """Its name; without one that of the model, or its kind."""
        return self.name or (self.model or self.kind)[:100]


def _model(value: Any) -> Any:
    if value in ("script", "stand_in"):
        return {"kind": value}
    if isinstance(value, str):
        raise ValueError(f"expected script, stand_in, or a mapping with the key model, found {found(value)}")
    return value


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, (str, Mapping)) else value


def _outcome(name: str) -> str:
    if name not in OUTCOMES:
        raise ValueError(f"there is no outcome {found(name)}{nearest(name, OUTCOMES)}")
    return name


class BudgetFields(Strict):
    """What all runs together may use."""

    tokens: Whole | None = None
    cost: Annotated[float, Field(gt=0)] | None = None


class DesignFields(Strict):
    """A whole design."""

    title: str = ""
    subjects: Annotated[
        list[Annotated[SubjectFields, short_for("scenario")]], Field(min_length=1), BeforeValidator(_one_or_many)
    ]
    models: Annotated[
        list[Annotated[ModelFields, BeforeValidator(_model)]], Field(min_length=1), BeforeValidator(_one_or_many)
    ] = [ModelFields(kind="script")]
    conditions: list[AnyCondition] = []
    repeats: Annotated[int, Field(ge=1, le=100_000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**62)] = 0
    outcome: Annotated[str, AfterValidator(_outcome)] = SUCCESS
    margin: Annotated[float, Field(gt=0)] = 0.1
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    budget: BudgetFields = BudgetFields()

    @model_validator(mode="after")
    def _names_each_once(self) -> DesignFields:
        _check_names("subject", ((["subjects", at], each.called) for at, each in enumerate(self.subjects)))
        _check_names("model", ((["models", at], each.called) for at, each in enumerate(self.models)))
        _check_names("condition", self._named_conditions())
        return self

    def _named_conditions(self) -> Iterator[tuple[list[str | int], str]]:
        for at, each in enumerate(self.conditions):
            if BASELINE in each.names and each.changes_something:
                words = f"the {BASELINE} is always there and changes nothing: give this condition another name"
                raise Misplaced(["conditions", at], words)
            for name in each.names:
                yield ["conditions", at], name

    @model_validator(mode="after")
    def _has_models_that_can_answer(self) -> DesignFields:
        other = next((each for each in self.models if each.kind != "live"), None)
        at = next((at for at, each in enumerate(self.subjects) if each.task is not None), None)
        if other is not None and at is not None:
            words = f"a task of your own has no script and no trace that the model {other.called!r} could follow"
            raise Misplaced(["subjects", at, "task"], f"{words}: give only live models under models")
        return self

    @model_validator(mode="after")
    def _has_traces_to_stand_in_for(self) -> DesignFields:
        at = next((at for at, each in enumerate(self.models) if each.kind == "stand_in"), None)
        other = next((each for each in self.subjects if each.trace is None), None)
        if at is not None and other is not None:
            words = f"a stand-in is made of a trace, and the subject {other.called!r} is none"
            raise Misplaced(["models", at], f"{words}: choose another model")
        return self

    @model_validator(mode="after")
    def _has_faults_that_can_strike(self) -> DesignFields:
        decided = next((each for each in self.subjects if each.mode == "decision"), None)
        for at, condition in enumerate(self.conditions if decided else ()):
            for number, fault in enumerate(condition.faults):
                if decided and not ArmedFault(Fault(fault.kind)).in_one_call:
                    words = f"in the decision rerun {decided.called!r} no tool runs, so that {fault.kind} cannot strike"
                    raise Misplaced(["conditions", at, "faults", number], f"{words}: use mode: continue")
        return self

    @model_validator(mode="after")
    def _measures_what_there_is(self) -> DesignFields:
        other = next((each for each in self.subjects if each.mode != "decision"), None)
        if self.outcome == SAME_DECISION and other is not None:
            words = f"{SAME_DECISION} is measured of decision reruns alone, and the subject {other.called!r} is none"
            raise Misplaced(["outcome"], f"{words}: make it a trace with mode: decision, or choose another outcome")
        return self


def _check_names(what: str, named: Iterable[tuple[list[str | int], str]]) -> None:
    seen: set[str] = set()
    for place, name in named:
        if name in seen:
            raise Misplaced(place, f"there is already a {what} called {name!r}: give each a name of its own")
        seen.add(name)
