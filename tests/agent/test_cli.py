"""The command line: steps and answer on standard output, one sentence for bad input, never a traceback."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from agent.tools import Tool
from agent.trace import Trace

ROOT = Path(__file__).parents[2]


def test_run_prints_the_steps_of_the_reference_run_and_the_answer(cli):
    assert cli("run", "calc") == (
        0,
        "[0] tool_call add({'a': 2, 'b': 3}) -> 5\n"
        "[1] tool_call multiply({'a': 5, 'b': 4}) -> 20\n"
        "[2] final     计算结果是 20。\n"
        "计算结果是 20。\n",
        "",
    )


def test_a_stop_without_an_answer_is_recorded_and_no_failure(cli):
    code, out, err = cli("run", "noop")
    assert code == 0
    assert out.splitlines()[-1].startswith("[2] error     max_iterations: ")
    assert err.startswith("no answer: stopped by max_iterations after 2 rounds, 162 tokens burnt; look at ")
    assert err.count("\n") == 1


def test_an_abort_says_what_it_took_only_where_that_is_known(cli, tmp_path):
    script = tmp_path / "one.yaml"
    script.write_text("max_steps: 1\nturns:\n  - calls: [{name: noop}]\n  - Done.", encoding="utf-8")
    _, _, err = cli("run", str(script))
    assert err.startswith("no answer: stopped by max_iterations after 1 round; look at ")


def test_without_its_guards_a_run_goes_on_until_its_script_ends_and_costs_more(cli):
    _, guarded, told = cli("run", "atlantis")
    code, free, more = cli("run", "atlantis", "--no-guards")
    assert (code, guarded.count("get_weather"), free.count("get_weather")) == (0, 3, 14)
    assert "stopped by consecutive_errors after 3 rounds, 651 tokens burnt" in told
    assert "stopped by script_exhausted after 14 rounds, 8,244 tokens burnt" in more


def test_without_guards_the_hard_cap_and_a_limit_that_is_given_hold(cli, tmp_path):
    script = tmp_path / "busy.yaml"
    turn = "  - calls: [{name: noop}]\n"
    script.write_text(f"limits: {{repeated_calls: 3}}\nturns:\n{turn * 101}", encoding="utf-8")
    _, out, _ = cli("run", str(script), "--no-guards")
    assert out.count("noop") == 100 and "max_iterations: stopped by the hard cap of 100 steps" in out
    _, out, _ = cli("run", str(script), "--no-guards", "--max-steps", "5")
    assert out.count("noop") == 5


def test_max_steps_takes_the_place_of_the_limit_of_the_script(cli):
    _, out, _ = cli("run", "noop", "--max-steps", "3")
    assert out.count("tool_call noop") == 3


def test_json_prints_the_native_trace_and_nothing_else(cli):
    code, out, err = cli("run", "order", "--json")
    assert (code, err) == (0, "")
    trace = Trace.from_dict(json.loads(out))
    assert (trace.outcome.reason, len(trace.messages), len(trace.steps)) == ("final", 5, 2)


def test_save_keeps_the_trace_in_a_folder_that_is_made(cli, tmp_path):
    code, out, err = cli("run", "order", "--save", str(tmp_path / "new" / "runs"))
    (path,) = (tmp_path / "new" / "runs").iterdir()
    assert code == 0 and err == f"saved: {path}\n" and out.startswith("[0] tool_call")
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == "agent-trace/1"


def test_what_the_evidence_does_not_bear_out_is_said_beside_the_answer(cli):
    code, out, err = cli("run", "claimed")
    assert code == 0 and out.endswith("It is sunny and 25 °C.\n")
    assert "not verified: get_weather succeeded" in err


def test_several_user_turns_are_played_one_after_the_other(cli, tmp_path):
    script = tmp_path / "talk.yaml"
    script.write_text("user: [Add., Thanks.]\nturns:\n  - calls: [{name: noop}]\n  - Done.\n  - Bye.", encoding="utf-8")
    _, out, _ = cli("run", str(script))
    assert out == "[0] tool_call noop({}) -> ok\n[1] final     Done.\n[2] final     Bye.\nBye.\n"


def test_a_warning_of_a_script_is_told_and_the_run_goes_on(cli, tmp_path):
    script = tmp_path / "typo.yaml"
    script.write_text("tools: [add]\nturns:\n  - calls: [{name: ad}]\n  - Done.", encoding="utf-8")
    code, out, err = cli("run", str(script))
    assert code == 0 and "unknown tool 'ad'" in out
    assert err == "note: typo.yaml, line 3, turns[0].calls[0].name: no tool 'ad' is offered; did you mean 'add'?\n"


def test_control_characters_of_a_model_do_not_reach_the_terminal(cli, tmp_path):
    script = tmp_path / "bell.yaml"
    script.write_text('["\\e[2J\\x9b\\a gone\\nline"]', encoding="utf-8")
    _, out, _ = cli("run", str(script))
    assert out == "[0] final     \\x1b[2J\\x9b\\x07 gone\nline\n" + "\\x1b[2J\\x9b\\x07 gone\nline\n"


def test_list_shows_every_scenario_and_tool(cli):
    code, out, _ = cli("list")
    assert code == 0
    assert re.search(r"^  calc +Two sums, one after the other$", out, re.MULTILINE)
    assert re.search(r"^  get_weather +Get the current weather of a city\.$", out, re.MULTILINE)


def test_a_tool_that_hangs_does_not_hold_the_run(cli, tmp_path, monkeypatch):
    hang = Tool(name="hang", description="Hang.", parameters={}, func=lambda: time.sleep(30))
    monkeypatch.setattr("agent.toolbox.practice.TOOLS", (hang,))
    monkeypatch.setattr("agent.tools.DEFAULT_TIMEOUT_S", 0.05)
    (tmp_path / "hang.yaml").write_text("- calls: [{name: hang}]\n- Done.", encoding="utf-8")
    code, out, _ = cli("run", str(tmp_path / "hang.yaml"))
    assert code == 0 and "timed out after 0.05 s" in out and out.endswith("Done.\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("walk",), "invalid choice: 'walk'"),
        (("run",), "the following arguments are required: FILE_OR_SCENARIO"),
        (("run", "clac"), "there is no file or scenario 'clac'; did you mean 'calc'?"),
        (("run", str(ROOT)), "cannot be read: Is a directory"),
        (("run", str(ROOT / "pyproject.toml")), "pyproject.toml, line 2: this is not valid YAML"),
        (("run", "calc", "--max-steps", "0"), "must be at least 1, found 0"),
        (("run", "calc", "--max-steps", "two"), "expected a whole number, found 'two'"),
        (("run", "calc", "--save", str(ROOT / "pyproject.toml")), "pyproject.toml: File exists"),
        (("ask", " "), "the question is empty"),
        (("ask", "x"), "OpenAI needs an API key"),
        (("ask", "x", "--base-url", "localhost"), "The base URL must look like"),
        (("ask", "x", "--tools", ","), "--tools names no tool"),
        (("ask", "x", "--timeout", "inf"), "--timeout: expected a number, found 'inf'"),
        (("ask", "x", "--timeout", "0"), "must be at least 0.1, found 0"),
        (("ask", "x", "--model", ""), "--model: it is empty"),
        (("run", "calc", "--save", ""), "--save: it is empty"),
        (("run", ""), "FILE_OR_SCENARIO: it is empty"),
        (("run", "/dev/null"), "'/dev/null' cannot be read: it is not a regular file"),
        (("ask", "x", "--tools", "add,multipy"), "there is no tool 'multipy' in the toolbox; did you mean 'multiply'?"),
        (("ask", "x", "--root", "nowhere"), "the folder 'nowhere' for the file tools does not exist"),
        (("ask", "x", "--temperature", "nan"), "--temperature: expected a number, found 'nan'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(cli, arguments, words):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("python -m agent: ") and err.count("\n") == 1


def test_help_names_the_commands_the_defaults_and_the_exit_codes(cli):
    code, out, _ = cli("--help")
    assert code == 0
    assert "play a script or a scenario" in out and "python -m agent run calc" in out
    assert "1    ask could not get an answer from the model (model_error)" in out
    _, out, _ = cli("ask", "--help")
    assert "default: 8; with --protocol json 10" in " ".join(out.split())


def test_a_pipe_is_no_script_and_holds_nothing_up(cli, tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    code, _, err = cli("run", str(tmp_path / "pipe.yaml"))
    assert code == 2 and "it is not a regular file" in err
