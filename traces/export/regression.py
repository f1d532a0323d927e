"""A test that pins what a run does, and the script that it replays: two files that need nothing but the package agent.

What is pinned comes from a replay at the time of the export, so that the test passes as it is. Where that is not what
the trace holds, the test says so at its head.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from agent.loop import Loop
from agent.models.recording import Recording
from agent.result import steps_of
from agent.scripts import Script, parse_script, play
from agent.scripts.writing import to_json
from agent.trace import Trace
from traces.export.python import listed, literal, quoted
from traces.export.script import losses
from traces.scripting import replay, script_data

__all__ = ["MIME", "NAME", "SUFFIX", "files", "losses", "write"]

NAME = "pytest"
SUFFIX = ".pytest.zip"
MIME = "application/zip"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LONGEST_STEM = 80
_TOLD = 8
_MOST_WRITTEN = 12_000
"""Characters of calls that are written out in the test; of more than these the script beside it tells."""

_TEST = '''\
"""What the run {title} does: its steps, its calls, its end and all of its messages.

Made by Agent Loop Lab of the trace {trace_id}. Nothing is called: the script beside this file holds what the
model said and what the tools answered, and the loop does the rest. A test that fails says that the loop does something
else now. It needs pytest and the package agent, and that needs pydantic, docstring-parser and jsonschema-rs here:

    python -m pytest {stem}.py
{differences}"""

from pathlib import Path

import pytest

from agent.models.replay import same_messages
from agent.result import steps_of
from agent.scripts import parse_script, play

FILE = Path(__file__).with_suffix(".json")
SCRIPT = parse_script(FILE.read_text(encoding="utf-8"), FILE.name)
KINDS = {kinds}
CALLS = {calls}
NOT_RUN = {not_run}
REASON = {reason}
ANSWER = {answer}


@pytest.fixture(scope="module")
def trace():
    """The run, said again."""
    loop = SCRIPT.loop(pace=0)
    play(loop, SCRIPT)
    return loop.trace


def test_the_steps_are_of_the_same_kinds(trace):
    assert [step.kind for step in steps_of(trace)] == KINDS


def test_the_same_calls_are_made(trace):
    assert [(tool.name, tool.arguments) for step in trace.steps for tool in step.tools] == CALLS


def test_the_same_calls_are_not_run(trace):
    decided = [(tool.name, tool.decision) for step in trace.steps for tool in step.tools]
    assert [(name, decision) for name, decision in decided if decision != "run"] == NOT_RUN


def test_it_ends_for_the_same_reason(trace):
    assert trace.outcome.reason == REASON


def test_it_gives_the_same_answer(trace):
    assert trace.outcome.final == ANSWER


def test_the_message_list_is_the_same(trace):
    assert [str(difference) for difference in same_messages(SCRIPT.recorded, trace.messages)] == []
'''


def write(trace: Trace, language: str = "en") -> bytes:
    """Both files in one zip. The same trace gives the same bytes.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files(trace).items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            archive.writestr(info, data)
    return made.getvalue()


def files(trace: Trace) -> dict[str, bytes]:
    """The test and its script, by the names of their files; the two have the same stem.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    stem = _stem(trace)
    data = _without_times(script_data(trace))
    script, loop = _played({key: value for key, value in data.items() if key not in ("recorded", "replay")})
    recorded = Recording.of(loop.trace).to_dict() | {"trace": trace.trace_id}
    recorded["requests"] += [None] * (len(script.turns) - len(recorded["requests"]))
    text = to_json(data | {"replay": {"mode": "strict"}, "recorded": recorded})
    test = _TEST.format(
        title=quoted(script.title),
        trace_id=quoted(trace.trace_id),
        stem=stem,
        differences=_differences(trace),
        kinds=listed([literal(step.kind) for step in steps_of(loop.trace)]),
        calls=_calls(script, loop),
        not_run=_not_run(loop),
        reason=literal(loop.trace.outcome.reason),
        answer=literal(loop.trace.outcome.final),
    )
    return {f"{stem}.py": test.encode(), f"{stem}.json": text.encode()}


def _stem(trace: Trace) -> str:
    """The name of a module that pytest finds, made of the title and the id."""
    words = re.sub(r"[^a-z0-9]+", "_", f"{trace.title or trace.task}"[:60].lower()).strip("_")
    name = re.sub(r"[^A-Za-z0-9]+", "_", trace.trace_id).strip("_")
    return "_".join(part for part in ("test", words, name) if part)[:_LONGEST_STEM]


def _without_times(data: dict[str, Any]) -> dict[str, Any]:
    """The data of a script without the limit of time: a slow machine is no difference."""
    limits = {key: value for key, value in data.get("limits", {}).items() if key != "deadline_s"}
    return {key: limits if key == "limits" else value for key, value in data.items()}


def _played(data: dict[str, Any]) -> tuple[Script, Loop]:
    script = parse_script(to_json(data), "script.json")
    loop = script.loop(pace=0)
    play(loop, script)
    return script, loop


def _calls(script: Script, loop: Loop) -> str:
    """The calls as Python: written out, or where they are too long for that as the script has them."""
    made = [(tool.name, tool.arguments) for step in loop.trace.steps for tool in step.tools]
    written = listed([f"({literal(name)}, {literal(arguments)})" for name, arguments in made])
    in_script = [(call.name, call.arguments) for turn in script.turns for call in getattr(turn, "calls", ())]
    if len(written) > _MOST_WRITTEN and made == in_script:
        return "[(call.name, call.arguments) for turn in SCRIPT.turns for call in turn.calls]"
    return written


def _not_run(loop: Loop) -> str:
    """The calls that code decided against. Their answers stand in the script, so the message list does not tell."""
    decided = [(tool.name, tool.decision) for step in loop.trace.steps for tool in step.tools]
    return listed([f"({literal(name)}, {literal(decision)})" for name, decision in decided if decision != "run"])


def _differences(trace: Trace) -> str:
    """The part of the head that says where the replay is not the trace; empty where it is."""
    found = replay(trace).differences
    if not found:
        return ""
    told = [f"    {quoted(str(difference))}" for difference in found[:_TOLD]]
    more = [f"    and {len(found) - _TOLD:,} more"] if len(found) > _TOLD else []
    return "\n".join(["\nWhat is pinned is the replay. It is not in all the trace itself:\n", *told, *more, ""])
