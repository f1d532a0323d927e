"""``python -m traces ablate FILE --out DIR``: run an experiment, and say what taking things away did.

Exit code 0: every run was made. 1: some runs ended with an error, or it ended before all were made. 2: the design
cannot be used, or the folder cannot be written. 130: interrupted; ``--resume`` goes on.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from pathlib import Path
from typing import Any

from agent.console import BAD_INPUT, DONE, FAILED, printable, say, tell
from agent.errors import InputError
from agent.startup import INTERRUPTED
from agent.toolbox.own import load_all
from traces.commands.ablate_screen import Screen, estimated, findings, keys_sent
from traces.commands.names import PROG
from traces.experiments.before.estimate import estimate
from traces.experiments.design.file import read_design
from traces.experiments.folder import Folder
from traces.experiments.report.writing import write_report
from traces.experiments.running.creating import create, fingerprint, set_budget
from traces.experiments.running.ledger import made_again, read_lines
from traces.experiments.running.session import MOST_WORKERS, Session
from traces.export.words import LANGUAGES
from traces.prices import PriceTable, load_prices

_TICK_S = 0.2


def add(commands: Any) -> None:
    """Add the command to the parser's sub-commands."""
    parser = commands.add_parser(
        "ablate",
        help="run an experiment: take something away from runs, and see what that does",
        description=(
            "Run the experiment of a design: every condition on every subject with every model, as often as it says. "
            "DIR then holds the design, a trace of each run, the table, the numbers and a report. Keys of live models "
            "are taken out of the environment. Exit code 1: some runs ended with an error, or not all were made. "
            "130: interrupted; --resume goes on."
        ),
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the design: a YAML or JSON file")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="a new folder for everything")
    parser.add_argument("--workers", metavar="N", type=_workers, default=1, help="runs at a time; by default 1")
    parser.add_argument("--resume", action="store_true", help="go on in DIR; what is over is not run again")
    parser.add_argument("--retry-errors", action="store_true", help="with --resume: make runs again that were errors")
    parser.add_argument(
        "--engine", choices=("threads", "dask"), default="threads", help="who performs the runs; by default threads"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster, like tcp://host:8786; by default one is made here"
    )
    parser.add_argument(
        "--tools-file",
        metavar="PATH",
        type=Path,
        action="append",
        default=[],
        help="a Python file with tools of your own",
    )
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the report")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Run an experiment; gives the exit code.

    Raises:
        InputError: the options make no sense, the design cannot be used, or the folder cannot be written.
    """
    if options.scheduler and options.engine != "dask":
        raise InputError("--scheduler is the address of a Dask cluster: add --engine dask")
    if options.retry_errors and not options.resume:
        raise InputError("--retry-errors is about runs that were made before: add --resume")
    prices = load_prices()
    session = Session(
        _folder(options, prices),
        workers=options.workers,
        engine=options.engine,
        scheduler=options.scheduler,
        prices=prices,
        tools_files=options.tools_file,
    )
    for line in keys_sent(session.experiment):
        tell(printable(line))
    screen = Screen()
    try:
        session.start(retry_errors=options.retry_errors)
        while not session.wait(_TICK_S):
            screen.show(session.progress)
            if session.progress.state == "paused":  # a person cannot pause it here: it did so itself
                break
    except KeyboardInterrupt:
        _stop(session)
        screen.close(session.progress)
        tell(f"interrupted; what is over is kept in {options.out}, and --resume goes on from there")
        return INTERRUPTED
    return _ended(session, screen, options.out, options.language)


def _folder(options: Namespace, prices: PriceTable) -> Folder:
    """The folder of the experiment: a new one, or the one that is gone on with."""
    own = load_all(options.tools_file)
    experiment, base, folder = read_design(options.file, own), options.file.parent, Folder(options.out)
    if options.resume and folder.design.is_file():
        there = read_design(folder.design, own)
        if fingerprint(there, folder.path) != fingerprint(experiment, base):
            raise InputError(
                f"{options.out} holds another design than {options.file}, or one of other files: "
                "name the design that it was made of, or a new folder"
            )
        if there.budget != experiment.budget:
            set_budget(folder, there, experiment.budget)
        return folder
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())) and not options.resume:
        raise InputError(f"{options.out} is not empty: --resume goes on with an experiment in it, or name a new folder")
    tell(printable("\n".join(estimated(estimate(experiment, base, prices, own)))))
    return create(options.out, experiment, base)


def _stop(session: Session) -> None:
    """End cleanly. Who presses Ctrl-C once more does not want to wait for that."""
    session.cancel()
    session.wait()


def _ended(session: Session, screen: Screen, out: Path, language: str) -> int:
    """The last words, the files, and the exit code."""
    why = session.progress.error
    if session.progress.state == "paused":
        _stop(session)
    progress = session.progress
    screen.close(progress)
    if progress.state == "failed":
        tell(printable(f"{PROG}: {why}"))
        return BAD_INPUT
    whole = progress.done == progress.total
    if not whole:
        tell(printable(f"{why or progress.remark or 'it was stopped'}: {out} is kept, and --resume goes on from there"))
    if again := made_again(read_lines(session.folder)):
        tell(f"{again:,} {'run that was an error was' if again == 1 else 'runs that were errors were'} made again")
    write_report(session.folder, language, session.own)
    say(printable("\n".join(findings(session.experiment, session.rows))))
    tell(f"saved: {session.folder.report}")
    return DONE if whole and not progress.errors else FAILED


def _workers(text: str) -> int:
    """A number of workers."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"it must be a whole number from 1 to {MOST_WORKERS}, not {text!r}")
    return number
