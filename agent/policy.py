"""Permission: the model may ask for any tool that it sees; code decides, right before the tool would run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

Verdict = Literal["run", "deny", "ask"]


class CapabilityPolicy:
    """Which tools may run. It is asked with the *registered* name of a call, never with the model's spelling.

    Args:
        allow: names that may run; None allows all. With a set, everything else is denied.
        deny: names that never run; stronger than ``allow``.
        ask: names for which a person is asked each time.
    """

    def __init__(
        self, allow: Collection[str] | None = None, deny: Collection[str] = (), ask: Collection[str] = ()
    ) -> None:
        self.allow = None if allow is None else frozenset(allow)
        self.deny = frozenset(deny)
        self.ask = frozenset(ask)

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
