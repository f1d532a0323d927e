"""Faults that a script arms with a reply: a fork and a run that was killed meet them as the run itself did."""

import pytest

from agent.faults import FAULTS
from agent.fork import fork
from agent.loop import Loop
from agent.moments import moments
from agent.recovery import recover
from agent.scripts import parse_script, play
from agent.striking import struck

SCRIPT = """
tools: [add, noop]
max_steps: 3
policy: {{deny: [noop]}}
turns:
  - calls: [{{name: add, arguments: {{a: 1, b: 1}}}}]
    faults: [{kind}]
    usage: {{prompt_tokens: 100, completion_tokens: 12}}
  - rules: [{{when: {{result: missing}}, calls: [{{name: noop}}]}}]
    default: {{calls: [{{name: noop, id: n}}, {{name: add, arguments: {{a: 1, b: 2}}}}]}}
  - calls: [{{name: noop}}]
  - calls: [{{name: noop}}]
  - Done.
"""
BY_A_REPLY = [kind for kind, about in FAULTS.items() if about.group in ("tool", "message", "switch")]


@pytest.mark.parametrize("kind", [kind for kind in BY_A_REPLY if kind != "tool_times_out"])
def test_a_fault_of_a_script_strikes_in_a_fork_and_after_a_kill_as_in_the_run_itself(tmp_path, kind):
    script = parse_script(SCRIPT.format(kind=kind))
    loop = script.loop()
    play(loop, script)
    (strike,) = struck(loop.trace.interventions)
    said = [message.to_dict() for message in loop.messages]
    assert strike["kind"] == kind

    def goes_on_the_same(snapshot):
        again = Loop.resume(snapshot, model=script.make_model(), tools=script.make_tools())
        again.finish()
        assert ([message.to_dict() for message in again.messages], again.stop_reason) == (said, loop.stop_reason)
        assert len(struck(again.trace.interventions)) == 1

    for moment in moments(loop.trace)[:-1]:
        goes_on_the_same(fork(loop.trace, moment))
    again = script.loop(journal=tmp_path)
    again.start(script.opening)
    while again.phase is not None:
        (journal,) = tmp_path.glob("*.jsonl")
        goes_on_the_same(recover(journal))
        again.advance()
