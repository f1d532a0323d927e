"""``python -m traces lint FILE... [--json] [--rule NAME]``: what is wrong with traces, for people and for CI.

Exit code 0: every file opened and no error was found. 1: some file did not open, or some finding is an error.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from agent import jsontext
from agent.console import DONE, FAILED, printable, say, tell
from agent.trace import Trace
from traces.commands.files import add_files, for_each
from traces.commands.names import PROG
from traces.lint import RULES, Finding, Severity, lint
from traces.summary import FileSummary

_Linted = list[tuple[Trace, list[Finding]]]


def add(commands: Any) -> None:
    """Add the command to the parser's sub-commands."""
    parser = commands.add_parser(
        "lint",
        help="say what is wrong with traces",
        description="Say what is wrong with traces, where, what it cost and how to mend it. Exit code 1: some finding "
        "is an error, or some file did not open.",
    )
    add_files(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument(
        "--rule", action="append", choices=sorted(RULES), metavar="NAME", help="only this rule; may be given again"
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Look at the files; gives the exit code."""
    rules = options.rule or RULES
    entries: list[dict[str, Any]] = []

    def look(file: FileSummary) -> int:
        traces = file.report.traces if file.report and file.error is None else []
        linted = [(trace, [found for found in lint(trace) if found.rule.name in rules]) for trace in traces]
        if options.json:
            entries.append(_entry(file, linted))
        else:
            _show(file, linted)
        bad = any(each.severity is Severity.ERROR for _, found in linted for each in found)
        return FAILED if bad or file.error is not None else DONE

    code = for_each(options.files, options.format, look)
    if options.json:
        say(jsontext.dumps(entries, indent=True))
    return code


def _entry(file: FileSummary, linted: _Linted) -> dict[str, Any]:
    traces = [
        {"trace_id": trace.trace_id, "title": trace.title, "findings": [each.to_dict() for each in found]}
        for trace, found in linted
    ]
    return {"file": file.file, "traces": traces, **({} if file.error is None else {"error": file.error})}


def _show(file: FileSummary, linted: _Linted) -> None:
    if file.error is not None:
        tell(printable(f"{PROG}: {file.error}"))
        return
    found = [each for _, findings in linted for each in findings]
    counts = [f"{number} {severity}{'' if number == 1 else 's'}" for severity, number in _counts(found)]
    say(printable(f"{file.file}: {', '.join(counts) or 'nothing found'}"))
    for trace, findings in linted:
        if findings and len(linted) > 1:
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
