"""How often the linter is right: its findings over a folder of real traces, beside verdicts given by reading them.

Usage: ``python tests/samples/precision.py FOLDER``. The verdicts stand in ``lint_verdicts.json``: one for all findings
of a rule in a file, with the exceptions listed. Nothing of the files themselves is kept there.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent.errors import InputError
from traces.lint import RULES, Finding, Severity, lint
from traces.opening import read_file

VERDICTS = Path(__file__).with_name("lint_verdicts.json")


@dataclass
class Score:
    """The findings of one rule, or of one severity."""

    right: int = 0
    wrong: int = 0
    unread: list[str] = field(default_factory=list)
    """Findings without a verdict: where they are."""

    @property
    def precision(self) -> float | None:
        """The share of the findings with a verdict that are right; None where there are none."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None


def findings(folder: Path) -> Iterator[tuple[str, int, Finding]]:
    """Every finding: name of the file, position of the conversation in it, the finding."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        try:
            report = read_file(path)
        except InputError:
            continue
        for number, trace in enumerate(report.traces):
            for finding in lint(trace):
                yield path.name, number, finding


def scores(folder: Path) -> dict[str, Score]:
    """The score of each rule that found something."""
    verdicts = {(entry["file"], entry["rule"]): entry for entry in json.loads(VERDICTS.read_text(encoding="utf-8"))}
    found: dict[str, Score] = {}
    for file, number, finding in findings(folder):
        score = found.setdefault(finding.rule.name, Score())
        verdict = verdicts.get((file, finding.rule.name))
        if verdict is None:
            score.unread.append(f"{file} conversation {number}: {finding.sentence}")
        elif (verdict["verdict"] == "right") == ([number, finding.message] not in verdict.get("except", [])):
            score.right += 1
        else:
            score.wrong += 1
    return found


def of_severity(found: dict[str, Score], severity: Severity) -> Score:
    """The scores of all rules of a severity together."""
    total: Counter[str] = Counter()
    unread: list[str] = []
    for name, score in found.items():
        if RULES[name].severity is severity:
            total += Counter(right=score.right, wrong=score.wrong)
            unread += score.unread
    return Score(total["right"], total["wrong"], unread)


def main() -> None:
    """Print the table."""
    found = scores(Path(sys.argv[1]))
    rows = [(f"  {name}", found[name]) for name in RULES if name in found]
    rows += [(f"all {severity}s", of_severity(found, severity)) for severity in Severity]
    print(f"{'rule':28} {'right':>6} {'wrong':>6} {'unread':>7} {'precision':>10}")
    for name, score in rows:
        precision = "-" if score.precision is None else f"{score.precision:.1%}"
        print(f"{name:28} {score.right:6} {score.wrong:6} {len(score.unread):7} {precision:>10}")
    for score in found.values():
        for place in score.unread:
            print(f"no verdict: {place}")


if __name__ == "__main__":
    main()
