"""Reading: one conversation of a file, with everything that is worked out from it, each thing once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import pandas as pd

from agent.trace import ToolRun, Trace, TraceStep
from traces.carry import Carried, carried
from traces.composition import Composition, composition
from traces.filtering import Filter, positions, tool_names
from traces.lint import Finding, lint
from traces.lookup import steps_by_reply
from traces.sizes import Size, message_sizes
from traces.summary import TraceSummary, summarise
from traces.tables import messages_frame, runs_frame, steps_frame
from traces.timeline import Timeline, timeline
from traces.timing import WallTime, wall_time

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_KEPT = 6
"""Tables and searches that are kept: those of the tabs that show the same trace, and the ones before."""


class Reading:
    """A trace that nobody changes any more, and what follows from it.

    A page is drawn again at every press, and several sessions may look at the same trace; each part is made when it is
    first asked for and shared from then on. What it gives must not be changed.

    Args:
        trace: the trace.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._lock = threading.Lock()
        self._rows: OrderedDict[Sequence[int], pd.DataFrame] = OrderedDict()
        self._found: OrderedDict[Filter, Sequence[int]] = OrderedDict()

    @cached_property
    def summary(self) -> TraceSummary:
        """The counts."""
        return summarise(self.trace)

    @cached_property
    def wall(self) -> WallTime:
        """Where the time went."""
        return wall_time(self.trace)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """One row a step; see :data:`traces.tables.STEP_COLUMNS`."""
        return steps_frame(self.trace)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a tool call; see :data:`traces.tables.RUN_COLUMNS`."""
        return runs_frame(self.trace)

    @cached_property
    def sizes(self) -> list[Size]:
        """The tokens of each message."""
        return message_sizes(self.trace)

    @cached_property
    def carried(self) -> list[Carried]:
        """What each message cost in later prompts."""
        return carried(self.trace, self.sizes)

    @cached_property
    def composition(self) -> Composition:
        """What filled the context of each step."""
        return composition(self.trace, self.sizes)

    @cached_property
    def timeline(self) -> Timeline:
        """What ran when."""
        return timeline(self.trace)

    @cached_property
    def findings(self) -> list[Finding]:
        """What the linter says."""
        return lint(self.trace)

    @property
    def linted(self) -> bool:
        """Whether the linter was asked already, so that :attr:`findings` costs nothing."""
        return "findings" in self.__dict__

    @cached_property
    def tools(self) -> list[str]:
        """The names of the tools that were asked for."""
        return tool_names(self.trace)

    @cached_property
    def messages_of_steps(self) -> dict[int, int | None]:
        """Number of a step -> position of the message to look at for it."""
        return {step.index: step.message for step in self.trace.steps}

    def step_at(self, message: int | None) -> int | None:
        """The position of the step that made the message at this position, where there is one."""
        step = None if message is None else self.trace.entries[message].step
        return None if not isinstance(step, int) else self._places.get(step)

    def step_made(self, message: int) -> TraceStep | None:
        """The step whose reply the message at this position is."""
        return self._replies.get(message)

    def answered(self, message: int) -> tuple[TraceStep | None, ToolRun | None]:
        """The step and the call that the result at this position answers; ``(None, None)`` for an orphan."""
        return self._answers.get(message, (None, None))

    @cached_property
    def _replies(self) -> dict[int, TraceStep]:
        return steps_by_reply(self.trace.steps)

    @cached_property
    def _answers(self) -> dict[int, tuple[TraceStep | None, ToolRun | None]]:
        return {run.message: (step, run) for step in self.trace.steps for run in step.tools if run.message is not None}

    @cached_property
    def _places(self) -> dict[int, int]:
        return {step.index: at for at, step in enumerate(self.trace.steps)}

    def rows(self, wanted: Sequence[int]) -> pd.DataFrame:
        """The table of the messages at these positions, as :func:`traces.tables.messages_frame` makes it."""
        key = wanted if isinstance(wanted, range) else tuple(wanted)
        with self._lock:
            if key not in self._rows:
                self._rows[key] = messages_frame(self.trace, wanted)
            return _kept(self._rows, key)

    def find(self, wanted: Filter, tagged: Mapping[int, Sequence[str]] | None = None) -> Sequence[int]:
        """The positions of the messages that pass a filter. Tags change meanwhile, so a search for one is not kept."""
        if wanted.tags:
            return positions(self.trace, wanted, tagged)
        with self._lock:
            if wanted not in self._found:
                self._found[wanted] = positions(self.trace, wanted)
            return _kept(self._found, wanted)


def _kept(cache: OrderedDict[_Key, _Value], key: _Key) -> _Value:
    """The value of a key, which is now the newest; the oldest ones go."""
    cache.move_to_end(key)
    while len(cache) > _KEPT:
        cache.popitem(last=False)
    return cache[key]
