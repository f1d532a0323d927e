"""The document of the script format tells every key of the fields, and its examples are scripts that play."""

import re
from pathlib import Path
from typing import get_args

import pytest

import agent.scripts
from agent.faults import FAULTS
from agent.interventions import KINDS
from agent.scripts import parse_script, play
from agent.scripts.checking import check_all
from agent.scripts.fields import ScriptFields
from agent.scripts.turn_fields import ErrorFields
from tests.formats import Document, keys_of

DOCUMENT = Document(Path(agent.scripts.__file__).parent / "FORMAT.md")
TEXT, EXAMPLES, TABLES = DOCUMENT.text, DOCUMENT.examples, DOCUMENT.tables
KEYS = keys_of(ScriptFields)


@pytest.mark.parametrize(("group", "key"), KEYS)
def test_every_key_is_told_in_a_table_and_shown_in_an_example(group, key):
    assert f"`{key}`" in TABLES
    if key != "recorded":
        assert any(re.search(rf"\b{key}:", example) for example in EXAMPLES), "an example shows it"


def test_every_key_of_the_tables_is_one():
    assert set(re.findall(r"`(\w+)`", TABLES)) <= {key for _, key in KEYS}


def test_the_words_that_a_key_may_hold_are_told():
    kinds = get_args(ErrorFields.model_fields["kind"].annotation)
    faults = [kind for kind, about in FAULTS.items() if about.group in ("tool", "message", "switch")]
    (errors,) = re.findall(r"^\| `kind` \|.*provider.*$", TEXT, re.MULTILINE)
    (listed,) = re.findall(r"^\| `kind` \|.*tool_raises.*$", TEXT, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", errors)) == {"kind", *kinds}
    assert set(re.findall(r"`(\w+)`", listed)) == {"kind", *faults}


@pytest.mark.parametrize("kind", KINDS)
def test_every_intervention_is_told_with_its_parameters(kind):
    told = TEXT[TEXT.index("### Interventions") : TEXT.index("### Recordings")]
    (line,) = re.findall(rf"^- (?:`\w+`, )*`{kind}`.*?(?=^- |^$)", told, re.MULTILINE | re.DOTALL)
    own = KINDS[kind].takes.items()
    assert {word for name, param in own for word in (name, *param.choices)} <= set(re.findall(r"`(\w+)`", line))
    assert all(f"`{name}`" in told for name in KINDS[kind].selects)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_is_a_script_without_a_mistake_and_plays(example):
    assert check_all(example) == []
    script = parse_script(example)
    assert script.warnings == ()
    loop = script.loop(pace=0)
    play(loop, script)
    assert loop.stop_reason is not None
    assert not any("holds no result" in message.text for message in loop.messages)


def test_the_example_in_python_runs():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    printed = []
    exec(code.replace("order.yaml", "order"), {"print": printed.append})
    assert printed == [
        "Your order A1001 (two packs of green tea, 250 g) has been shipped and should arrive on 2 December 2026."
    ]


def test_the_links_lead_somewhere():
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in TEXT.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= headings
