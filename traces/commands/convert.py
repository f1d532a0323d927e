"""``python -m traces convert FILE --to FORMAT``: a trace in another form, without its secrets.

Of a script it is also told how far a replay is the recorded run. A test comes with its script, in two files.

Exit code 0: it was written. 1: the file did not open, or holds no conversation.
"""

from __future__ import annotations

import io
import zipfile
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.console import DONE, FAILED, printable, say, say_bytes, tell
from agent.errors import InputError
from agent.scripts import parse_script
from agent.trace import Trace
from traces.commands.files import add_format, read_named
from traces.commands.names import PROG
from traces.export import Exported, export, file_name, formats, regression, script
from traces.export.words import LANGUAGES
from traces.keeping import write_new, write_whole
from traces.redacting import without_secrets
from traces.report import ImportReport
from traces.scripting import replay, script_data, script_text
from traces.selecting import select_steps, step_numbers

BUNDLE = "bundle"
_STDOUT = "-"
_SHOWN = 20
"""Secrets and titles named one by one; of more than these only the number is told."""


def add(commands: Any) -> None:
    """Add the command to the parser's sub-commands."""
    convert = commands.add_parser(
        "convert",
        help="write a trace in another form, without its secrets",
        description=(
            "Write a trace in another form, without its secrets; what was taken out is told on standard error. "
            f"Forms: {', '.join([*formats(), BUNDLE])}. {BUNDLE} is a zip with the trace, its findings and versions; "
            f"{script.NAME} says the run again with 'python -m agent run'; {regression.NAME} is a test of it, with its "
            "script in a second file. Exit code 1: the file did not open."
        ),
    )
    convert.add_argument("file", metavar="FILE", help="a trace file of any supported format, or - for standard input")
    convert.add_argument("--to", required=True, metavar="FORMAT", choices=[*formats(), BUNDLE], help="the form wanted")
    convert.add_argument("--out", metavar="PATH", help="a file, a folder, or - for standard output; by default here")
    convert.add_argument(
        "--conversation", "--trace", type=int, metavar="N", help="which one, from 1, where the file holds several"
    )
    convert.add_argument("--steps", metavar="LIST", help="only these steps, like 3-5,8")
    add_format(convert)
    convert.add_argument(
        "--language", choices=LANGUAGES, default="en", help="of our own words in html and markdown; by default en"
    )
    convert.add_argument("--force", action="store_true", help="replace a file that is there")
    convert.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Convert one conversation; gives the exit code.

    Raises:
        InputError: the options do not fit the file, or the output cannot be written.
    """
    try:
        report = read_named(options.file, options.format)
    except InputError as error:
        tell(printable(f"{PROG}: {error}"))
        return FAILED
    if not report.traces:
        tell(printable(f"{PROG}: {report.file}: {next(iter(report.unread), 'it holds no conversation')}"))
        return FAILED
    trace = _chosen(report, options)
    if options.steps is not None:
        trace = select_steps(trace, step_numbers(options.steps))
    exported = _exported(trace, report, options)
    for each in _files(exported, options):
        _write(each, options.out, options.force)
    _remarks(exported)
    if options.to == script.NAME:
        tell(printable("\n".join(_replayed(exported))))
    return DONE


def _chosen(report: ImportReport, options: Namespace) -> Trace:
    number, count = options.conversation, len(report.traces)
    if number is None and count > 1:
        titles = [f"  {n} {' '.join(t.title.split())[:80]}" for n, t in enumerate(report.traces[:_SHOWN], 1)]
        tell(printable("\n".join(titles)))
        raise InputError(f"{report.file} holds {count:,} conversations: choose one with --conversation 1 to {count}")
    if number is not None and not 1 <= number <= count:
        raise InputError(f"--conversation must be from 1 to {count}, not {number}")
    return report.traces[(number or 1) - 1]


def _exported(trace: Trace, report: ImportReport, options: Namespace) -> Exported:
    if options.to == script.NAME:
        return _script(trace, as_json=str(options.out).lower().endswith(".json"))
    if options.to != BUNDLE:
        return export(trace, options.to, language=options.language)
    from traces.bundle import bundle

    return bundle(trace, report)


def _script(trace: Trace, *, as_json: bool) -> Exported:
    """A script: YAML, or JSON where that is wanted or YAML would be too long."""
    clean, removed = without_secrets(trace)
    text, ending = script_text(script_data(clean), as_json=as_json)
    return Exported(text.encode(), file_name(clean, f".script{ending}"), script.MIME, removed, script.losses(clean))


def _files(exported: Exported, options: Namespace) -> Iterator[Exported]:
    """What is written: the export, or of a test each of its two files."""
    if options.to == regression.NAME:
        if options.out == _STDOUT:
            raise InputError(f"--to {regression.NAME} writes two files: name a folder, or the file of the test")
        _make_folder(options.out)
        with zipfile.ZipFile(io.BytesIO(exported.data)) as archive:
            yield from (replace(exported, data=archive.read(name), name=name) for name in archive.namelist())
    else:
        yield exported


def _make_folder(out: str | None) -> None:
    """What is not the name of a test's file is the folder for it and its script."""
    if out and not out.endswith(".py"):
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the folder {out} cannot be made: {error.strerror}") from error


def _replayed(exported: Exported) -> Iterator[str]:
    """How far a replay of what was written is the recorded run, line by line."""
    replayed = replay(parse_script(exported.data.decode(), exported.name))
    count = len(replayed.trace.messages)
    if not count:
        yield "  the conversation is empty: there is nothing that the script could say"
        return
    same = "is the recorded run" if not replayed.differences else "differs from the recorded run:"
    yield f"  its replay, {count:,} message{'' if count == 1 else 's'}, {same}"
    for sentence in [*map(str, replayed.differences), *replayed.remarks][:_SHOWN]:
        yield f"    {sentence}"
    left = len(replayed.differences) + len(replayed.remarks) - _SHOWN
    if left > 0:
        yield f"    and {left:,} more"


def _write(exported: Exported, out: str | None, force: bool) -> None:
    if out == _STDOUT:
        say_bytes(exported.data)
        return
    path = _path(exported, out)
    try:
        if force and path.parent.is_dir():
            write_whole(path, exported.data)
        else:
            write_new(path, exported.data)
    except FileExistsError as error:
        raise InputError(f"{path} is there already; --force replaces it") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from error
    say(printable(str(path)))


def _path(exported: Exported, out: str | None) -> Path:
    """Where an export goes. What had to become JSON, and the second file of a test, keep their own ending."""
    path = Path(out) if out else Path(exported.name)
    if path.is_dir():
        return path / exported.name
    ending = Path(exported.name).suffix
    if ending == ".json" and path.suffix in (".yaml", ".yml", ".py"):
        if path.suffix != ".py":
            tell(printable(f"{PROG}: the script is too long for YAML and is written as JSON"))
        return path.with_suffix(ending)
    return path


def _remarks(exported: Exported) -> None:
    lines = [f"  {sentence}" for sentence in exported.lost]
    if exported.removed:
        count = len(exported.removed)
        lines.append(f"  {count:,} secret{'' if count == 1 else 's'} taken out:")
        for item in exported.removed[:_SHOWN]:
            size = "" if item.length is None else f", {item.length:,} characters"
            lines.append(f"    {item.kind} at {item.where}{size}")
        if count > _SHOWN:
            lines.append(f"    and {count - _SHOWN:,} more")
    if lines:
        tell(printable("\n".join(lines)))
