"""Any fault in any run at any phase: requests stay valid, the run ends with a reason, and a crash changes nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import CapabilityPolicy, Decision, Limits, Loop, Phase, StopReason
from agent.faults import FAULTS
from agent.protocol import violations
from agent.recovery import recover
from agent.request import MessageView, apply_edits
from agent.scripts import load_script, scenarios
from agent.striking import struck
from tests.agent.walks import fault, left

SCENARIOS = sorted(info.name for info in scenarios() if info.name != "broken_tool")
"""Those that arm no faults themselves."""
NATIVE = [name for name in SCENARIOS if load_script(name).protocol == "native"]
"""Those whose calls have the ids of the script; the other protocol makes new ones each time."""
EVERYWHERE = set(range(100))


def begun(scenario: str, folder: Path, **options: Any) -> Loop:
    script = load_script(scenario)
    loop = script.loop(pace=0, journal=folder, **options)
    loop.start(script.task)
    return loop


def killed(loop: Loop, scenario: str, folder: Path) -> Loop:
    """The run as it goes on in another process, after this one was killed between two phases."""
    (journal,) = folder.glob("*.jsonl")
    script = load_script(scenario)
    return Loop.resume(
        recover(journal), model=script.make_model(0), tools=loop.tools, evidence=script.evidence, journal=folder
    )


def step(loop: Loop) -> None:
    """One phase, and what must hold after any phase of any run."""
    loop.advance()
    for position, pending in enumerate(loop.run.pending if loop.waiting else ()):
        if pending.decision is None:
            loop.decide(position, Decision.run())
    request = loop.run.request
    if loop.phase is Phase.CALL and request and not any(i.breaks_protocol for i in loop.settings.interventions):
        sent = apply_edits(MessageView(loop.messages, request.upto), request.edits)
        assert violations(sent) == []


def play(scenario: str, armed: Mapping[int, list[str]], kills: set[int], **options: Any) -> Loop:
    """A run in which faults are armed before some phases and the process is killed before others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loop, phases = begun(scenario, folder, **options), 0
        while loop.phase is not None:
            for kind in armed.get(phases, ()):
                loop.arm(fault(kind))
            if phases in kills:
                loop = killed(loop, scenario, folder)
            step(loop)
            phases += 1
            assert phases < 700, "the hard cap ends every run"
    assert loop.stop_reason in set(StopReason)
    return loop


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("scenario", ["parallel", "denied"])
def test_armed_before_any_phase_a_fault_does_the_same_whenever_the_process_is_killed(scenario: str, kind: str) -> None:
    phases = 0
    while True:
        armed = {phases: [kind]}
        whole = play(scenario, armed, set())
        everywhere = play(scenario, armed, EVERYWHERE)
        assert left(everywhere) == left(whole)
        if phases > 0 and kind not in [strike["kind"] for strike in struck(whole.trace.interventions)]:
            break  # from here on it comes too late
        phases += 1
    assert phases > 0


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_in_every_scenario_a_fault_ends_in_a_reason_or_in_an_answer(scenario: str, kind: str) -> None:
    loop = play(scenario, {0: [kind]}, set())
    strikes = [strike["kind"] for strike in struck(loop.trace.interventions)]
    assert strikes + [armed.kind for armed in loop.run.faults] == [kind], "it struck once, or is still armed"
    assert bool(loop.trace.outcome.final) == (loop.stop_reason == "final")


@settings(max_examples=40, deadline=None)
@given(
    scenario=st.sampled_from(NATIVE),
    armed=st.dictionaries(
        st.integers(0, 20), st.lists(st.sampled_from(list(FAULTS)), max_size=3, unique=True), max_size=4
    ),
    kills=st.sets(st.integers(0, 40), max_size=8),
    limits=st.sampled_from([Limits(), Limits.guarded(), Limits(calls_per_step=1, nudges=1, total_tokens=2000)]),
    ask=st.booleans(),
)
def test_any_faults_at_any_time_and_any_crashes_leave_the_same_run(
    scenario: str, armed: dict[int, list[str]], kills: set[int], limits: Limits, ask: bool
) -> None:
    options: dict[str, Any] = {"limits": limits, "max_steps": 6}
    if ask:
        options["policy"] = CapabilityPolicy(ask=["cancel_order", "get_weather", "add"], deny=["multiply"])
    assert left(play(scenario, armed, kills, **options)) == left(play(scenario, armed, set(), **options))
