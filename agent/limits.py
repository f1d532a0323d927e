"""What may stop a run from outside: numbers that a user sets, all off by default so that the plain loop stays plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

HARD_CAP = 100
"""Steps after which a run ends even when its step limit was taken away: a lesson about endless loops must end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run beside ``max_steps``. ``None`` switches a limit off."""

    repeated_calls: int | None = None
    """Stop when the same calls with the same outcome came this many times in a row (cycles of up to 4 steps count)."""
    failing_steps: int | None = None
    """Stop after this many steps in a row in which every tool call failed."""
    deadline_s: float | None = None
    """Seconds of active time; a pause does not count."""
    total_tokens: int | None = None
    """Prompt and completion tokens of all model calls together; estimated where a provider reports none."""
    cost: float | None = None
    """US dollars, counted where the provider reports them."""
    calls_per_step: int | None = None
    """Tool calls that one reply may make; the rest are answered with "not run"."""
    nudges: int = 0
    """How many times an empty answer is met with one message that asks the model to go on."""
    cosmetic: tuple[str, ...] = ("description", "explanation", "reason", "thought")
    """Arguments that do not make a call a different one when repeats are counted."""

    @classmethod
    def guarded(cls, **changes: Any) -> Limits:
        """The guards that the app sets: the third equal call with an equal outcome, three failing steps in a row."""
        return cls(**{"repeated_calls": 3, "failing_steps": 3, **changes})

    def to_dict(self) -> dict[str, Any]:
        """JSON data, as it stands in a trace's ``config``."""
        return {**asdict(self), "cosmetic": list(self.cosmetic)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Limits:
        """Read JSON data; unknown keys are left out."""
        known = {key: value for key, value in data.items() if key in cls.__slots__}
        return cls(**{**known, "cosmetic": tuple(known["cosmetic"])} if "cosmetic" in known else known)
