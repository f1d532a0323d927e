"""What may stop a run from outside: numbers that a user sets, all off by default so that the plain loop stays plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.errors import InputError

HARD_CAP = 100
"""Steps after which a run ends even when its step limit was taken away: a lesson about endless loops must end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run beside ``max_steps``. ``None`` switches a limit off.

    Raises:
        InputError: a limit is no such number; the text names it and says what it takes.
    """

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

    def __post_init__(self) -> None:
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if value is None and name != "nudges":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                also = "" if name == "nudges" else ", or None for no limit"
                raise InputError(f"{name} must be a whole number from {least}{also}, not {value!r}")
        for name in ("deadline_s", "cost"):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and not (number and 0 < value <= _MOST):
                raise InputError(f"{name} must be a number above 0, or None for no limit, not {value!r}")
        if isinstance(self.cosmetic, str) or not all(isinstance(name, str) for name in self.cosmetic):
            raise InputError(f"cosmetic must be the names of arguments, not {self.cosmetic!r}")
        object.__setattr__(self, "cosmetic", tuple(self.cosmetic))

    @classmethod
    def guarded(cls, **changes: Any) -> Limits:
        """The guards that the app sets: the third equal call with an equal outcome, three failing steps in a row."""
        return cls(**{"repeated_calls": 3, "failing_steps": 3, **changes})

    def to_dict(self) -> dict[str, Any]:
        """JSON data, as it stands in a trace's ``config``."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "cosmetic": list(self.cosmetic)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Limits:
        """Read JSON data; unknown keys are left out."""
        known = {key: value for key, value in data.items() if key in cls.__slots__}
        return cls(**known)


_MOST = 1e9
"""Longer times than this many seconds, 30 years, cannot be waited for."""
_WHOLE = {"repeated_calls": 2, "failing_steps": 1, "total_tokens": 1, "calls_per_step": 1, "nudges": 0}
"""The limits that are whole numbers, and the least that makes sense: a call that came once is no repeat."""
