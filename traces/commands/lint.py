"""``python -m traces lint FILE... [--json] [--rule NAME]``: what is wrong with traces, for people and for CI.

Exit code 0: every file opened and no error was found. 1: some file did not open, or some finding is an error.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.console import DONE, FAILED, printable, say, tell
from agent.errors import InputError
from agent.trace import Trace
from traces.commands.names import PROG
from traces.lint import RULES, Finding, Severity, lint
from traces.opening import read_file


@dataclass(frozen=True, slots=True)
class _Linted:
    """What was found in one file."""

    file: str
    traces: list[tuple[Trace, list[Finding]]]
    error: str | None = None
    """Why the file did not open."""

    @property
    def failed(self) -> bool:
        return self.error is not None or any(f.severity is Severity.ERROR for _, found in self.traces for f in found)

    def to_dict(self) -> dict[str, Any]:
        traces = [
            {"trace_id": trace.trace_id, "title": trace.title, "findings": [each.to_dict() for each in found]}
            for trace, found in self.traces
        ]
        return {"file": self.file, "traces": traces, **({} if self.error is None else {"error": self.error})}


def add(commands: Any) -> None:
    """Add the command to the parser's sub-commands."""
    parser = commands.add_parser(
        "lint",
        help="say what is wrong with traces",
        description="Say what is wrong with traces, where, what it cost and how to mend it. Exit code 1: some finding "
        "is an error, or some file did not open.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="any supported trace file")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument(
        "--rule", action="append", choices=sorted(RULES), metavar="NAME", help="only this rule; may be given again"
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Look at the files; gives the exit code."""
    files = [_lint(path, options.rule or RULES) for path in options.files]
    if options.json:
        say(jsontext.dumps([file.to_dict() for file in files], indent=True))
    else:
        for file in files:
            _show(file)
    return FAILED if any(file.failed for file in files) else DONE


def _lint(path: str, rules: Any) -> _Linted:
    try:
        report = read_file(Path(path), path)
    except InputError as error:
        return _Linted(path, [], str(error))
    if report.format is None:
        return _Linted(path, [], next(iter(report.unread), f"{path}: it holds nothing that could be read"))
    return _Linted(path, [(t, [f for f in lint(t) if f.rule.name in rules]) for t in report.traces])


def _show(file: _Linted) -> None:
    if file.error is not None:
        tell(printable(f"{PROG}: {file.error}"))
        return
    found = [each for _, findings in file.traces for each in findings]
    counts = [f"{number} {severity}{'' if number == 1 else 's'}" for severity, number in _counts(found)]
    say(printable(f"{file.file}: {', '.join(counts) or 'nothing found'}"))
    for trace, findings in file.traces:
        if findings and len(file.traces) > 1:
            say(printable(f"  {' '.join(trace.title.split()) or trace.trace_id}"))
        for finding in findings:
            say(printable("\n".join(_lines(finding))))


def _counts(found: list[Finding]) -> list[tuple[str, int]]:
    counts = [(str(severity), sum(each.severity is severity for each in found)) for severity in Severity]
    return [(severity, number) for severity, number in counts if number]


def _lines(finding: Finding) -> list[str]:
    about = "about " if finding.cost_estimated else ""
    cost = [f"{about}{finding.cost_tokens:,} tokens"] if finding.cost_tokens else []
    if finding.cost_calls:
        cost.append("1 call" if finding.cost_calls == 1 else f"{finding.cost_calls} calls")
    where = "run" if finding.message is None else f"message {finding.message + 1}"
    price = f" (cost: {', '.join(cost)})" if cost else ""
    return [f"  {where}: {finding.severity} {finding.rule.name}: {finding.sentence}{price}", f"    {finding.rule.fix}"]
