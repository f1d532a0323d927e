"""Permission: the model may ask for any tool that it sees; code decides, right before the tool would run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["run", "deny", "ask"]


@dataclass(frozen=True, slots=True)
class CapabilityPolicy:
    """Which tools may run. It is asked with the *registered* name of a call, never with the model's spelling."""

    allow: Collection[str] | None = None
    """Names that may run; None allows all. With a set, everything else is denied."""
    deny: Collection[str] = ()
    """Names that never run; stronger than ``allow``."""
    ask: Collection[str] = ()
    """Names for which a person is asked each time."""

    def __post_init__(self) -> None:
        for name in ("allow", "deny", "ask"):
            if (names := getattr(self, name)) is not None:
                object.__setattr__(self, name, frozenset(names))

    def check(self, name: str) -> tuple[Verdict, str]:
        """The verdict on one registered name, and the reason in words that the model can use."""
        if name in self.deny:
            return "deny", f"the policy denies the tool {name!r}"
        if name in self.ask:
            return "ask", f"the policy asks a person before {name!r} runs"
        if self.allow is not None and name not in self.allow:
            return "deny", f"the policy allows {', '.join(sorted(self.allow)) or 'no tool'}, not {name!r}"
        return "run", ""

    def to_dict(self) -> dict[str, Any]:
        """JSON data, as it stands in a trace's ``config``."""
        allow = None if self.allow is None else sorted(self.allow)
        return {"allow": allow, "deny": sorted(self.deny), "ask": sorted(self.ask)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CapabilityPolicy:
        """Read what :meth:`to_dict` wrote."""
        return cls(data.get("allow"), data.get("deny") or (), data.get("ask") or ())
