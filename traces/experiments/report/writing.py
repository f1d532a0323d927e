"""What stands in the folder of an experiment when it is over: the table, the numbers, the report and a test."""

from __future__ import annotations

from collections.abc import Iterable

from agent import jsontext
from agent.tools import Tool
from traces.experiments.analysis.analyse import analyse
from traces.experiments.cells import in_order
from traces.experiments.design.file import read_design
from traces.experiments.folder import Folder
from traces.experiments.report.page import report_page
from traces.experiments.report.pinning import finding_test
from traces.experiments.report.runs_csv import runs_csv
from traces.experiments.running.creating import read_state
from traces.experiments.running.ledger import read_rows
from traces.keeping import write_whole


def write_report(folder: Folder, language: str = "en", own: Iterable[Tool] = ()) -> None:
    """Write ``runs.csv``, ``summary.json``, ``test_finding.py`` and ``report.html`` from the design and the ledger.

    The same design and seeds give the same bytes with scripted models, but for ids and times.

    Args:
        folder: of the experiment, whether it is over or not.
        language: of the report; see :data:`traces.export.words.LANGUAGES`.
        own: tools of one's own that the design names.

    Raises:
        InputError: the design or the state cannot be read, the folder cannot be written, or there is no such language.
    """
    experiment, state = read_design(folder.design, own), read_state(folder)
    rows = in_order(experiment, read_rows(folder))
    summary = analyse(experiment, rows)
    page = report_page(experiment, rows, summary, state, language)
    write_whole(folder.table, runs_csv(experiment, rows))
    write_whole(folder.summary, jsontext.dumps(summary.to_dict(), indent=True).encode() + b"\n")
    write_whole(folder.test, finding_test(experiment, rows, summary).encode())
    write_whole(folder.report, page)
