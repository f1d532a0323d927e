"""Command line: ``python -m agent run``, ``ask`` and ``list``.

Steps and the answer go to standard output, everything said about them to standard error, so that both can be piped.
Exit code 0: the run ended and was recorded, whatever its stop reason. 1: ``ask`` could not get an answer from the model
(``model_error``), or a replay is not as recorded. 2: the input cannot be used, or the output cannot be written. 130:
interrupted.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent import jsontext
from agent.approval import Decision
from agent.cli_options import MAX_STEPS, PROG, make_parser
from agent.cli_screen import Screen, failure
from agent.console import DONE, FAILED, command, printable, say, tell
from agent.errors import InputError
from agent.limits import Limits
from agent.loop import Loop
from agent.messages import Message
from agent.models.base import Model
from agent.models.json_action import JsonActionModel
from agent.models.openai_chat import OpenAIModel
from agent.models.replay import Recording, same_messages, same_outcome
from agent.models.served import model_names
from agent.redact import redact
from agent.scripts import load_script, scenarios
from agent.startup import INTERRUPTED
from agent.stops import StopReason
from agent.toolbox import pick, toolbox
from agent.toolbox.own import load_all

_SHOWN = 20
"""Differences of a replay that are told one by one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""

    def run() -> int:
        options = make_parser(_run, _ask, _list).parse_args(arguments)
        code: int = options.command(options)
        return code

    return command(PROG, run)


# -- the three commands --------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    """Play a script."""
    script = load_script(options.script, load_all(options.tools_file))
    for warning in script.warnings:
        tell(f"note: {warning}")
    limits, max_steps = script.limits, options.max_steps or script.max_steps
    if options.no_guards:
        limits = replace(limits, repeated_calls=None, failing_steps=None)
        max_steps = options.max_steps
    screen = Screen(quiet=options.json)
    pace = (0 if script.recorded else 1) if options.pace is None else options.pace
    loop = script.loop(
        tools=script.make_tools(pace=pace).with_timeout(),
        pace=pace,
        seed=options.seed,
        replay=options.replay,
        limits=limits,
        max_steps=max_steps,
        journal=_folder(options.save),
        on_event=screen.show,
    )
    code = _play(loop, script.opening, screen, options)
    return code if script.recorded is None else _compared(loop, script.recorded, code)


def _compared(loop: Loop, recording: Recording, code: int) -> int:
    """Say whether a replay came to the recorded messages and end, and where it did not; gives the exit code."""
    if code != DONE:
        return code
    differences = same_messages(recording, loop.messages) + same_outcome(recording, loop.trace.outcome)
    count = len(loop.messages)
    if not differences:
        tell(f"replayed: {count} message{'' if count == 1 else 's'}, as recorded")
        return DONE
    tell(f"replayed: {len(differences)} difference{'' if len(differences) == 1 else 's'} from the recording")
    for difference in differences[:_SHOWN]:
        tell(printable(f"  {difference}"))
    if len(differences) > _SHOWN:
        tell(f"  and {len(differences) - _SHOWN} more")
    return FAILED


def _ask(options: argparse.Namespace) -> int:
    """Give a task to a live model."""
    if not options.question.strip():
        raise InputError("the question is empty")
    own = load_all(options.tools_file)
    names = [tool.name for tool in own] if options.tools is None else _names(options.tools)
    tools = pick(names, options.root, own).with_timeout()
    model = _live_model(options)
    screen = Screen(quiet=options.json)
    loop = Loop(
        model,
        tools,
        system=options.system,
        max_steps=options.max_steps or MAX_STEPS[options.protocol],
        limits=Limits.guarded(),
        journal=_folder(options.save),
        on_event=screen.show,
    )
    question = (Message("user", options.question),)
    code = _play(loop, question, screen, options, getattr(model, "secrets", ()))
    return FAILED if code == DONE and loop.stop_reason is StopReason.MODEL_ERROR else code


def _list(options: argparse.Namespace) -> int:
    """Show what there is to run."""
    infos, tools = scenarios(), toolbox()
    width = max(map(len, [*tools, *(info.name for info in infos)]))
    lines = ["scenarios"]
    lines += [f"  {info.name:<{width}}  {info.title}" for info in infos]
    lines += ["", "tools"]
    lines += [f"  {name:<{width}}  {tool.description.splitlines()[0]}" for name, tool in tools.items()]
    say("\n".join(lines))
    return DONE


def _names(text: str) -> list[str]:
    """The tools that ``--tools`` names."""
    names = [name for name in re.split(r"[,\s]+", text) if name]
    if not names:
        raise InputError(f"--tools names no tool: expected names with commas between them, found {text!r}")
    return names


def _live_model(options: argparse.Namespace) -> Model:
    """The model that the options and the environment name. The key comes from the environment alone.

    Raises:
        InputError: no model is named and the server does not offer exactly one, or a value cannot be used.
        ModelError: no model is named and the server cannot be asked.
    """
    model = OpenAIModel(
        options.model or os.environ.get("OPENAI_MODEL") or _only_model(options),
        base_url=options.base_url,
        stream=options.stream,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        timeout_s=options.timeout,
    )
    return model if options.protocol == "native" else JsonActionModel(model)


def _only_model(options: argparse.Namespace) -> str:
    names = model_names(options.base_url, timeout_s=options.timeout)
    if len(names) == 1:
        return names[0]
    offered = f"; the server offers {', '.join(names[:5])}{', …' if len(names) > 5 else ''}" if names else ""
    raise InputError(f"name the model with --model or in OPENAI_MODEL{offered}")


def _folder(path: Path | None) -> Path | None:
    """The folder for the journal, made now: a run that cannot be saved should not begin."""
    if path is not None:
        path.mkdir(parents=True, exist_ok=True)
    return path


# -- a run ---------------------------------------------------------------------------------------------------------


def _play(
    loop: Loop, opening: Sequence[Message], screen: Screen, options: argparse.Namespace, secrets: Sequence[str] = ()
) -> int:
    """Run every turn to its end, print what is asked for, and give the exit code."""
    try:
        _run_turns(loop, opening, screen)
    except KeyboardInterrupt:
        tell(_interrupted(loop, options.save))
        return INTERRUPTED
    except OSError as error:
        if options.save is None or error.filename:
            raise
        raise InputError(f"{options.save}: {error.strerror or error}") from error
    if options.json:
        say(jsontext.dumps(redact(loop.trace.to_dict(), secrets), indent=True))
    else:
        screen.print_outcome(loop)
    if loop.stop_reason is StopReason.MODEL_ERROR:
        tell(f"{PROG}: {failure(loop.trace)}")
    if options.save is not None:
        tell(f"saved: {options.save / loop.trace.trace_id}.json")
    return DONE


def _run_turns(loop: Loop, opening: Sequence[Message], screen: Screen) -> None:
    """Go on as long as the user has more to say."""
    loop.start(opening)
    screen.begin_turn(loop)
    while loop.phase is not None or loop.more:
        if loop.phase is None:
            loop.advance()
            screen.begin_turn(loop)
        if loop.waiting:
            _decide(loop)
        loop.advance()
        screen.print_steps(loop)


def _interrupted(loop: Loop, folder: Path | None) -> str:
    if folder is None:
        return "interrupted; nothing is kept of the run (with --save DIR its journal would be)"
    return f"interrupted; the run is kept as far as it came: {folder / loop.trace.trace_id}.jsonl"


def _decide(loop: Loop) -> None:
    """Ask the person at the terminal about the calls that wait; where nobody sits, they are denied."""
    for position, pending in enumerate(loop.run.pending):
        if pending.decision is not None or not pending.question:
            continue
        if not (sys.stdin and sys.stdin.isatty()):
            loop.decide(position, Decision("denied", "policy", f"{pending.question}, and nobody was there to ask"))
            continue
        sys.stderr.write(printable(f"Run {pending.call.name}({pending.call.arguments})? {pending.question} [y/N] "))
        sys.stderr.flush()
        agreed = sys.stdin.readline().strip().lower() in ("y", "yes")
        loop.decide(position, Decision.run() if agreed else Decision.reject("the user said no"))
