"""The command line of ``python -m agent``: its commands, their options, and what these may be."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.console import Parser
from agent.limits import HARD_CAP

PROG = "python -m agent"
MAX_STEPS = {"native": 8, "json": 10}
"""The step limit of ``ask`` where none is given, by protocol."""

_EXAMPLES = """\
examples:
  python -m agent run calc
  python -m agent run my_script.yaml --max-steps 3 --seed 7 --save runs
  python -m agent run noop --json > noop.json
  python -m agent run atlantis --no-guards
  python -m agent ask "What is (2+3)*4?" --tools add,multiply --base-url http://127.0.0.1:8080/v1
  python -m agent list
"""
_EXIT_CODES = """\
exit codes:
  0    the run ended and was recorded, whatever its stop reason
  1    ask could not get an answer from the model (model_error), or a replay is not as recorded
  2    the input cannot be used, or the output cannot be written
  130  interrupted
"""
_ENVIRONMENT = "environment: OPENAI_API_KEY (the only place for a key), OPENAI_BASE_URL, OPENAI_MODEL\n"

Command = Callable[[argparse.Namespace], int]


def make_parser(run: Command, ask: Command, listing: Command) -> Parser:
    """The parser; what it reads names in ``command`` the function to call."""
    parser = _parser(Parser, prog=PROG, description="Run an agent loop: a script of a fake model, or a live one.")
    parser.epilog = f"{_EXAMPLES}\n{_EXIT_CODES}"
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    running = _parser(
        commands.add_parser,
        "run",
        help="play a script or a scenario",
        description="Play a script: its fake model, its tools, its limits. Works without a key and a network.",
        epilog=_EXIT_CODES,
    )
    _add_run_options(running)
    running.set_defaults(command=run)
    asking = _parser(
        commands.add_parser,
        "ask",
        help="give a task to a live model",
        description=(
            "Give a task to a model behind any OpenAI-compatible server, with tools out of the toolbox. The run stops\n"
            "at the third equal call with an equal result, and after three steps in a row in which every call failed."
        ),
        epilog=f"{_ENVIRONMENT}\n{_EXIT_CODES}",
    )
    _add_ask_options(asking)
    asking.set_defaults(command=ask)
    commands.add_parser("list", help="show the scenarios and the tools").set_defaults(command=listing)
    for command in (running, asking):
        command.add_argument(
            "--tools-file",
            type=_path,
            action="append",
            default=[],
            metavar="FILE",
            help="a Python file with tools of your own: functions with @tool (may be given several times)",
        )
        command.add_argument("--save", type=_path, metavar="DIR", help="keep the journal and the trace in this folder")
        command.add_argument("--json", action="store_true", help="print the native trace and nothing else")
    return parser


def _parser(make: Callable[..., Parser], *arguments: Any, **options: Any) -> Parser:
    return make(*arguments, formatter_class=argparse.RawDescriptionHelpFormatter, **options)


def _add_run_options(run: Parser) -> None:
    run.add_argument(
        "script", type=_text, metavar="FILE_OR_SCENARIO", help="a YAML or JSON script, or a name out of 'list'"
    )
    run.add_argument(
        "--max-steps",
        type=_at_least(int, 1),
        metavar="N",
        help="model calls a turn may take (default: what the script says, else 8)",
    )
    run.add_argument(
        "--seed", type=_at_least(int, 0), metavar="N", help="for the chances of rules (default: what the script says)"
    )
    run.add_argument(
        "--pace",
        type=_at_least(float, 0),
        metavar="P",
        help="how long model and written answers take, as a multiple; 0: no time (default: 1, of a recording 0)",
    )
    run.add_argument(
        "--replay",
        choices=("strict", "lenient"),
        help="what a recording does about another request: stop, or note it and go on (default: what the script says)",
    )
    run.add_argument(
        "--no-guards",
        action="store_true",
        help=f"no step limit and no stop at repeated calls or failing steps; the hard cap of {HARD_CAP} steps holds",
    )


def _add_ask_options(ask: Parser) -> None:
    ask.add_argument("question", help="the task")
    ask.add_argument(
        "--tools", metavar="NAMES", help="tools to offer, with commas: add,multiply (default: those of --tools-file)"
    )
    ask.add_argument(
        "--model", type=_text, metavar="M", help="default: OPENAI_MODEL, else the only model of the server"
    )
    ask.add_argument("--base-url", type=_text, metavar="U", help="default: OPENAI_BASE_URL, else OpenAI")
    ask.add_argument("--system", default="", metavar="S", help="the system text (default: none)")
    ask.add_argument("--stream", action="store_true", help="let the reply come in pieces; a terminal shows them")
    ask.add_argument(
        "--protocol",
        choices=tuple(MAX_STEPS),
        default="native",
        help="json: for models without tool calling (default: native)",
    )
    ask.add_argument(
        "--max-steps",
        type=_at_least(int, 1),
        metavar="N",
        help=f"model calls it may take (default: {MAX_STEPS['native']}; with --protocol json {MAX_STEPS['json']})",
    )
    ask.add_argument(
        "--max-tokens", type=_at_least(int, 1), metavar="N", help="length limit of one reply (default: the server's)"
    )
    ask.add_argument(
        "--temperature", type=_at_least(float, 0), metavar="T", help="sampling temperature (default: the server's)"
    )
    ask.add_argument(
        "--timeout", type=_at_least(float, 0.1), default=120, metavar="S", help="seconds of silence (default: 120)"
    )
    ask.add_argument(
        "--root", type=_path, metavar="DIR", help="the one folder that file tools may read (default: a sample folder)"
    )


def _text(value: str) -> str:
    """What must not be empty: as a rule an unset variable of the shell stands behind it."""
    if not value.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return value


def _path(value: str) -> Path:
    return Path(_text(value))


def _at_least(kind: Callable[[str], Any], least: float) -> Callable[[str], Any]:
    """A number that is not below ``least``, and has an end."""
    name = "a whole number" if kind is int else "a number"

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"expected {name}, found {text!r}")
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, found {text}")
        return value

    return read
