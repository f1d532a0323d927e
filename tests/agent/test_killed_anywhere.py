"""A process that is killed between any two phases leaves the run that would have been there without it.

A person presses what can be pressed meanwhile: decisions of every kind, faults, other settings, further turns, forks
with edits. One run is played without a kill and once more with kills; both are compared as a whole.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent import CapabilityPolicy, Decision, FakeModel, Loop, Phase
from agent.faults import FAULTS
from agent.fork import Changes, fork
from agent.moments import moments
from agent.protocol import violations
from agent.recovery import recover
from agent.request import MessageView, apply_edits
from tests.agent import walks
from tests.agent.walks import fault, left, options, tools, turns

PRESSES = (*[""] * 8, "arm", "arm", "remember", "extend", "policy", "decide", "decide", "fork")
POLICIES = (None, CapabilityPolicy(ask=["risky"], deny=["banned"]), CapabilityPolicy(deny=["act"]))
DECISIONS = (*walks.DECISIONS, Decision.mock(""), Decision.reject("stop", stop=True))
MOST_FORKS = 2


@dataclass(frozen=True)
class Tick:
    """What happens before one phase."""

    press: str
    pick: int
    """Which of what can be pressed."""
    decision: int
    """Which decision is made about the first call that waits then; the others follow."""
    kill: bool


TICKS = st.builds(
    Tick,
    st.sampled_from(PRESSES),
    st.integers(0, 999),
    st.integers(0, len(DECISIONS) - 1),
    st.sampled_from([True, True, False]),
)
SCRIPTS = st.lists(turns(), min_size=3, max_size=3).map(lambda parts: [turn for part in parts for turn in part])


class Play:
    """One run, or the fork that took its place."""

    def __init__(self, script: list[Any], options: dict[str, Any], folder: Path) -> None:
        self.script, self.folder, self.forks = script, folder, 0
        self.loop = Loop(FakeModel(script), tools(), journal=self.home, parallel=False, **options)
        self.loop.start("go 1")

    @property
    def home(self) -> Path:
        """Where the run of now is written."""
        return self.folder / str(self.forks)

    def tick(self, tick: Tick, *, kills: bool) -> None:
        """A press, perhaps a kill, the decisions that are waited for, and one phase."""
        self.press(tick.press, tick.pick, DECISIONS[tick.decision])
        journals = list(self.home.glob("*.jsonl"))
        if kills and tick.kill and journals:
            self.go_on_from(recover(journals[0]))
        loop = self.loop
        for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
            if pending.decision is None:
                loop.decide(position, DECISIONS[(tick.decision + position) % len(DECISIONS)])
        loop.advance()
        request = loop.run.request
        if loop.phase is Phase.CALL and request and not any(i.breaks_protocol for i in loop.settings.interventions):
            assert violations(apply_edits(MessageView(loop.messages, request.upto), request.edits)) == []

    def go_on_from(self, snapshot: dict[str, Any]) -> None:
        """Another process takes the run over."""
        self.loop = Loop.resume(snapshot, model=FakeModel(self.script), tools=tools(), journal=self.home)

    def press(self, what: str, pick: int, decision: Decision) -> None:
        """What a person does between two phases."""
        loop = self.loop
        if what == "arm":
            loop.arm(fault([*FAULTS][pick % len(FAULTS)]))
        elif what == "remember":
            loop.remember("kept", [pick])
        elif what == "extend":
            loop.extend(max_steps=1 + pick % 9)
        elif what == "policy":
            loop.extend(policy=POLICIES[pick % len(POLICIES)])
        elif what == "decide" and loop.phase is Phase.APPROVE:
            loop.decide(pick % len(loop.run.pending), decision)
        elif what == "" and loop.phase is None:
            loop.start(f"go {len(loop.messages)}")
        elif what == "fork" and self.forks < MOST_FORKS:
            path = moments(loop.trace, loop.phase)
            moment = path[pick % len(path)]
            position = pick % moment.messages
            system = loop.messages[position].role == "system"
            changes = Changes(system=["", "New."][pick % 2]) if system else Changes({position: f"edited {pick}"})
            snapshot = fork(loop.run, moment, changes if pick % 3 else Changes())
            self.forks += 1
            self.go_on_from(snapshot)


def played(script: list[Any], options: dict[str, Any], ticks: list[Tick], *, kills: bool) -> Any:
    """What is left after all of this, without its times."""
    with tempfile.TemporaryDirectory() as folder:
        play = Play(script, options, Path(folder))
        for tick in ticks:
            play.tick(tick, kills=kills)
        return left(play.loop)


def differences(one: Any, other: Any, where: str = "run") -> list[str]:
    """Where two values of JSON data differ, in words."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return [text for key in keys for text in differences(one.get(key), other.get(key), f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [text for at, (left, right) in pairs for text in differences(left, right, f"{where}[{at}]")]
    return [] if one == other else [f"{where}: {one!r} instead of {other!r}"]


@settings(max_examples=30, deadline=None)
@given(SCRIPTS, options(), st.lists(TICKS, min_size=40, max_size=40))
def test_a_run_that_was_killed_is_the_run_that_was_not(
    script: list[Any], opts: dict[str, Any], ticks: list[Tick]
) -> None:
    whole = played(script, opts, ticks, kills=False)
    assert differences(played(script, opts, ticks, kills=True), whole) == []
