"""Command line: ``python -m traces COMMAND ...``; the commands are the modules of :mod:`traces.commands`.

Exit code 2: the command line cannot be used, or the output cannot be written. 130: interrupted. The others are said by
each command.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.console import Parser, command
from traces.commands import ablate, convert, lessons, lint, summary
from traces.commands.names import PROG

_COMMANDS = (summary, lint, convert, ablate, lessons)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    return command(PROG, lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    code: int = options.run(options)
    return code


def _parser() -> Parser:
    parser = Parser(prog=PROG, description="Read saved traces of agents.")
    names = ",".join(each.__name__.rpartition(".")[2] for each in _COMMANDS)
    commands = parser.add_subparsers(dest="command", metavar=f"{{{names}}}", required=True, parser_class=Parser)
    for each in _COMMANDS:
        each.add(commands)
    return parser
