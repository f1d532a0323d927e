"""Design: what an experiment runs, as plain data. A file of it is read in :mod:`traces.experiments.design.file`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.errors import InputError
from agent.faults import RESULTS_NOT_WRITTEN_BACK, Fault
from agent.interventions import Intervention
from traces.experiments.outcomes import OUTCOMES, SUCCESS

MOST_RUNS = 1_000_000
"""Runs of one experiment: what it knows of each is in memory, and with as many it takes about 200 MB."""

BASELINE = "baseline"
"""The condition in which nothing is changed. It always comes first, and everything is compared with it."""

Mode = Literal["decision", "continue"]
ModelKind = Literal["script", "stand_in", "live"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One task that every condition is tried on. Exactly one of scenario, script, task and trace is given."""

    name: str
    """Unique within the experiment."""
    scenario: str = ""
    """Name of a scenario of the program."""
    script: str = ""
    """Path of a script file."""
    task: str = ""
    """The user's own words, for a live model."""
    system: str = ""
    """The system text that goes with ``task``."""
    tools: tuple[str, ...] = ()
    """Names of the tools on offer that go with ``task``: of the toolbox, or one's own."""
    trace: str = ""
    """Path of a trace file of any format."""
    conversation: int = 1
    """Which one of the trace file, from 1."""
    step: int = 1
    """Of a trace: the step that is decided anew, or that the run continues from, from 1."""
    mode: Mode = "continue"
    """Of a trace. ``decision``: one model call over the recorded request, no tool runs. ``continue``: a full rerun from
    that step on; everything before it is the recording."""
    real_tools: bool = False
    """Of a trace that is continued: whether tools that are here really run. Else a recorded call gets its recorded
    result, and any other one an error that says so."""
    max_steps: int | None = None
    """Steps that a run may take; None: as its script or trace says, else 8."""
    evidence: tuple[Mapping[str, Any], ...] = ()
    """Checks that say whether the task is done, as in a script: ``{"answer_contains": "BANANA"}``. They come in
    addition to those of the script."""

    @property
    def reruns_decision(self) -> bool:
        """Whether a run is one model call and no tool."""
        return bool(self.trace) and self.mode == "decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model that answers. Its key is never part of a design."""

    name: str
    """How tables call it; unique within the experiment."""
    kind: ModelKind = "script"
    """``script``: the fake model of the subject's own script, or the recorded replies of a trace. ``stand_in``: a fake
    model for a trace that reacts to what is taken away, by rules of ours (:mod:`traces.experiments.subjects.stand_in`).
    ``live``: a server that speaks the OpenAI protocol."""
    model: str = ""
    """Of a live model: the name that its server knows."""
    base_url: str = ""
    """Of a live model; empty: ``OPENAI_BASE_URL``."""
    key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds the key."""
    temperature: float | None = None
    """None: whatever the server takes by itself, which the report says."""
    max_tokens: int | None = None
    timeout_s: float = 120
    send_seed: bool = False
    """Whether each request carries the seed of its run."""
    protocol: Literal["native", "json_action"] = "native"


@dataclass(frozen=True, slots=True)
class ArmedFault:
    """A fault that is armed when a step begins, and strikes at the first phase in which it can."""

    fault: Fault
    step: int = 1
    """From 1; of a trace that is continued counted from where the run goes on."""

    @property
    def in_one_call(self) -> bool:
        """Whether it can strike in a single model call, after which no tool runs."""
        return self.fault.about.group in ("reply", "provider") or self.fault.kind == RESULTS_NOT_WRITTEN_BACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One arm: what is different from the baseline."""

    name: str
    """Unique within the experiment."""
    interventions: tuple[Intervention, ...] = ()
    faults: tuple[ArmedFault, ...] = ()
    sweep: str = ""
    """The name of the curve that it is one point of; empty: of none."""
    value: float | None = None
    """Where it stands on that curve."""

    @property
    def breaks_protocol(self) -> bool:
        """Whether its requests are broken on purpose, so that strict servers refuse them."""
        return any(item.breaks_protocol for item in self.interventions)


NOTHING_CHANGED = Condition(name=BASELINE)


@dataclass(frozen=True, slots=True)
class Budget:
    """What all runs together may use. No run begins beyond it, and those under way are stopped. None: no limit."""

    tokens: int | None = None
    cost: float | None = None
    """US dollars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A whole design.

    Raises:
        InputError: it makes no sense; the text says what and how to mend it.
    """

    title: str = ""
    subjects: tuple[Subject, ...]
    models: tuple[ModelSpec, ...] = (ModelSpec(name="script"),)
    conditions: tuple[Condition, ...] = ()
    """The baseline first; it is added where it is missing."""
    repeats: int = 10
    """Runs of each condition for each subject and model."""
    seed: int = 0
    """The runs of repeat r, from 0, have the seed ``seed + r`` in every condition: they are pairs."""
    outcome: str = SUCCESS
    """The primary outcome: the one that the verdict speaks of. A name in :data:`OUTCOMES`."""
    margin: float = 0.1
    """The difference that would matter: of a rate in absolute terms, of a number as a share of the baseline."""
    alpha: float = 0.05
    """How often a verdict of "effect" may be wrong, over all arms together, where nothing has an effect."""
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        rest = tuple(each for each in self.conditions if each.name != BASELINE)
        object.__setattr__(self, "conditions", (NOTHING_CHANGED, *rest))
        for what, names in (
            ("subject", [each.name for each in self.subjects]),
            ("model", [each.name for each in self.models]),
            ("condition", [each.name for each in self.conditions]),
        ):
            if not names:
                raise InputError(f"the experiment needs at least one {what}")
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise InputError(f"two of the {what}s are called {twice!r}; give each a name of its own")
        if self.repeats < 1:
            raise InputError(f"repeats must be a whole number from 1, not {self.repeats}")
        if self.size > MOST_RUNS:
            raise InputError(f"these are {self.size:,} runs, and {MOST_RUNS:,} are the most; lower repeats")
        if self.outcome not in OUTCOMES:
            raise InputError(f"there is no outcome {self.outcome!r}; known are {', '.join(OUTCOMES)}")
        if not 0 < self.alpha < 1 or self.margin <= 0:
            raise InputError("alpha must be between 0 and 1, and margin above 0")

    @property
    def size(self) -> int:
        """How many runs it has."""
        return len(self.subjects) * len(self.models) * len(self.conditions) * self.repeats
