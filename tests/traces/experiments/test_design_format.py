"""The document of the design format tells every key of the fields, and its examples are designs that can be run."""

import re
from pathlib import Path

import pytest

import traces.experiments
from agent.faults import FAULTS
from tests.formats import Document, keys_of
from traces.experiments.design.fields import DesignFields
from traces.experiments.design.file import design_problems, design_text, parse_design
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.subjects.task import load_subject

DOCUMENT = Document(Path(traces.experiments.__file__).parent / "FORMAT.md")
TEXT, EXAMPLES, TABLES = DOCUMENT.text, DOCUMENT.examples, DOCUMENT.tables
KEYS = keys_of(DesignFields)


def listed_at(key):
    """The words of the longest row of a key."""
    rows = re.findall(rf"^\| `{key}` \|.*$", TEXT, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", max(rows, key=len)))


@pytest.mark.parametrize(("group", "key"), KEYS)
def test_every_key_is_told_in_a_table_and_shown_in_an_example(group, key):
    assert f"`{key}`" in TABLES
    assert any(re.search(rf"\b{key}:", example) for example in EXAMPLES)


def test_every_key_of_the_tables_is_one():
    assert set(re.findall(r"`(\w+)`", TABLES)) <= {key for _, key in KEYS}


def test_the_words_that_a_key_may_hold_are_told():
    assert set(OUTCOMES) <= listed_at("outcome")
    assert set(FAULTS) <= listed_at("kind")


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that the examples name."""
    (tmp_path / "my_script.yaml").write_text("turns: [Hello.]")
    sample = Path(traces.experiments.__file__).parents[1] / "samples" / "calc.json"
    (tmp_path / "my_run.json").write_bytes(sample.read_bytes())
    return tmp_path


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_is_a_design_without_a_mistake_whose_subjects_can_be_loaded(example, folder):
    assert design_problems(example, base=folder) == []
    experiment = parse_design(example)
    assert parse_design(design_text(experiment)) == experiment
    for subject in experiment.subjects:
        assert load_subject(subject, folder).tools() is not None


def test_the_example_in_python_runs():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    printed = []
    exec(code, {"print": lambda *values: printed.append(values)})
    assert printed == [(20, ["baseline", "blank_results"])]


def test_the_links_lead_somewhere():
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in TEXT.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= headings
