"""Settings: how a run is to be conducted, apart from its model, its tools and its messages. A trace keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.context import ContextBudget
from agent.interventions import Intervention
from agent.limits import Limits
from agent.policy import CapabilityPolicy

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
    parallel: bool = True
    """Whether the calls of one reply may run at the same time."""

    def to_config(self) -> dict[str, Any]:
        """As it stands in a trace's ``config``."""
        return {
            "max_steps": self.max_steps,
            "limits": self.limits.to_dict(),
            "policy": self.policy and self.policy.to_dict(),
            "context": self.context and self.context.to_dict(),
            "interventions": [intervention.to_dict() for intervention in self.interventions],
            "parallel": self.parallel,
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
        )
