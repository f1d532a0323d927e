"""Strict replay stops at the first request that is not the recorded one; lenient replay notes it and goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent import FakeModel, Loop, Message, ModelError, Tool, ToolCall
from agent.errors import InputError
from agent.ids import new_call_id
from agent.interventions import Intervention
from agent.models.base import CallControl, ModelReply
from agent.models.json_action import JsonActionModel
from agent.models.recording import RecordedAsk, RecordedRequest
from agent.models.replay import Difference, Recording, ReplayMismatch, ReplayModel, same_messages
from agent.toolbox import pick

SYSTEM = "You are a careful helper who counts."
TASK = "What is (2+3)*4?"


def turns(first=None, *, options=None):
    """A model that adds, multiplies and answers. Its ids are new ones each time."""
    add = ToolCall(new_call_id(), "add", first or {"a": 2, "b": 3})
    multiply = ToolCall(new_call_id(), "multiply", {"a": 5, "b": 4})
    return FakeModel([[add], [multiply], "It is 20."], options=options or {"temperature": 0})


def play(model, tools=None, *, system=SYSTEM, task=TASK, **options):
    loop = Loop(model, tools or pick(["add", "multiply"]), system=system, **options)
    loop.start(task)
    loop.finish()
    return loop


@pytest.fixture(scope="module")
def recording():
    return Recording.of(play(turns()).trace)


def test_a_replay_that_is_asked_the_same_is_the_same(recording):
    inner = turns({"b": 3, "a": 2})
    loop = play(ReplayModel(inner, recording), pick(["multiply", "add"]))
    assert (loop.trace.outcome.reason, loop.trace.outcome.final, inner.unused) == ("final", "It is 20.", 0)
    assert same_messages(recording, loop.messages) == []
    assert not any(step.warnings for step in loop.trace.steps)


DOUBLE = Tool(name="multiply", description="Multiplies twice.", parameters={"type": "object"}, func=lambda a, b: a * b)

CHANGES = {
    "one word of the system text": (
        {"system": "You are a careless helper who counts."},
        "step 1 is not the recorded one; nearest is that of step 1 (1 of 2 messages are the same): "
        "message 1 (system): recorded 'You are a careful helper who counts.', "
        "now 'You are a careless helper who counts.'",
    ),
    "the task": ({"task": "What is (2+3)*5?"}, "message 2 (user): recorded 'What is (2+3)*4?', now 'What is (2+3)*5?'"),
    "no system text": ({"system": ""}, "message 1 (system) of the recording is missing: 'You are a careful helper"),
    "a tool's schema": (
        {"tools": [*pick(["add"]), DOUBLE]},
        "(2 of 2 messages are the same): the tool multiply has another description or other parameters",
    ),
    "a tool less": ({"tools": pick(["add"])}, "the tool multiply is no longer on offer"),
    "a tool more": ({"tools": pick(["add", "multiply", "get_weather"])}, "the tool get_weather is new"),
    "the temperature": ({"model": turns(options={"temperature": 0.7})}, "temperature: recorded 0, now 0.7"),
    "no temperature": ({"model": turns(options={"seed": 7})}, "seed: recorded not given, now 7; temperature: recorded"),
    "the model": ({"model": turns(options={"model": "m", "temperature": 0})}, 'model: recorded "script", now "m"'),
    "arguments of a call": (
        {"model": turns({"a": 2, "b": 4})},
        "step 2 is not the recorded one; nearest is that of step 2 (2 of 4 messages are the same): message 3 "
        """(assistant): recorded 'calls add({"a":2,"b":3})', now 'calls add({"a":2,"b":4})'; """
        "message 4 (tool): recorded '5', now '6'",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_strict_replay_stops_and_says_what_differs(recording, change):
    options, words = CHANGES[change]
    options = dict(options)
    inner = options.pop("model", None) or turns()
    loop = play(ReplayModel(inner, recording), **options)
    outcome = loop.trace.outcome
    assert outcome.reason == "script_exhausted"
    assert outcome.detail.startswith("strict replay: the request of step ") and words in outcome.detail
    assert inner.unused == (2 if "step 2 is" in outcome.detail else 3), "nothing is called for that request"


@pytest.mark.parametrize("change", CHANGES)
def test_a_lenient_replay_notes_the_same_and_goes_on(recording, change):
    options, words = CHANGES[change]
    options = dict(options)
    inner = options.pop("model", None) or turns()
    loop = play(ReplayModel(inner, recording, mode="lenient"), **options)
    first = next(warning for step in loop.trace.steps for warning in step.warnings)
    assert first.startswith("lenient replay: the request of step ") and words in first
    assert loop.trace.outcome.final == "It is 20."


IGNORED = {
    "system": {"system": "It is 11:59."},
    "user": {"task": "Please."},
    "tools": {"tools": pick(["add", "multiply", "get_weather"])},
    "options": {"model": turns(options={"temperature": 1, "seed": 3})},
    "options.temperature": {"model": turns(options={"temperature": 1})},
}


@pytest.mark.parametrize("name", IGNORED)
def test_what_is_ignored_may_differ_and_nothing_else(recording, name):
    options = dict(IGNORED[name])
    inner = options.pop("model", None) or turns()
    assert play(ReplayModel(inner, recording, ignore=[name]), **options).trace.outcome.reason == "final"
    loop = play(ReplayModel(inner, recording, ignore=[name]), **{**options, "system": "", "task": "Hm."})
    assert loop.trace.outcome.reason == "script_exhausted"


def test_a_wrong_mode_and_a_wrong_name_are_refused(recording):
    with pytest.raises(InputError, match="strict or lenient, not 'loose'"):
        ReplayModel(turns(), recording, mode="loose")
    with pytest.raises(InputError, match="no 'option' to ignore; did you mean 'options'"):
        ReplayModel(turns(), recording, ignore=["option"])


def test_a_model_call_beyond_the_recording_is_a_miss(recording):
    loop = play(ReplayModel(turns(), recording))
    loop.start("And twice that?")
    loop.finish()
    words = "strict replay: model call 4 was not recorded; the recording holds 3 model calls"
    assert (loop.trace.outcome.reason, loop.trace.outcome.detail) == ("script_exhausted", words)


def test_equal_requests_get_their_replies_in_order_and_a_third_one_is_a_miss():
    pending = Recording.of(play(FakeModel(["pending"])).trace)
    twice = replace(pending, requests=pending.requests * 2)
    model = ReplayModel(FakeModel(["pending", "done", "never recorded"]), twice)
    messages = [Message("system", SYSTEM), Message("user", TASK)]
    schemas = pick(["add", "multiply"]).schemas()
    assert [model.complete(messages, schemas).message.text for _ in range(2)] == ["pending", "done"]
    with pytest.raises(ReplayMismatch, match="model call 3 was not recorded; the recording holds 2 model calls"):
        model.complete(messages, schemas)


# ---- the differences as data, and in words ----


def differences(recording, messages, number=2):
    """What a strict replay says about a request in place of that of the third step."""
    model = ReplayModel(turns(), recording)
    with pytest.raises(ReplayMismatch) as caught:
        model.complete(messages, pick(["add", "multiply"]).schemas(), control=CallControl(number))
    return caught.value


def request_of_last_step():
    return play(turns()).messages[:6]


def test_the_differences_are_data_too(recording):
    system, user, *rest = request_of_last_step()
    error = differences(recording, [system, replace(user, content="What is (2+3)*5?"), *rest])
    changed = Difference("changed", "message 2 (user)", "What is (2+3)*4?", "What is (2+3)*5?", message=2)
    assert (error.differences, error.step, error.nearest) == ((changed,), 3, 3)


def test_the_nearest_request_is_the_one_with_most_in_common(recording):
    system, user, *rest = request_of_last_step()
    assert differences(recording, [system, user]).nearest == 1
    assert differences(recording, [system, user, *rest[:2]]).nearest == 2
    assert differences(recording, [Message("user", "Quite another one.")]).nearest == 1
    error = differences(recording, [system, user, *rest], number=0)
    assert (error.step, error.nearest, error.differences) == (1, 3, ())
    assert str(error).endswith("nearest is that of step 3 (6 of 6 messages are the same)")


def test_of_many_equal_rounds_the_request_with_as_many_is_the_nearest():
    noop = FakeModel([[ToolCall("c1", "noop")]] * 4 + ["done"])
    trace = play(noop, pick(["noop"])).trace
    with pytest.raises(ReplayMismatch) as caught:
        ReplayModel(noop, Recording.of(trace)).complete(
            trace.messages[:4], pick(["noop"]).schemas(), control=CallControl(3)
        )
    assert (caught.value.step, caught.value.nearest, caught.value.differences) == (4, 2, ())


def test_missing_added_and_moved_messages_are_told_by_number_and_role(recording):
    system, user, add, five, multiply, twenty = request_of_last_step()
    error = differences(recording, [user, system, add, five, Message("user", "Hurry up!"), multiply, twenty])
    told = [str(difference) for difference in error.differences]
    assert told == ["message 2 (system) was message 1", "message 5 (user) is new: 'Hurry up!'"]
    (missing,) = differences(recording, [system, add, five, multiply, twenty]).differences
    assert str(missing) == "message 2 (user) of the recording is missing: 'What is (2+3)*4?'"


def test_what_the_words_do_not_show_is_said(recording):
    system, user, add, five, multiply, twenty = request_of_last_step()

    def told(*messages):
        (difference,) = differences(recording, messages).differences
        return str(difference)

    thinking = replace(add, extra={"reasoning": "Hm."})
    assert told(system, user, thinking, five, multiply, twenty).endswith("says the same after another reasoning")
    astray = replace(twenty, tool_call_id=five.tool_call_id)
    assert told(system, user, add, five, multiply, astray) == "message 6 (tool) says the same but answers another call"
    named = replace(user, name="Ada")
    assert told(system, named, add, five, multiply, twenty).endswith("under another name or with other parts")
    developer = replace(system, role="developer")
    assert told(developer, user, add, five, multiply, twenty) == "message 1 (developer) was recorded as system"


def long_text(at, word):
    words = [f"word{number}" for number in range(100)]
    words[at] = word
    return " ".join(words)


def test_of_a_long_text_the_words_round_the_first_difference_are_shown():
    known = Recording.of(play(turns(), task=long_text(15, "word15")).trace)
    loop = play(ReplayModel(turns(), known), task=long_text(15, "other"))
    (kept,) = [message.head for message in known.messages if message.role == "user"]
    assert len(kept) <= 200 and not known.messages[1].text_is_whole
    assert "recorded '…word12 word13 word14 word15 word16" in loop.trace.outcome.detail
    assert "now '…word12 word13 word14 other word16" in loop.trace.outcome.detail
    assert f"(the recording keeps the first {len(kept)} of 689 characters)" in loop.trace.outcome.detail


def test_a_difference_beyond_the_kept_words_is_seen_though_it_cannot_be_shown():
    known = Recording.of(play(turns(), task=long_text(80, "word80")).trace)
    loop = play(ReplayModel(turns(), known), task=long_text(80, "x"))
    kept = len(known.messages[1].head)
    words = f"begins as recorded; the recording keeps the first {kept} of 689 characters, now there are 684"
    assert loop.trace.outcome.detail.endswith(f"message 2 (user) {words}")


def test_a_difference_within_arguments_without_blanks_is_shown():
    known = Recording.of(play(turns({"a": 2, "b": 3, "note": "x" * 80})).trace)
    loop = play(ReplayModel(turns({"a": 2, "b": 4, "note": "x" * 80}), known))
    assert 'recorded \'calls add({"a":2,"b":3,' in loop.trace.outcome.detail
    assert 'now \'calls add({"a":2,"b":4,' in loop.trace.outcome.detail


def test_a_difference_late_in_a_long_word_is_shown():
    path = "/".join(["folder"] * 20)
    known = Recording.of(play(turns(), task=f"Read {path}/one").trace)
    detail = play(ReplayModel(turns(), known), task=f"Read {path}/two").trace.outcome.detail
    assert f"recorded 'Read {path}/one', now 'Read {path}/two'" in detail


def test_only_the_first_few_differences_are_put_into_the_sentence(recording):
    error = differences(recording, [Message("user", f"Remark {number}") for number in range(9)])
    assert len(error.differences) == 14
    assert str(error).endswith("message 3 (user) is new: 'Remark 2'; and 10 more")


# ---- what a request is ----


def test_requests_are_compared_as_interventions_left_them():
    blank = {"interventions": [Intervention("blank_results")]}
    known = Recording.of(play(turns(), **blank).trace)
    assert play(ReplayModel(turns(), known), **blank).trace.outcome.reason == "final"
    detail = play(ReplayModel(turns(), known)).trace.outcome.detail
    assert "step 2 is not the recorded one" in detail and "message 4 (tool): recorded '', now '5'" in detail


def test_under_an_adapter_the_request_of_the_loop_is_compared():
    def model():
        said = ['{"action": "tool", "tool": "add", "params": {"a": 2, "b": 3}}', '{"action": "final", "response": "5"}']
        return FakeModel(said)

    known = Recording.of(play(JsonActionModel(model())).trace)
    assert play(JsonActionModel(ReplayModel(model(), known))).trace.outcome.reason == "final"
    detail = play(JsonActionModel(ReplayModel(model(), known)), system="Hm.").trace.outcome.detail
    assert "message 1 (system): recorded 'You are a careful" in detail and "now 'Hm.'" in detail


def test_what_is_not_known_is_not_compared(recording):
    vague = replace(recording, requests=(None, *recording.requests[1:]), asked=(RecordedAsk(),))
    model = ReplayModel(turns(options={"temperature": 2}), vague)
    assert model.complete([Message("user", "anything")], [], control=CallControl(0)).message.tool_calls
    with pytest.raises(ReplayMismatch):
        model.complete([Message("user", "anything")], [], control=CallControl(1))


def test_of_a_recording_without_the_name_of_the_model_any_model_may_answer(recording):
    (ask,) = recording.asked
    nameless = replace(recording, asked=(replace(ask, options={"temperature": 0}),))
    assert play(ReplayModel(turns(), nameless)).trace.outcome.reason == "final"


def test_options_that_go_with_tools_are_compared_too():
    class Choosing(FakeModel):
        def __init__(self, choice):
            super().__init__(["done"])
            self.asked_with = {**self.asked_with, "tool_options": {"tool_choice": choice}}

    known = Recording.of(play(Choosing("auto")).trace)
    assert play(ReplayModel(Choosing("auto"), known)).trace.outcome.reason == "final"
    detail = play(ReplayModel(Choosing("none"), known)).trace.outcome.detail
    assert detail.endswith('tool_choice: recorded "auto", now "none"')


def test_a_recorded_failure_is_told_with_what_differed(recording):
    fails = FakeModel([ModelError("overloaded", status=503)], options={"temperature": 0})
    loop = play(ReplayModel(fails, recording, mode="lenient"), task="Hm.")
    assert loop.trace.outcome.reason == "model_error"
    assert loop.trace.outcome.detail.startswith("overloaded (lenient replay: the request of step 1")
    assert str(fails.turns[0].reply) == "overloaded", "the script still says it as it stands there"


def test_warnings_of_the_reply_itself_stay(recording):
    odd = FakeModel([ModelReply(Message("assistant", "5"), warnings=("odd",))], options={"temperature": 0})
    (step,) = play(ReplayModel(odd, recording, mode="lenient"), task="Hm.").trace.steps
    assert step.warnings[0] == "odd" and step.warnings[1].startswith("lenient replay")


def test_to_the_loop_it_is_the_model_that_answers(recording):
    inner = turns()
    model = ReplayModel(inner, recording)
    assert (model.provider, model.name, model.asked_with) == (inner.provider, inner.name, inner.asked_with)
    messages, schemas = [Message("user", "Hm.")], pick(["add"]).schemas()
    assert model.body(messages, schemas) == inner.body(messages, schemas)


# ---- after the replay ----


def test_where_the_message_list_is_another_one_is_told_exactly(recording):
    messages = play(turns()).messages
    assert same_messages(recording, messages) == []
    parts = [{"type": "text", "text": "5"}]
    assert same_messages(recording, [*messages[:3], replace(messages[3], content=parts), *messages[4:]]) == []
    (last,) = same_messages(recording, [*messages[:-1], Message("assistant", "It is 21.")])
    assert (last.kind, last.message, last.recorded, last.now) == ("changed", 7, "It is 20.", "It is 21.")
    (missing,) = same_messages(recording, messages[:-1])
    assert (missing.kind, missing.message) == ("missing", 7)


def test_what_only_requests_held_is_no_part_of_the_message_list():
    loop = play(turns(), interventions=[Intervention("blank_results")])
    known = Recording.of(loop.trace)
    assert len(known.messages) > known.length == 7
    assert same_messages(known, play(turns()).messages) == []
    assert known.requests[2] == RecordedRequest(3, ((0, 3), (7, 8), (4, 5), (7, 8)))
