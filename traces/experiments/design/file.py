"""A design as a file that people write: YAML or JSON, read strictly. ``FORMAT.md`` tells every key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import InputError
from agent.faults import Fault
from agent.interventions import Intervention
from agent.nearest import nearest
from agent.scripts import source
from agent.scripts.source import Lines, SourceError
from agent.scripts.strict import found
from agent.tools import Tool
from traces.experiments.design.data import design_data, from_check
from traces.experiments.design.experiment import ArmedFault, Budget, Condition, Experiment, ModelSpec, Subject

if TYPE_CHECKING:
    from agent.scripts.problems import Mistakes, Place, Problem, Problems
    from traces.experiments.design.condition_fields import ConditionFields
    from traces.experiments.design.fields import DesignFields, ModelFields, SubjectFields

NAME = "design.yaml"
_WHAT = "design"
_LISTS = ("subjects", "models")
"""Keys that hold a list, or the one entry of it."""


def read_design(path: str | Path, own: Iterable[Tool] = ()) -> Experiment:
    """Read a design from its file. The paths in it stay relative to the file's folder, and must lead somewhere.

    Args:
        path: the file.
        own: tools of one's own, which it may name beside those of the toolbox.

    Raises:
        InputError: it cannot be read, or is wrong: file, line, place, what was expected.
    """
    path = Path(path)
    return _parsed(source.text_of(path, _WHAT), path.name, path.parent, own)


def parse_design(text: str, name: str = NAME, own: Iterable[Tool] = ()) -> Experiment:
    """Read a design from its text. Whether the files that it names are there is seen when they are loaded.

    Args:
        text: YAML, or JSON.
        name: the file name: what errors call the text; one that ends with ``.json`` makes it JSON.
        own: as for :func:`read_design`.

    Raises:
        InputError: it is wrong: file, line, place, what was expected.
    """
    return _parsed(text, name, None, own)


def design_problems(text: str, name: str = NAME, base: Path | None = None, own: Iterable[Tool] = ()) -> list[Problem]:
    """Everything that is wrong with a design, in the order of the text; nothing where it can be run.

    What is wrong between several keys is told once each of them is right.

    Args:
        text: as for :func:`parse_design`.
        name: as for :func:`parse_design`.
        base: the folder in which the files that it names must be; None: they are not looked for.
        own: as for :func:`read_design`.
    """
    return _looked_at(text, name, base, own)[1].listed


def design_text(experiment: Experiment, *, as_json: bool = False) -> str:
    """A design as YAML, or JSON. Reading it gives an equal one; what is as usual is left out."""
    from agent.scripts.writing import to_json, to_yaml

    data = design_data(experiment)
    return to_json(data) if as_json else to_yaml(data)


# ---- reading ----


def _parsed(text: str, name: str, base: Path | None, own: Iterable[Tool]) -> Experiment:
    fields, problems = _looked_at(text, name, base, own)
    if problems.told or fields is None:
        raise problems.error(name)
    try:
        return _experiment(fields)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _looked_at(text: str, name: str, base: Path | None, own: Iterable[Tool]) -> tuple[DesignFields | None, Problems]:
    from agent.scripts.problems import Problems, check_fields
    from traces.experiments.design.fields import DesignFields
    from traces.experiments.design.no_keys import refused_key

    try:
        data = source.read(text, name, _WHAT)
    except SourceError as error:
        return None, Problems.whole(error.sentence, error.line)
    if not isinstance(data, Mapping):
        return None, Problems.whole(f"a design is a mapping with the key subjects; found {found(data)}")
    if "turns" in data or "rules" in data:
        words = "this is a script and no design; a design names it: subjects: [{script: PATH}]"
        return None, Problems.whole(words)
    single = [key for key in _LISTS if isinstance(data.get(key), (str, Mapping))]

    def shown(place: Place) -> Place:
        return [place[0], *place[2:]] if place and place[0] in single else list(place)

    fields, mistakes = check_fields(data, DesignFields, "at the top of a design, beside subjects", refused_key)
    if fields is not None:
        mistakes = _of_what_it_names(fields, base, own)
    return fields, Problems.at(mistakes, Lines(text, name), shown)


def _of_what_it_names(fields: DesignFields, base: Path | None, own: Iterable[Tool]) -> Mistakes:
    """Tools and files that there are not."""
    from agent.scripts.checking import unknown_tools
    from agent.scripts.problems import Mistakes

    own, told = tuple(own), []
    for at, subject in enumerate(fields.subjects):
        told += unknown_tools(["subjects", at, "tools"], list(enumerate(subject.tools)), own).told
        for key in ("script", "trace"):
            path = getattr(subject, key)
            if base is not None and path and (words := _missing(base / path, path)):
                told.append((["subjects", at, key], words))
    return Mistakes(told, len(told))


def _missing(path: Path, shown: str) -> str:
    """Why a file cannot be taken, in words; empty where it can."""
    try:
        if path.is_file():
            return ""
        beside = [item.name for item in path.parent.iterdir() if item.is_file()] if path.parent.is_dir() else []
    except (OSError, ValueError) as error:
        return f"the file {shown!r} cannot be looked for: {error}"
    near = nearest(path.name, beside)
    hint = near if near.startswith("; did") else "; a path is relative to the folder of the design"
    return f"there is no file {shown!r}{hint}"


# ---- from the fields to the design ----


def _experiment(fields: DesignFields) -> Experiment:
    return Experiment(
        title=fields.title,
        subjects=tuple(map(_subject, fields.subjects)),
        models=tuple(map(_model, fields.models)),
        conditions=tuple(condition for each in fields.conditions for condition in _conditions(each)),
        repeats=fields.repeats,
        seed=fields.seed,
        outcome=fields.outcome,
        margin=fields.margin,
        alpha=fields.alpha,
        budget=Budget(fields.budget.tokens, fields.budget.cost),
    )


def _subject(fields: SubjectFields) -> Subject:
    return Subject(
        name=fields.called,
        scenario=fields.scenario or "",
        script=fields.script or "",
        task=fields.task or "",
        system=fields.system,
        tools=tuple(fields.tools),
        trace=fields.trace or "",
        conversation=fields.conversation,
        step=fields.step,
        mode=fields.mode,
        real_tools=fields.real_tools,
        max_steps=fields.max_steps,
        evidence=tuple(map(from_check, fields.evidence)),
    )


def _model(fields: ModelFields) -> ModelSpec:
    return ModelSpec(
        name=fields.called,
        kind=fields.kind,
        model=fields.model or "",
        base_url=fields.base_url or "",
        key_env=fields.key_env,
        temperature=fields.temperature,
        max_tokens=fields.max_tokens,
        timeout_s=fields.timeout_s,
        send_seed=fields.send_seed,
        protocol=fields.protocol,
    )


def _conditions(fields: ConditionFields) -> list[Condition]:
    if fields.values is not None:
        return [
            Condition(
                name=name,
                interventions=(Intervention(str(fields.kind), {**fields.params, str(fields.param): value}),),
                sweep=fields.sweep or "",
                value=value,
            )
            for name, value in zip(fields.names, fields.values, strict=True)
        ]
    return [
        Condition(
            name=fields.names[0],
            interventions=tuple(Intervention(item.kind, dict(item.params)) for item in fields.interventions),
            faults=tuple(ArmedFault(Fault(item.kind, dict(item.params)), item.step) for item in fields.faults),
            sweep=fields.sweep or "",
            value=fields.value,
        )
    ]
