"""Command line: ``python -m traces summary FILE... [--json]``.

Exit code 0: every file opened. 1: some file did not open; standard error says why, with ``--json`` its entry. 2: the
command line cannot be used, or the output cannot be written. 130: interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent import jsontext
from agent.console import DONE, FAILED, Parser, command, printable, say, tell
from traces.report import ImportReport
from traces.summary import FileSummary, TraceSummary, summarise, summarise_file

PROG = "python -m traces"
_COLUMNS = ("title", "messages", "steps", "calls", "results", "unpaired", "errors", "tokens", "outcome")
_TITLE_WIDTH = 48
_UNKNOWN = "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    return command(PROG, lambda: _summary(arguments))


def _summary(arguments: Sequence[str] | None) -> int:
    """Count what files hold. The only command, until there is a second one."""
    options = _parser().parse_args(arguments)
    files = [summarise_file(path) for path in options.files]
    if options.json:
        say(jsontext.dumps([file.to_dict() for file in files], indent=True))
    else:
        _show(files)
    return FAILED if any(file.error for file in files) else DONE


def _parser() -> Parser:
    parser = Parser(prog=PROG, description="Read saved traces of agents.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    summary = commands.add_parser(
        "summary",
        help="count messages, calls, results and tokens of trace files",
        description="Count messages, calls, results and tokens of trace files. Exit code 1: some file did not open.",
    )
    summary.add_argument("files", nargs="+", metavar="FILE", help="any supported trace file")
    summary.add_argument("--json", action="store_true", help="print one JSON array")
    return parser


def _show(files: list[FileSummary]) -> None:
    """For people: the counts are results; why a file did not open is something said about them."""
    for file in files:
        if file.error is not None:
            unread = file.report.unread[1:] if file.report else []  # the first is the error
            tell(printable("\n".join([f"{PROG}: {file.error}", *_remarks(file.report, unread)])))
        elif file.report is not None:
            say(printable("\n".join([*_counts(file.file, file.report), *_remarks(file.report, file.report.unread)])))


def _counts(name: str, report: ImportReport) -> list[str]:
    """A line for the file and one for each of its conversations."""
    count = f"{len(report.traces):,} conversation{'' if len(report.traces) == 1 else 's'}"
    rows = [_row(summarise(trace)) for trace in report.traces]
    return [f"{name}: {report.format}, {count}", *(_aligned([_COLUMNS, *rows]) if rows else [])]


def _remarks(report: ImportReport | None, unread: Sequence[str]) -> list[str]:
    if report is None:
        return []
    bad_lines = [f"line {bad.line}: {bad.error}" for bad in report.bad_lines]
    return [f"  {remark}" for remark in (*bad_lines, *unread, *report.repaired, *report.warnings)]


def _row(summary: TraceSummary) -> tuple[str, ...]:
    title = " ".join(summary.title.split()) or summary.trace_id
    numbers = (summary.messages, summary.steps, summary.tool_calls, summary.tool_results)
    total = summary.tokens.total
    return (
        title if len(title) <= _TITLE_WIDTH else title[: _TITLE_WIDTH - 1] + "…",
        *(str(number) for number in (*numbers, summary.unpaired_calls, summary.errors)),
        _UNKNOWN if total is None else f"{total:,}",
        summary.outcome or _UNKNOWN,
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(("  " + "  ".join([first, *others])).rstrip())
    return lines
