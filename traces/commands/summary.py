"""``python -m traces summary FILE... [--json]``: count what trace files hold.

Exit code 0: every file opened. 1: some file did not open; standard error says why, with ``--json`` its entry.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from agent import jsontext
from agent.console import DONE, FAILED, printable, say, tell
from traces.commands.aligned import aligned
from traces.commands.files import add_files, for_each
from traces.commands.names import PROG
from traces.report import ImportReport
from traces.summary import FileSummary, TraceSummary, summarise

_COLUMNS = ("title", "messages", "steps", "calls", "results", "unpaired", "errors", "tokens", "outcome")
_TITLE_WIDTH = 48
_UNKNOWN = "-"


def add(commands: Any) -> None:
    """Add the command to the parser's sub-commands."""
    summary = commands.add_parser(
        "summary",
        help="count messages, calls, results and tokens of trace files",
        description="Count messages, calls, results and tokens of trace files. Exit code 1: some file did not open.",
    )
    add_files(summary)
    summary.add_argument("--json", action="store_true", help="print one JSON array")
    summary.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Count what files hold; gives the exit code."""
    entries: list[dict[str, Any]] = []

    def look(file: FileSummary) -> int:
        if options.json:
            entries.append(file.to_dict())
        else:
            _show(file)
        return FAILED if file.error else DONE

    code = for_each(options.files, options.format, look)
    if options.json:
        say(jsontext.dumps(entries, indent=True))
    return code


def _show(file: FileSummary) -> None:
    """For people: the counts are results; why a file did not open is something said about them."""
    if file.error is not None:
        unread = file.report.unread[1:] if file.report else []  # the first is the error
        tell(printable("\n".join([f"{PROG}: {file.error}", *_remarks(file.report, unread)])))
    elif file.report is not None:
        say(printable("\n".join([*_counts(file.file, file.report), *_remarks(file.report, file.report.unread)])))


def _counts(name: str, report: ImportReport) -> list[str]:
    """A line for the file and one for each of its conversations."""
    count = f"{len(report.traces):,} conversation{'' if len(report.traces) == 1 else 's'}"
    rows = [_row(summarise(trace)) for trace in report.traces]
    return [f"{name}: {report.format}, {count}", *(aligned([_COLUMNS, *rows]) if rows else [])]


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
