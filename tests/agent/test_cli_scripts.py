"""The command line plays conversations, rules and recordings, and says where a replay is not as recorded."""

import json

import pytest

from agent import FakeModel, Loop, ToolCall
from agent.models.replay import Recording
from agent.toolbox import pick

CHANCE = """\
task: Toss.
seed: 1
rules:
  - when: {chance: 0.5}
    text: heads
default: tails
"""
TWO = """\
user: [What is 2+3?, And twice that?]
tools: [add]
turns:
  - calls: [{name: add, arguments: {a: 2, b: 3}}]
  - It is 5.
  - It is 10.
"""


def script(tmp_path, text, name="mine.yaml"):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return str(path)


@pytest.fixture
def recording():
    """The script of a run with one call, as recording it gives it."""
    loop = Loop(FakeModel([[ToolCall("c1", "add", {"a": 2, "b": 3})], "It is 5."]), pick(["add"]), system="Be brief.")
    loop.start("What is 2+3?")
    loop.finish()
    return {
        "task": "What is 2+3?",
        "system": "Be brief.",
        "tools": ["add"],
        "turns": [
            {
                "calls": [{"name": "add", "arguments": {"a": 2, "b": 3}, "id": "c1", "result": "5"}],
                "latency_ms": 60_000,
            },
            "It is 5.",
        ],
        "recorded": Recording.of(loop.trace).to_dict(),
    }


def test_a_conversation_of_two_turns_is_played_to_its_end(cli, tmp_path):
    code, out, err = cli("run", script(tmp_path, TWO))
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == ["[1] final     It is 5.", "[2] final     It is 10.", "It is 10."]


def test_a_seed_decides_what_chance_does(cli, tmp_path):
    path = script(tmp_path, CHANCE)
    answers = {seed: cli("run", path, "--seed", str(seed))[1].splitlines()[-1] for seed in range(12)}
    assert set(answers.values()) == {"heads", "tails"}
    assert answers[1] == cli("run", path)[1].splitlines()[-1]
    assert answers == {seed: cli("run", path, "--seed", str(seed))[1].splitlines()[-1] for seed in range(12)}


def test_a_recording_is_replayed_at_once_and_is_as_recorded(cli, tmp_path, recording):
    code, out, err = cli("run", script(tmp_path, recording, "mine.json"))
    assert (code, out.splitlines()[-1]) == (0, "It is 5.")
    assert err == "replayed: 5 messages, as recorded\n"


def test_a_strict_replay_stops_at_a_request_that_was_changed(cli, tmp_path, recording):
    recording["system"] = "Be verbose."
    code, out, err = cli("run", script(tmp_path, recording, "mine.json"))
    assert code == 1
    assert "It is 5." not in out
    for words in ("step 1", "Be brief.", "Be verbose."):
        assert words in out + err


def test_a_lenient_replay_goes_on_and_says_what_differs(cli, tmp_path, recording):
    recording["system"] = "Be verbose."
    code, out, err = cli("run", script(tmp_path, recording, "mine.json"), "--replay", "lenient")
    assert (code, out.splitlines()[-1]) == (1, "It is 5.")
    assert "1 difference from the recording" in err


def test_a_changed_result_is_a_difference(cli, tmp_path, recording):
    recording["turns"][0]["calls"][0]["result"] = "6"
    code, _, err = cli("run", script(tmp_path, recording, "mine.json"))
    assert code == 1
    assert "message 4" in err and "6" in err


def test_another_end_than_the_recorded_one_is_a_difference(cli, tmp_path, recording):
    recording["turns"][1] = {"text": "It is 5.", "finish_reason": "length"}
    code, _, err = cli("run", script(tmp_path, recording, "mine.json"))
    assert code == 1
    assert "the stop reason" in err and "truncated" in err


def test_a_trace_is_no_script_and_the_way_to_make_one_is_told(cli, tmp_path):
    loop = Loop(FakeModel(["Yes."]))
    loop.start("No?")
    loop.finish()
    code, _, err = cli("run", script(tmp_path, loop.trace.to_dict(), "trace.json"))
    assert code == 2
    assert "python -m traces convert FILE --to script" in err
