"""Rules of a fake model: every condition, the order of rules, chance, and that a run can be said again exactly."""

import json
import threading
from dataclasses import replace

import pytest

from agent.loop import Loop
from agent.messages import Message, ToolCall
from agent.models.base import CallControl, ModelReply
from agent.models.fake import FakeChoice, FakeModel, FakeTurn
from agent.models.rules import Condition, Count, Facts
from agent.recovery import recover
from agent.scripts import parse_script, play

SYSTEM, USER = Message("system", "Be brief."), Message("user", "What does it say?")
ERROR = '{"error": "there is no file \'b\'", "retryable": true}'


def asked(*calls):
    return Message("assistant", None, tuple(ToolCall(call_id, name, {}) for call_id, name in calls))


def result(call_id, text):
    return Message("tool", text, tool_call_id=call_id)


ONE = [SYSTEM, USER, asked(("c1", "read")), result("c1", "BANANA")]
TWO = [*ONE, asked(("c1", "read"), ("c2", "list")), result("c1", ERROR), result("c2", " \n")]
REQUESTS = {
    "nothing asked": [SYSTEM, USER],
    "one result": ONE,
    "missing": ONE[:-1],
    "blank": [*ONE[:-1], result("c1", "")],
    "error": [*ONE[:-1], result("c1", ERROR)],
    "two rounds": TWO,
    "half missing": TWO[:-1],
    "ids that repeat": [*ONE, asked(("c1", "read"))],
}
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("read", "list")]
HOLDS = [
    ({"result": "present"}, {"one result", "error"}),
    ({"result": "missing"}, {"missing", "half missing", "ids that repeat"}),
    ({"result": "blank"}, {"blank", "two rounds"}),
    ({"result": "error"}, {"error", "two rounds", "half missing"}),
    ({"result": "present", "tool": "read"}, {"one result", "error", "two rounds", "half missing"}),
    ({"result": "blank", "tool": "list"}, {"two rounds"}),
    ({"result": "missing", "tool": "list"}, {"half missing"}),
    ({"result": "present", "tool": "gone"}, set()),
    ({"contains": "BANANA"}, {"one result"}),
    ({"contains": "no file", "tool": "read"}, {"error", "two rounds", "half missing"}),
    ({"contains": "no file", "tool": "list"}, set()),
    ({"calls": Count(0, 0)}, {"nothing asked"}),
    ({"calls": Count(1, 1)}, {"one result", "missing", "blank", "error"}),
    ({"calls": Count(at_least=2)}, {"two rounds", "half missing", "ids that repeat"}),
    ({"calls": Count(at_least=1), "tool": "list"}, {"two rounds", "half missing"}),
    ({"calls": Count(at_most=1), "tool": "read"}, set(REQUESTS) - {"two rounds", "half missing", "ids that repeat"}),
    ({"turn": Count(3, 3)}, set(REQUESTS)),
    ({"turn": Count(at_least=4)}, set()),
    ({"turn": Count(at_most=2)}, set()),
    ({"offered": "read"}, set(REQUESTS)),
    ({"offered": "gone"}, set()),
    ({"hidden": "gone"}, set(REQUESTS)),
    ({"hidden": "read"}, set()),
    ({"last_error": "no file"}, {"error", "two rounds", "half missing"}),
    ({"last_error": ""}, {"error", "two rounds", "half missing"}),
    ({"last_error": "no folder"}, set()),
    ({"prompt_over": 0}, set(REQUESTS)),
    ({"prompt_over": 10_000}, set()),
    ({"request_contains": "BANANA"}, {"one result", "two rounds", "half missing", "ids that repeat"}),
    ({"request_contains": "What does"}, set(REQUESTS)),
    ({"system_contains": "brief"}, set(REQUESTS)),
    ({"system_contains": "What does"}, set()),
    ({"negated": Condition(result="present")}, set(REQUESTS) - {"one result", "error"}),
    ({"either": (Condition(result="missing"), Condition(contains="BANANA"))},
     {"one result", "missing", "half missing", "ids that repeat"}),
    ({"result": "error", "calls": Count(1, 1)}, {"error"}),
    ({"chance": 1}, set(REQUESTS)),
    ({"chance": 0}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "requests"), HOLDS)
def test_a_condition_holds_of_the_requests_that_it_means(condition, requests):
    condition = Condition(**condition)
    assert {name for name, messages in REQUESTS.items() if condition.holds(Facts(messages, TOOLS, 2, 0))} == requests


def test_a_developer_message_is_system_text_too():
    messages = [Message("developer", "Be brief."), USER]
    assert Condition(system_contains="brief").holds(Facts(messages, [], 0, 0))


def test_the_prompt_counts_the_tools_on_offer():
    long = [{"type": "function", "function": {"name": "read", "description": "words " * 500}}]
    assert not Condition(prompt_over=300).holds(Facts(ONE, TOOLS, 0, 0))
    assert Condition(prompt_over=300).holds(Facts(ONE, long, 0, 0))


def says(text):
    return FakeTurn(ModelReply(Message("assistant", text)))


def test_the_first_rule_that_holds_speaks_and_the_default_where_none_does():
    rules = (
        (Condition(contains="BANANA"), says("first")),
        (Condition(result="present"), says("second")),
    )
    model = FakeModel(FakeChoice(rules, says("default")))
    answers = [model.complete(REQUESTS[name], TOOLS).message.text for name in ("one result", "error", "missing")]
    assert answers == ["first", "second", "default"]


# ---- chance ----


def drawn(chance, *, seed=0, place="0", count=2000):
    condition = Condition(chance=chance)
    return [condition.holds(Facts([], [], number, seed), place) for number in range(count)]


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_a_chance_holds_about_as_often_as_was_asked(chance, seed):
    share = sum(drawn(chance, seed=seed)) / 2000
    assert abs(share - chance) < 4 * (chance * (1 - chance) / 2000) ** 0.5, "four standard deviations"


@pytest.mark.parametrize("other", [{"seed": 1}, {"place": "1"}, {"place": "2.0"}])
def test_seeds_and_places_draw_apart(other):
    pairs = list(zip(drawn(0.5), drawn(0.5, **other), strict=True))
    same = sum(one == two for one, two in pairs) / len(pairs)
    assert abs(same - 0.5) < 0.05


def test_parts_of_one_condition_draw_apart():
    half = Condition(chance=0.5)
    both = Condition(either=(half, half))
    share = sum(both.holds(Facts([], [], number, 0), "0") for number in range(2000)) / 2000
    assert abs(share - 0.75) < 0.05
    neither = Condition(chance=0.5, negated=half)
    share = sum(neither.holds(Facts([], [], number, 0), "0") for number in range(2000)) / 2000
    assert abs(share - 0.25) < 0.05


# ---- the same run again ----

CHANCY = """\
seed: 7
max_steps: 12
tools:
  - add
  - name: slow
    results: [{result: one, took_ms: 6}, {result: two, took_ms: 1}, {error: three, took_ms: 4}]
  - name: quick
    results: [{result: 1}, {result: 2}]
rules:
  - when: {chance: 0.2, calls: {at_least: 9}}
    text: That is enough.
  - when: {chance: 0.5}
    calls: [{name: slow}, {name: quick}, {name: slow}, {name: add, arguments: {a: 1, b: 2}}]
    usage: {prompt_tokens: 9}
  - when: {any: [{chance: 0.5}, {result: error}]}
    text: I look again.
    calls: [{name: quick}, {name: gone}]
default:
  calls: [{name: add, arguments: {a: 2, b: 2}, result: '5'}, {name: slow}]
"""
_TIMES = ("trace_id", "created", "at", "started", "finished", "latency_ms", "first_token_ms", "active_s")


def told(trace):
    """A trace as bytes, but for its ids and times."""

    def kept(value):
        if isinstance(value, dict):
            return {key: kept(item) for key, item in value.items() if key not in _TIMES}
        return [kept(item) for item in value] if isinstance(value, list) else value

    return json.dumps(kept(trace.to_dict()), ensure_ascii=False)


def played(**options):
    script = parse_script(CHANCY, "chancy.yaml")
    loop = script.loop(**options)
    play(loop, script)
    return loop.trace


@pytest.fixture(scope="module")
def once():
    trace = played()
    assert len(trace.steps) >= 4
    assert len({tuple(tool.name for tool in step.tools) for step in trace.steps}) >= 3, "several rules spoke"
    return told(trace)


def test_twenty_runs_of_one_script_and_seed_are_the_same(once):
    assert [told(played()) == once for _ in range(20)] == [True] * 20


def test_runs_in_threads_are_the_same(once):
    found = []
    paces = (0, 0.5, 1, 2) * 2
    threads = [
        threading.Thread(target=lambda pace: found.append(told(played(pace=pace))), args=[pace]) for pace in paces
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [once] * 8


def test_one_model_serves_several_runs_at_once(once):
    script = parse_script(CHANCY, "chancy.yaml")
    model, loops = script.make_model(), [script.loop() for _ in range(3)]
    loops = [script.loop(model=model) for _ in loops]
    for loop in loops:
        loop.start(script.opening)
    while any(loop.phase is not None for loop in loops):
        for loop in loops:
            loop.advance()
    assert [told(loop.trace) for loop in loops] == [once] * 3


def test_a_run_whose_tools_run_one_after_the_other_differs_in_nothing_else(once):
    assert told(played(parallel=False)) == once.replace('"parallel": true', '"parallel": false')


@pytest.mark.parametrize("every", [1, 3])
def test_a_run_that_is_killed_and_resumed_all_the_time_is_the_same(once, every, tmp_path):
    script = parse_script(CHANCY, "chancy.yaml")
    loop = script.loop(journal=tmp_path)
    loop.start(script.opening)
    phases = 0
    while loop.phase is not None:
        loop.advance()
        phases += 1
        (journal, *_) = [*tmp_path.glob("*.jsonl"), None]
        if phases % every == 0 and journal is not None:
            fresh = parse_script(CHANCY, "chancy.yaml")
            loop = Loop.resume(recover(journal), model=fresh.make_model(), tools=fresh.make_tools(), journal=tmp_path)
    assert told(loop.trace) == once


def test_another_seed_is_another_run(once):
    others = {told(played(seed=seed)) for seed in range(8, 16)}
    assert len(others) == 8
    assert once not in others


def test_a_seed_given_when_the_model_is_made_is_that_of_the_script(once):
    script = parse_script(CHANCY.replace("seed: 7", "seed: 3"), "chancy.yaml")
    loop = script.loop(seed=7)
    play(loop, script)
    assert told(loop.trace) == once


# ---- what a rule looks at ----

JSON_ACTION = """\
protocol: json_action
tools: [add]
rules:
  - when: {result: present, contains: "5", calls: 1, offered: add, not: {request_contains: 'Result of'}}
    text: '{"action": "final", "response": "It is 5."}'
default: {text: '{"action": "tool", "tool": "add", "params": {"a": 2, "b": 3}}'}
"""


def test_under_json_action_rules_look_at_the_message_list_and_not_at_its_translation():
    script = parse_script(JSON_ACTION)
    loop = script.loop()
    play(loop, script)
    assert (len(loop.trace.steps), loop.trace.outcome.final) == (2, "It is 5.")


def test_called_directly_a_rule_looks_at_what_it_is_given():
    script = parse_script("rules: [{when: {turn: 2}, text: two}]\ndefault: other")
    model = script.make_model()
    assert [model.complete([USER], []).message.text for _ in range(3)] == ["other", "two", "other"]
    assert model.complete([USER], [], control=replace(CallControl(), number=1)).message.text == "two"
