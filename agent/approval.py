"""Approve: what is done about a call, and by whom. The model's own words in the history never change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any, Literal

from agent import jsontext
from agent.errors import InputError
from agent.messages import ToolCall
from agent.tool_result import ToolResult, plain

DecisionKind = Literal["run", "edited", "mocked", "skipped", "rejected", "denied"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done about one call instead of, or beside, simply running it.

    Arguments and result become JSON values at once, as :func:`~agent.tool_result.plain` says.

    Raises:
        InputError: the arguments are no object.
    """

    kind: DecisionKind
    by: str = "code"
    """``policy``, ``user`` or ``code``."""
    reason: str = ""
    arguments: dict[str, Any] | None = None
    """edited: the arguments that run instead of the model's."""
    result: Any = None
    """mocked: what is answered without running the tool."""
    stop: bool = False
    """rejected: also end the run."""
    digest: str = ""
    """What was decided about: a decision holds for this id, name and these arguments only (see :func:`digest`)."""

    def __post_init__(self) -> None:
        if self.arguments is not None:
            if not isinstance(self.arguments, Mapping):
                raise InputError(f"the changed arguments must be an object, not {self.arguments!r}")
            object.__setattr__(self, "arguments", plain(self.arguments))
        object.__setattr__(self, "result", plain(self.result))

    @classmethod
    def run(cls) -> Decision:
        """A person lets the call run as asked."""
        return cls("run", "user")

    @classmethod
    def edit(cls, arguments: dict[str, Any]) -> Decision:
        """A person lets it run with other arguments."""
        return cls("edited", "user", arguments=arguments)

    @classmethod
    def mock(cls, result: Any) -> Decision:
        """A person answers in the tool's place."""
        return cls("mocked", "user", result=result)

    @classmethod
    def skip(cls, reason: str = "") -> Decision:
        """A person leaves the call out."""
        return cls("skipped", "user", reason)

    @classmethod
    def reject(cls, reason: str = "", *, stop: bool = False) -> Decision:
        """A person refuses the call, and with ``stop`` the whole run."""
        return cls("rejected", "user", reason, stop=stop)

    def about(self, call: ToolCall) -> Decision:
        """The decision, bound to this call."""
        return replace(self, digest=digest(call))

    @property
    def runs(self) -> bool:
        """Whether the tool runs; otherwise :meth:`answer` stands in its place."""
        return self.kind in ("run", "edited")

    def holds_for(self, call: ToolCall) -> bool:
        """False when the call is not the one that was decided about."""
        return not self.digest or self.digest == digest(call)

    def answer(self) -> ToolResult | None:
        """The result of a call that does not run; None when it runs."""
        if self.runs:
            return None
        if self.kind == "mocked":
            return ToolResult.of(self.result)
        done = {"skipped": "skipped, the tool did not run", "rejected": f"rejected by the {self.by}"}
        text = ": ".join(part for part in (done.get(self.kind, ""), self.reason) if part)
        return ToolResult.failed(text, retryable=False)

    def notice(self) -> str:
        """What the tool message says before the result, so that the model knows that its call was not run as asked."""
        if self.kind == "edited":
            return f"[The user changed the arguments to {jsontext.dumps(self.arguments)} before the tool ran.]\n"
        return "[The user gave this result, the tool did not run.]\n" if self.kind == "mocked" else ""

    def words(self) -> dict[str, Any]:
        """What a person put in: the reason, the arguments or the result, as far as given."""
        given: dict[str, Any] = {"reason": self.reason, "arguments": self.arguments, "stop": self.stop}
        said = {name: value for name, value in given.items() if value not in (None, "", False)}
        return {**said, "result": self.result} if self.kind == "mocked" else said

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Decision:
        """Read what :meth:`to_dict` wrote."""
        return cls(**data)


RUN = Decision("run")
"""Nobody objects: the call runs as the model asked."""


def digest(call: ToolCall, *, with_id: bool = True) -> str:
    """A short fingerprint of id, name and arguments. Without the id: the same for the same call made again."""
    parts = (call.id if with_id else "", call.name, jsontext.canonical(call.arguments))
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
