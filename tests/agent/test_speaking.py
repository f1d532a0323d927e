"""What is said from outside while a run goes on: between steps, and after the end of a turn."""

import json
from itertools import islice, pairwise

import pytest

from agent import FakeModel, Limits, Loop, Message, ModelReply, ToolCall, Usage
from agent.moments import moments
from agent.recovery import recover
from agent.rewind import rewind
from agent.runner import Runner
from agent.stops import StopReason
from agent.toolbox import pick


class Reminder:
    """Says something before the second model call, and twice begins another turn: with two messages, and with none."""

    def meanwhile(self, model_call):
        return [Message("system", "Be brief."), Message("user", "Quickly!")] if model_call == 1 else ()

    def next(self, turn, model_call, reason):
        assert reason is StopReason.FINAL
        return {1: [Message("user", "And now?"), Message("user", "Well?")], 2: []}.get(turn)


ADD = [ToolCall("c1", "add", {"a": 2, "b": 3})]


def make(tmp_path=None, **options):
    model = FakeModel([ADD, "It is 5.", "Still 5.", "I said so."])
    return Loop(model, pick(["add"]), journal=tmp_path, user=Reminder(), **options)


def play(loop):
    while loop.phase is not None or loop.more:
        loop.advance()
        yield loop


ROLES = ["user", "assistant", "tool", "system", "user", "assistant", "user", "user", "assistant", "assistant"]


def test_everything_said_stands_in_the_list_in_its_order():
    loop = make()
    loop.start("What is 2+3?")
    list(play(loop))
    assert [message.role for message in loop.messages] == ROLES
    makers = [(entry.maker, entry.step) for entry in loop.trace.entries]
    assert makers[3:5] == [("code", 1), ("user", 1)]
    assert makers[6:8] == [("user", None), ("user", None)]
    assert (loop.trace.outcome.final, loop.more) == ("I said so.", False)


def test_a_turn_begins_with_one_move_and_tells_so():
    loop = make()
    loop.start("What is 2+3?")
    loop.finish()
    assert (loop.phase, loop.more, loop.trace.outcome.final) == (None, True, "It is 5.")
    (event,) = loop.advance()
    assert (event.type, event.payload) == ("turn.started", {"text": "And now?"})
    assert loop.trace.outcome.reason is None


def test_nothing_more_is_said_where_a_budget_leaves_no_room_for_an_answer():
    text = ModelReply(Message("assistant", "It is 5."), usage=Usage(40, 10))
    loop = Loop(FakeModel([text, "Still 5."]), limits=Limits(total_tokens=20), user=Reminder())
    loop.start("What is 2+3?")
    list(islice(play(loop), 20))
    assert [message.text for message in loop.messages] == ["What is 2+3?", "It is 5.", "And now?", "Well?"]
    assert (loop.stop_reason, loop.more) == (StopReason.TOKEN_BUDGET, False)


def test_every_moment_can_be_looked_at_again():
    loop = make()
    loop.start("What is 2+3?")
    live = [(loop.phase, len(loop.messages))]
    live += [(loop.phase, len(loop.messages)) for loop in play(loop)]
    found = moments(loop.trace)
    assert [moment.phase for moment in found] == [phase for phase, _ in live]
    for moment, (phase, count) in zip(found, live, strict=True):
        again = rewind(loop.trace, moment)
        assert (again.phase, again.counters.nudges) == (phase, 0)
        assert len(again.trace.messages) == moment.messages >= count
    assert all(before.messages <= after.messages for before, after in pairwise(found))


def test_moments_of_a_run_that_goes_on_hold_what_was_just_said():
    loop = make()
    loop.start("What is 2+3?")
    while len(loop.messages) < 5:
        loop.advance()
    assert moments(loop.trace, loop.phase)[-1].messages == 5


@pytest.mark.parametrize("after", range(1, 18))
def test_a_run_that_was_killed_hears_nothing_twice(tmp_path, after):
    loop = make(tmp_path)
    loop.start("What is 2+3?")
    for _, _ in zip(range(after), play(loop), strict=False):
        pass
    journal = next(tmp_path.glob("*.jsonl"), None)
    if journal is None:
        return  # over, or between two turns: the trace file is there
    again = Loop.resume(recover(journal), model=loop._asker.model, tools=pick(["add"]), user=Reminder())
    list(play(again))
    assert [message.role for message in again.messages] == ROLES


def test_a_snapshot_between_two_turns_goes_on():
    loop = make()
    loop.start("What is 2+3?")
    loop.finish()
    snapshot = json.loads(json.dumps(loop.snapshot()))
    again = Loop.resume(snapshot, model=loop._asker.model, tools=pick(["add"]), user=Reminder())
    assert again.more
    list(play(again))
    assert [message.role for message in again.messages] == ROLES


def test_a_stop_that_comes_after_the_end_of_a_turn_holds_for_the_next():
    loop = make()
    loop.on_event = lambda event: loop.stop() if event.type == "turn.completed" else None
    loop.start("What is 2+3?")
    list(play(loop))
    assert (loop.stop_reason, loop.more) == (StopReason.FINAL, False)
    assert [message.role for message in loop.messages] == ROLES[:6]
    loop.extend()
    assert (loop.phase is not None, loop.stopping) == (True, False)


def test_a_runner_that_is_stopped_between_two_turns_stays_there():
    loop = make()
    loop.start("What is 2+3?")
    loop.finish()
    runner = Runner(loop)
    runner.stop()
    assert runner.wait(5)
    assert len(loop.messages) == 6
