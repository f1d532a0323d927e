"""What stands in the folder of an experiment that is over: the table, the numbers, and the report as one page."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agent.errors import InputError
from tests.traces.experiments.found import BLANKED, EXPERIMENT, NASTY, rows, summary
from tests.traces.experiments.trials import design, found, successes
from traces.experiments.cells import in_order
from traces.experiments.design.experiment import Experiment
from traces.experiments.design.file import parse_design
from traces.experiments.folder import Folder
from traces.experiments.measuring.twin import twin_of
from traces.experiments.report.page import report_page
from traces.experiments.report.runs import MOST_ROWS
from traces.experiments.report.runs_csv import runs_csv
from traces.experiments.report.writing import write_report
from traces.experiments.rows import COLUMNS, Row
from traces.experiments.running.creating import State
from traces.experiments.running.session import Session, create

STATE = State("0123456789ab", "2026-11-30T12:00:00.000Z", {"python": "3.11.7", "distributed": None}, {"a.yaml": "f0f0"})
DESIGN = """\
title: Does it need its results?
subjects: [code_word]
conditions: [blank_results, drop_pairs]
repeats: 8
seed: 3
"""


class _Page(HTMLParser):
    """What a browser makes of a page: its elements, its addresses and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data", "srcset")]

    def handle_data(self, data: str) -> None:
        (self.scripts if self.cdata_elem == "script" else self.texts).append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def page_of(language: str = "en", runs: list[Row] | None = None, experiment: Experiment = EXPERIMENT) -> _Page:
    data = report_page(experiment, rows() if runs is None else runs, summary(), STATE, language)
    return _Page(data.decode())


@pytest.fixture(scope="module")
def page() -> _Page:
    return page_of()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A scripted experiment that is over, with its report."""
    folder = create(tmp_path_factory.mktemp("lab") / "experiment", parse_design(DESIGN), Path.cwd())
    _run(folder)
    return folder


def _run(folder: Folder) -> None:
    session = Session(folder)
    session.start()
    session.wait()
    write_report(folder)


def test_the_page_asks_for_nothing_and_allows_its_own_scripts_alone(page: _Page) -> None:
    links = {address for address in page.addresses if not address.startswith("traces/")}
    assert links == {"data:,"}
    assert page.tags.count("script") == 3
    policy = report_page(EXPERIMENT, rows(), summary(), STATE).decode()[:1500]
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert not re.search(r"https?://", " ".join(page.addresses))


def test_names_and_answers_are_text_and_never_elements(page: _Page) -> None:
    assert "img" not in page.tags
    assert NASTY in page.text
    assert f"=BANANA {NASTY}" in page.text
    assert "</script" not in page.scripts[0]
    assert "<" not in page.scripts[0]


def test_characters_that_no_page_can_hold_are_replaced() -> None:
    odd = [replace(rows()[0], answer="a\0b\ud800c\x1b")]
    assert "a\ufffdb\ufffdc\ufffd" in page_of(runs=odd).text


def test_verdicts_come_first_then_stability_then_the_numbers(page: _Page) -> None:
    heads = ["What was found", "How stable the baseline is", "Pictures", "Every arm", "Every difference"]
    places = [page.text.index(head) for head in heads]
    assert places == sorted(places)
    assert [word in page.text for word in ("● effect", "■ no effect", "○ inconclusive", "✕ no claim")] == [True] * 4


def test_every_setting_of_a_model_is_told_and_what_is_not_set_says_so(page: _Page) -> None:
    assert "Temperature not set: whatever the server takes by itself" in page.text
    assert "Most tokens of a reply 150" in page.text
    assert "http://127.0.0.1:8080/v1" in page.text
    assert "These models are fake and follow rules written by hand, or replies that were recorded: script." in page.text


def test_each_mode_says_what_it_can_and_cannot_show(page: _Page) -> None:
    assert "A decision rerun asks for one reply" in page.text
    assert "A full run begins with the user's message" in page.text
    assert "A continued run takes" not in page.text


def test_conditions_are_told_in_sentences_with_their_parameters(page: _Page) -> None:
    assert '{"tools": ["read_file"]}' in page.text
    assert "The next tool that runs raises an exception. Armed at step 2." in page.text
    assert '{"count": 2}' in page.text


def test_each_run_has_a_link_to_its_trace_and_many_runs_are_cut(page: _Page) -> None:
    assert [address for address in page.addresses if address.startswith("traces/")] == [
        f"traces/{row.trace_id}.json" for row in rows()
    ]
    many = [replace(rows()[0], repeat=n, trace_id=f"{n:012x}") for n in range(MOST_ROWS + 5)]
    long = page_of(runs=many)
    assert sum(address.startswith("traces/") for address in long.addresses) == MOST_ROWS
    assert "The first 1,000 of 1,005 runs" in long.text


def test_an_odd_id_cannot_leave_the_folder() -> None:
    odd = [replace(rows()[0], trace_id="../../etc/javascript:x")]
    assert "traces/..%2F..%2Fetc%2Fjavascript%3Ax.json" in page_of(runs=odd).addresses


@pytest.mark.parametrize("language", ["en", "zh"])
def test_runs_that_are_all_the_same_are_not_held_against_chance(language: str) -> None:
    runs = [*successes("baseline", [1] * 8), *successes("same", [1] * 8), *successes("other", [0] * 8)]
    told = _Page(report_page(design(runs), runs, found(runs), STATE, language).decode()).text
    said = {"en": "very repeat was the same, here and in the baseline", "zh": "每次重复都相同，这里和基线都是如此"}
    assert told.count(said[language]) == 2
    for wrong in ("more than chance", "Chance is not ruled out", "settle it", "超出偶然", "运行太少"):
        assert wrong not in told


def test_missing_runs_are_said_at_the_head() -> None:
    text = page_of(runs=rows()[:5]).text
    assert f"Only 5 of {EXPERIMENT.size} runs are here." in text
    assert text.index("Only 5 of") < text.index("What was found", text.index("Asked"))


def test_the_page_stays_small_enough_to_send() -> None:
    many = [
        replace(row, condition=condition.name, repeat=n, trace_id=f"{n:012x}", strip="ct" * 100, answer="word " * 400)
        for n in range(150)
        for condition in EXPERIMENT.conditions
        for row in rows()[:2]
    ]
    assert len(report_page(EXPERIMENT, many, summary(), STATE)) < 6_000_000


def test_the_page_speaks_chinese_and_leaves_names_as_they_are() -> None:
    page = page_of("zh")
    assert "发现了什么" in page.text
    assert "温度 未设置：由服务器自己决定" in page.text
    assert BLANKED in page.text
    assert "What was found" not in page.text
    with pytest.raises(InputError, match="choose one of en, zh"):
        page_of("fr")


def test_the_folder_holds_the_table_the_numbers_the_report_and_a_test(finished: Folder) -> None:
    table = list(csv.DictReader(io.StringIO(finished.table.read_bytes().decode("utf-8-sig"))))
    assert [(row["condition"], row["seed"]) for row in table[:4]] == [
        ("baseline", "3"), ("blank_results", "3"), ("drop_pairs", "3"), ("blank_results", "4"),
    ]  # fmt: skip
    numbers = json.loads(finished.summary.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert {each["condition"]: each["finding"] for each in numbers["verdicts"]} == {
        "blank_results": "effect",
        "drop_pairs": "effect",
    }
    assert finished.report.stat().st_size < 6_000_000
    assert finished.test.read_text().startswith('"""What the experiment')


def test_every_link_of_the_report_leads_to_a_trace(finished: Folder) -> None:
    page = _Page(finished.report.read_text())
    links = [address for address in page.addresses if address.startswith("traces/")]
    assert len(links) == 24
    assert all((finished.path / link).is_file() for link in links)


def _without_ids_and_times(folder: Folder) -> Iterator[str]:
    for path in (folder.table, folder.summary, folder.test, folder.report):
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", path.read_text())
        yield re.sub(r"\b[0-9a-f]{12}\b", "ID", text)


def test_the_same_design_and_seeds_give_the_same_bytes_but_for_ids_and_times(finished: Folder, tmp_path: Path) -> None:
    again = create(tmp_path / "again", parse_design(DESIGN), Path.cwd())
    _run(again)
    assert list(_without_ids_and_times(again)) == list(_without_ids_and_times(finished))


def test_the_table_is_in_the_order_of_the_design_and_runs_nothing() -> None:
    shuffled = rows()[::-1]
    assert in_order(EXPERIMENT, shuffled) == rows()
    lines = list(csv.reader(io.StringIO(runs_csv(EXPERIMENT, shuffled).decode("utf-8-sig"))))
    assert lines[0] == list(COLUMNS)
    answers = [line[lines[0].index("answer")] for line in lines[1:]]
    assert answers[0] == f"'=BANANA {NASTY}"


def test_a_run_has_the_baseline_run_of_its_task_model_and_repeat_as_its_twin() -> None:
    found = rows()
    row = next(each for each in found if each.condition == BLANKED and each.model == "qwen" and each.repeat == 2)
    twin = twin_of(row, found)
    assert twin is not None
    assert (twin.condition, twin.subject, twin.model, twin.repeat) == ("baseline", row.subject, "qwen", 2)
    assert twin_of(twin, found) is None
    assert twin_of(row, [each for each in found if each.repeat != 2]) is None
