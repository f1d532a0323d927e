"""Row: what is kept of one run of an experiment. The analysis looks at rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import msgspec

Status = Literal["ended", "error", "stopped"]
DECIDED = "decided"
"""The reason of a decision rerun that ended as it should: after the one reply."""


def key_of(subject: str, model: str, condition: str, repeat: int) -> str:
    """What tells one run of an experiment from all others. A slash in a name is written as RFC 6901 has it: no two
    runs have the same key, whatever their parts are called.
    """
    names = (name.replace("~", "~0").replace("/", "~1") for name in (subject, model, condition))
    return "/".join((*names, str(repeat)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run, as its ledger line and its line of ``runs.csv`` have it. ``None``: not known, or it does not apply."""

    subject: str
    model: str
    condition: str
    repeat: int
    seed: int
    trace_id: str
    status: Status
    """``ended``: by the model or by a limit of its own. ``error``: the model call or the run failed; counts among the
    started runs. ``stopped``: by a person or by the budget of the experiment; counted apart."""
    reason: str | None = None
    """The stop reason of the run; of a decision rerun :data:`DECIDED`."""
    detail: str = ""
    """One sentence about it: what the provider said."""
    verified: bool | None = None
    """Whether all evidence holds; None: there was none to check."""
    answer: str = ""
    """The final answer; of a decision rerun the text of the reply. Cut to 2,000 characters."""
    decision: str | None = None
    """Of a decision rerun: the calls that were asked for, canonical, or an empty text for none."""
    same_decision: bool | None = None
    """Of a decision rerun: whether it is the recorded one."""
    agrees: bool | None = None
    """Whether the answer is the recorded one; None where nothing is recorded."""
    invented: bool | None = None
    steps: int = 0
    calls: int = 0
    repeated_calls: int = 0
    tool_errors: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    tokens: int | None = None
    estimated: bool = False
    """Whether the tokens are an estimate of ours."""
    cost: float | None = None
    """US dollars."""
    latency_ms: float | None = None
    """Of its model calls; None for scripted models."""
    strip: str = ""
    """The message list as one letter a message: s system, u user, a assistant, c assistant with calls, t tool result,
    e tool result that is an error, x tool result that the last request did not hold as it stands."""
    started: str | None = None
    """Wall-clock time, ISO 8601."""

    @property
    def key(self) -> str:
        """What a ledger knows it by; as :attr:`traces.experiments.cells.Cell.key`."""
        return key_of(self.subject, self.model, self.condition, self.repeat)

    @property
    def counted(self) -> bool:
        """Whether it is one of the started runs that rates are over."""
        return self.status != "stopped"

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {name: getattr(self, name) for name in COLUMNS}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """Read what :meth:`to_dict` wrote; unknown keys are left out.

        Raises:
            ValueError: something is missing, or a value is of another type; the text says which.
        """
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from error


COLUMNS = tuple(each.name for each in fields(Row))
"""The fields, in the order of the columns of ``runs.csv``."""
