"""What the README shows can be typed in as it stands."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli import main
from agent.scripts import parse_script
from traces.cli import main as traces_main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^python -m agent ((?:list|run).*?) +#", README, re.MULTILINE)
assert COMMANDS, "no command is found in the README, so none would be tried"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def run_python(*parts, folder):
    program = "\n".join(parts)
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, timeout=60
    )
    assert result.stderr == b""
    return result.stdout.decode()


def test_the_loop_in_python_prints_what_is_shown(tmp_path):
    first, begun, resumed, _ = blocks("python")
    printed = run_python(first, folder=tmp_path)
    assert [printed] == blocks("text")
    assert run_python(first, begun, folder=tmp_path) == printed
    assert run_python(first, resumed, folder=tmp_path) == printed + "It is 5.\n"


def test_a_program_is_recorded_as_shown(tmp_path):
    call = {"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}
    asked = [{"role": "user", "content": "hi"}]
    recorded = blocks("python")[3].replace("):", ") as rec:").replace("my_agent()", f"rec.exchange({asked}, {call})")
    run_python(recorded, folder=tmp_path)
    (trace,) = (tmp_path / "recordings").iterdir()
    assert '"final":"hello"' in trace.read_text(encoding="utf-8")


def test_the_script_plays(capsys, tmp_path):
    script, _ = blocks("yaml")
    assert parse_script(script).warnings == ()
    (tmp_path / "sum.yaml").write_text(script, encoding="utf-8")
    assert main(["run", str(tmp_path / "sum.yaml")]) == 0
    assert capsys.readouterr().out.endswith("[1] final     It is 5.\nIt is 5.\n")


def test_the_design_runs(capsys, tmp_path):
    _, design = blocks("yaml")
    (tmp_path / "design.yaml").write_text(design, encoding="utf-8")
    assert main(["run", "calc", "--json"]) == 0
    (tmp_path / "run.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert traces_main(["ablate", str(tmp_path / "design.yaml"), "--out", str(tmp_path / "out")]) == 0
    assert len((tmp_path / "out" / "runs.csv").read_text(encoding="utf-8").splitlines()) == 1 + 2 * 5 * 20


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_run(capsys, line):
    assert main(shlex.split(line)) == 0
    assert capsys.readouterr().out


def test_the_example_of_the_step_limit_is_stopped_by_it(capsys):
    main(shlex.split(re.search(r"python -m agent (run noop.*?) +#", README)[1]))
    assert '"reason": "max_iterations"' in capsys.readouterr().out
