"""Command line: ``python -m agent run``, ``ask`` and ``list``.

Steps and the answer go to standard output, everything said about them to standard error, so that both can be piped.
Exit code 0: the run ended and was recorded, whatever its stop reason. 2: the input cannot be used. 130: interrupted.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

from agent import jsontext
from agent.approval import Decision
from agent.errors import AgentError, InputError
from agent.events import AgentEvent, Phase
from agent.limits import Limits
from agent.loop import Loop
from agent.models.base import Model
from agent.models.json_action import JsonActionModel
from agent.models.openai_chat import OpenAIModel
from agent.models.served import model_names
from agent.redact import redact
from agent.result import steps_of
from agent.scripts import load_script, scenarios
from agent.stops import StopReason
from agent.toolbox import pick, toolbox

PROG = "python -m agent"
INTERRUPTED = 130
_EXAMPLES = """\
examples:
  python -m agent run calc
  python -m agent run my_script.yaml --max-steps 3 --save runs
  python -m agent run atlantis --json > atlantis.json
  python -m agent ask "What is (2+3)*4?" --tools add,multiply --base-url http://127.0.0.1:8080/v1
  python -m agent list
"""
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    _use_utf8(sys.stdout)
    _use_utf8(sys.stderr)
    try:
        options = _parser().parse_args(arguments)
        code: int = options.command(options)
        sys.stdout.flush()
    except AgentError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # The reader has had enough (``| head``). Nothing more can be said, not even by the interpreter at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _refuse(f"{error.filename or 'a file'}: {error.strerror or error}")
    except KeyboardInterrupt:
        _say(sys.stderr, "interrupted; with --save the journal keeps the run as far as it came")
        return INTERRUPTED
    return code


def _refuse(message: str) -> int:
    _say(sys.stderr, f"{PROG}: {' '.join(message.split())}")
    return 2


# -- the three commands --------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    """Play a script."""
    script = load_script(options.script)
    for warning in script.warnings:
        _say(sys.stderr, f"note: {warning}")
    changes = {} if options.max_steps is None else {"max_steps": options.max_steps}
    screen = _Screen(quiet=options.json)
    loop = script.loop(journal=_folder(options.save), on_event=screen.show, **changes)
    return _play(loop, script.users, screen, options)


def _ask(options: argparse.Namespace) -> int:
    """Give a task to a live model."""
    if not options.question.strip():
        raise InputError("the question is empty")
    tools = pick(filter(None, re.split(r"[,\s]+", options.tools)), options.root)
    model = _live_model(options)
    screen = _Screen(quiet=options.json)
    loop = Loop(
        model,
        tools,
        system=options.system,
        max_steps=options.max_steps or 8,
        limits=Limits.guarded(),
        journal=_folder(options.save),
        on_event=screen.show,
    )
    return _play(loop, (options.question,), screen, options, getattr(model, "secrets", ()))


def _list(options: argparse.Namespace) -> int:
    """Show what there is to run."""
    infos, tools = scenarios(), toolbox()
    width = max(map(len, [*tools, *(info.name for info in infos)]))
    lines = ["scenarios"]
    lines += [f"  {info.name:<{width}}  {info.title}" for info in infos]
    lines += ["", "tools"]
    lines += [f"  {name:<{width}}  {tool.description.splitlines()[0]}" for name, tool in tools.items()]
    _say(sys.stdout, "\n".join(lines))
    return 0


def _live_model(options: argparse.Namespace) -> Model:
    """The model that the options and the environment name. The key comes from the environment alone.

    Raises:
        InputError: no model is named and the server does not offer exactly one, or a value cannot be used.
    """
    model = OpenAIModel(
        options.model or os.environ.get("OPENAI_MODEL") or _only_model(options.base_url),
        base_url=options.base_url,
        stream=options.stream,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        timeout_s=options.timeout,
    )
    return model if options.protocol == "native" else JsonActionModel(model)


def _only_model(base_url: str | None) -> str:
    names = model_names(base_url)
    if len(names) == 1:
        return names[0]
    offered = f"; the server offers {', '.join(names[:5])}{', …' if len(names) > 5 else ''}" if names else ""
    raise InputError(f"name the model with --model or in OPENAI_MODEL{offered}")


def _folder(path: Path | None) -> Path | None:
    """The folder for the journal, made now: a run that cannot be saved should not begin."""
    if path is not None:
        path.mkdir(parents=True, exist_ok=True)
    return path


# -- what a run shows ----------------------------------------------------------------------------------------------


class _Screen:
    """Prints the steps of a run as they are completed.

    Args:
        quiet: print nothing; the trace follows at the end.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self._printed = 0
        self._streaming = False

    def begin_turn(self, loop: Loop) -> None:
        """The lines of earlier turns are on the screen already."""
        self._printed = len(steps_of(loop.trace))

    def print_steps(self, loop: Loop) -> None:
        """Print the lines that were completed since the last time."""
        open_step = len(loop.trace.steps) - 1 if loop.phase in _CALLS_OPEN else math.inf
        lines = [step for step in steps_of(loop.trace) if step.index < open_step]
        if not self.quiet:
            for step in lines[self._printed :]:
                _say(sys.stdout, _printable(str(step)))
        self._printed = len(lines)

    def show(self, event: AgentEvent) -> None:
        """Tell on standard error what is worth telling while a model call goes on: streamed text and retries."""
        if self.quiet:
            return
        if event.type == "model.delta" and sys.stderr.isatty():
            sys.stderr.write(_printable(str(event.payload.get("text") or "")))
            sys.stderr.flush()
            self._streaming = True
        elif self._streaming:
            self._streaming = False
            _say(sys.stderr, "")
        if event.type == "model.retry":
            _say(sys.stderr, f"note: trying again in {event.payload['wait_s']:.1f} s: {event.payload['error']}")


_CALLS_OPEN = (Phase.APPROVE, Phase.EXECUTE, Phase.APPEND)
"""Phases before which the calls of the last step have no results yet."""


def _play(
    loop: Loop, users: Sequence[str], screen: _Screen, options: argparse.Namespace, secrets: Sequence[str] = ()
) -> int:
    """Run every user turn to its end and print what is asked for. A turn without an answer ends the conversation."""
    for text in users:
        loop.start(text)
        screen.begin_turn(loop)
        while loop.phase is not None:
            if loop.waiting:
                _decide(loop)
            loop.advance()
            screen.print_steps(loop)
        if loop.stop_reason is not StopReason.FINAL:
            break
    if options.json:
        _say(sys.stdout, jsontext.dumps(redact(loop.trace.to_dict(), secrets), indent=True))
    else:
        _print_outcome(loop)
    if options.save is not None:
        _say(sys.stderr, f"saved: {options.save / loop.trace.trace_id}.json")
    return 0


def _decide(loop: Loop) -> None:
    """Ask the person at the terminal about the calls that wait; where nobody sits, they are denied."""
    for position, pending in enumerate(loop.run.pending):
        if pending.decision is not None or not pending.question:
            continue
        if not sys.stdin.isatty():
            loop.decide(position, Decision("denied", "policy", f"{pending.question}, and nobody was there to ask"))
            continue
        sys.stderr.write(_printable(f"Run {pending.call.name}({pending.call.arguments})? {pending.question} [y/N] "))
        sys.stderr.flush()
        agreed = sys.stdin.readline().strip().lower() in ("y", "yes")
        loop.decide(position, Decision.run() if agreed else Decision.reject("the user said no"))


def _print_outcome(loop: Loop) -> None:
    outcome = loop.trace.outcome
    detail = f": {outcome.detail}" if outcome.detail else ""
    _say(sys.stdout, _printable(outcome.final or f"no answer, the run was stopped by {outcome.reason}{detail}"))
    for answer in outcome.evidence:
        if answer.ok is not True:
            why = f" ({answer.detail})" if answer.detail else ""
            _say(sys.stderr, _printable(f"not verified: {answer.check}{why}"))


def _printable(text: str) -> str:
    """Text of a model or a tool without the control characters that would command a terminal."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _say(stream: TextIO, text: str) -> None:
    stream.write(jsontext.clean(text) + "\n")


def _use_utf8(stream: TextIO) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)


# -- the options ---------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Bad usage is bad input: one sentence, no page of help."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line."""
        raise InputError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROG,
        description="Run an agent loop: a script of a fake model, or a task for a live one.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    run = commands.add_parser(
        "run",
        help="play a script or a scenario",
        description="Play a script: its fake model, its tools, its limits. Works without a key and a network.",
    )
    run.add_argument("script", metavar="FILE_OR_SCENARIO", help="a YAML or JSON script, or a name out of 'list'")
    run.set_defaults(command=_run)
    ask = commands.add_parser(
        "ask",
        help="give a task to a live model",
        description=(
            "Give a task to a model behind any OpenAI-compatible server, with tools out of the toolbox. The run stops "
            "at the third equal call with an equal result, and after three steps in a row in which every call failed."
        ),
        epilog="environment: OPENAI_API_KEY (the only place for a key), OPENAI_BASE_URL, OPENAI_MODEL",
    )
    _add_ask_options(ask)
    ask.set_defaults(command=_ask)
    listing = commands.add_parser("list", help="show the scenarios and the tools")
    listing.set_defaults(command=_list)
    for command in (run, ask):
        command.add_argument("--max-steps", type=_at_least(int, 1), metavar="N", help="model calls a turn may take")
        command.add_argument("--save", type=Path, metavar="DIR", help="keep the journal and the trace in this folder")
        command.add_argument("--json", action="store_true", help="print the native trace and nothing else")
    return parser


def _add_ask_options(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("question", help="the task")
    ask.add_argument("--tools", default="", metavar="NAMES", help="tools to offer, with commas: add,multiply")
    ask.add_argument("--model", metavar="M", help="default: OPENAI_MODEL, else the only model of the server")
    ask.add_argument("--base-url", metavar="U", help="default: OPENAI_BASE_URL, else OpenAI")
    ask.add_argument("--system", default="", metavar="S", help="the system text")
    ask.add_argument("--stream", action="store_true", help="let the reply come in pieces; a terminal shows them")
    ask.add_argument(
        "--protocol", choices=("native", "json"), default="native", help="json: for models without tool calling"
    )
    ask.add_argument("--max-tokens", type=_at_least(int, 1), metavar="N", help="length limit of one reply")
    ask.add_argument("--temperature", type=_at_least(float, 0), metavar="T", help="sampling temperature")
    ask.add_argument(
        "--timeout", type=_at_least(float, 0.1), default=120, metavar="S", help="seconds of silence (default: 120)"
    )
    ask.add_argument("--root", type=Path, metavar="DIR", help="the one folder that file tools may read")


def _at_least(kind: Callable[[str], Any], least: float) -> Callable[[str], Any]:
    """A number that is not below ``least``."""

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            name = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"expected {name}, found {text!r}") from None
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"must be at least {least}, found {text}")
        return value

    return read
