"""Settings: how a run is to be conducted, apart from its model, its tools and its messages. A trace keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from agent.context import ContextBudget
from agent.errors import InputError
from agent.interventions import Intervention
from agent.limits import Limits
from agent.policy import CapabilityPolicy

UnknownOutcome = Literal["ask", "run", "skip"]
NO_LIMITS = Limits()
"""Only the step limit holds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a :class:`~agent.loop.Loop` that are plain data."""

    max_steps: int | None = 8
    """Model calls that one turn may take; None: only the hard cap holds."""
    policy: CapabilityPolicy | None = None
    """None: every tool may run."""
    limits: Limits = NO_LIMITS
    context: ContextBudget | None = None
    """None: everything is always sent."""
    interventions: tuple[Intervention, ...] = ()
    """Changes to what the model is given. What one of them switches off is off, whatever else is asked for."""
    parallel: bool = True
    """Whether the calls of one reply may run at the same time."""
    unknown: UnknownOutcome = "ask"
    """What is done about a tool that was running when the program ended."""

    def __post_init__(self) -> None:
        steps = self.max_steps
        if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 1):
            raise InputError(f"max_steps must be a whole number from 1, or None for no limit, not {steps!r}")
        if self.unknown not in get_args(UnknownOutcome):
            raise InputError(f"unknown must be one of {', '.join(get_args(UnknownOutcome))}, not {self.unknown!r}")
        for intervention in self.interventions:
            for name, value in intervention.switches(self).items():
                object.__setattr__(self, name, value)

    def to_config(self) -> dict[str, Any]:
        """As it stands in a trace's ``config``."""
        return {
            "max_steps": self.max_steps,
            "limits": self.limits.to_dict(),
            "policy": self.policy and self.policy.to_dict(),
            "context": self.context and self.context.to_dict(),
            "interventions": [intervention.to_dict() for intervention in self.interventions],
            "parallel": self.parallel,
            "unknown": self.unknown,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Settings:
        """Read a trace's ``config``; what is missing takes its default."""
        policy, context = config.get("policy"), config.get("context")
        return cls(
            max_steps=config.get("max_steps", 8),
            policy=CapabilityPolicy.from_dict(policy) if policy else None,
            limits=Limits.from_dict(config.get("limits") or {}),
            context=ContextBudget.from_dict(context) if context else None,
            interventions=tuple(Intervention.from_dict(item) for item in config.get("interventions") or ()),
            parallel=bool(config.get("parallel", True)),
            unknown=config.get("unknown") or "ask",
        )
