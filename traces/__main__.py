"""Command line: ``python -m traces summary FILE... [--json]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from agent import jsontext
from traces.summary import FileSummary, TraceSummary, summarise, summarise_file

_COLUMNS = ("title", "messages", "steps", "calls", "results", "unpaired", "errors", "tokens", "outcome")
_TITLE_WIDTH = 48
_UNKNOWN = "-"


class _Parser(argparse.ArgumentParser):
    """One sentence for bad usage, and exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line."""
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code: 0, or 1 when some file did not open."""
    parser = _Parser(prog="python -m traces", description="Read saved traces of agents.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    summary = commands.add_parser("summary", help="count messages, calls, results and tokens of trace files")
    summary.add_argument("files", nargs="+", metavar="FILE", help="any supported trace file")
    summary.add_argument("--json", action="store_true", help="print one JSON array")
    options = parser.parse_args(arguments)
    files = [summarise_file(path) for path in options.files]
    text = jsontext.dumps([file.to_dict() for file in files], indent=True) if options.json else _table(files)
    _print(text)
    return 1 if any(file.report is None for file in files) else 0


def _print(text: str) -> None:
    """UTF-8 whatever the terminal's locale is; a reader that stops early (``| head``) is no error."""
    try:
        sys.stdout.buffer.write(jsontext.clean(text + "\n").encode())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        sys.stderr.close()


def _table(files: list[FileSummary]) -> str:
    """For people: a line for each file and one for each of its conversations."""
    lines: list[str] = []
    for file in files:
        if file.report is None:
            lines.append(f"{file.file}: {file.error}")
            continue
        report = file.report
        count = f"{len(report.traces):,} conversation{'' if len(report.traces) == 1 else 's'}"
        lines.append(f"{file.file}: {report.format or 'unknown format'}, {count}")
        rows = [_row(summarise(trace)) for trace in report.traces]
        lines += _aligned([_COLUMNS, *rows]) if rows else []
        lines += [f"  line {bad.line}: {bad.error}" for bad in report.bad_lines]
        lines += [f"  {sentence}" for sentence in (*report.unread, *report.repaired, *report.warnings)]
    return "\n".join(lines)


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


if __name__ == "__main__":
    sys.exit(main())
