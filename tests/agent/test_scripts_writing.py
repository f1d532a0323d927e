"""What is written as a script reads back as the same value, and looks as a person would write it."""

import json
import time

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.scripts import scenarios, yaml_source
from agent.scripts.source import DEEPEST, read, text_of
from agent.scripts.writing import to_json, to_yaml

DATA = {
    "title": "Two sums: one after the other",
    "task": "请计算 (2+3)*4\n谢谢\n",
    "system": "Be brief.",
    "tools": [
        "add",
        {"name": "look_up", "parameters": {"type": "object", "properties": {}}, "results": ["a", {"result": 1}]},
    ],
    "turns": [
        {"calls": [{"name": "add", "arguments": {"a": 2, "b": 3.5}, "id": "c1"}], "usage": {"prompt_tokens": 6}},
        {
            "calls": [{"name": "write", "arguments": {"path": "x.py", "content": "def f():\n    return 1"}}],
            "before": [],
        },
        {"rules": [{"when": {"result": "missing"}, "text": "no"}], "default": {"text": 'He said "x: y" # twice'}},
        "Done.",
    ],
    "recorded": {"messages": [{"role": "user", "head": "one\ntwo"}, {"role": "assistant", "head": "x" * 200}]},
}  # fmt: skip
WRITTEN = f"""\
title: "Two sums: one after the other"
task: |
  请计算 (2+3)*4
  谢谢
system: Be brief.
tools:
  - add
  - name: look_up
    parameters: {{type: object, properties: {{}}}}
    results:
      - a
      - {{result: 1}}
turns:
  - calls:
      - {{name: add, arguments: {{a: 2, b: 3.5}}, id: c1}}
    usage: {{prompt_tokens: 6}}
  - calls:
      - name: write
        arguments:
          path: x.py
          content: |-
            def f():
                return 1
    before: []
  - rules:
      - when: {{result: missing}}
        text: "no"
    default:
      text: 'He said "x: y" # twice'
  - Done.
recorded:
  messages:
    - {{role: user, head: "one\\ntwo"}}
    - {{role: assistant, head: {"x" * 200}}}
"""


def test_a_script_is_written_as_a_person_would():
    assert to_yaml(DATA) == WRITTEN
    assert list(read(WRITTEN, "x.yaml")) == list(DATA)


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda info: info.name)
def test_every_scenario_reads_back(scenario):
    data = read(text_of(scenario.path), scenario.path.name)
    assert read(to_yaml(data), "x.yaml") == data
    assert read(to_json(data), "x.json") == data


ODD = (
    "1e5", "no", "2026-11-29", "~", "", " ", " a", "a ", "a:", "a: b", "a #b", "#", "-", "- a", "? a", "[a",
    "{", "a,b", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "'", '"', "'a\"b", "\\", "a\\n", "\n", "\n\n",
    "a\n", "a\n\n\n", "\na", " a\nb", "a\n b\n", "a\n \n", "a \nb", "\ta\nb", "a\tb", "a\n\tb", "a\r\nb", "\r",
    "\x00", "\x07", "\x7f", "\x85", "a\x85b", "\u2028", "\ufeff", "\ufffe", "\ud800", "a\udc00b\n", "😀", "---",
    "...", "--- a\n...", "null", "Null", "true", "yes", "NaN", ".inf", "0x1F", "0o7", "010", "1_000", "12:30",
    "=", "<<", "é", "中文：好", "x" * 5000, "x y " * 2000, "a:\nb: c\n", "# a\n# b",
)  # fmt: skip


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize(
    "wrap", [str, lambda x: [x], lambda x: {x: x}, lambda x: {"k": {"v": [x, x]}}, lambda x: [[x]]]
)
def test_odd_texts_read_back_as_they_were(text, wrap):
    value = wrap(text)
    assert read(to_yaml(value), "x.yaml") == value
    assert read(to_json(value), "x.json") == value


@pytest.mark.parametrize("text", [text for text in ODD if "\ud800" not in text and "\udc00" not in text])
def test_other_programs_read_the_same_texts(text):
    assert yaml.safe_load(to_yaml({"a": text, "b": [text]})) == {"a": text, "b": [text]}


_CHARACTERS = st.characters(exclude_categories=()) | st.sampled_from(
    " \n\t\r:#-'\"{}[],&*!|>%@`?\\\x85\u2028\ufeff😀\ud83d\ude00"
)
_TEXTS = st.text(_CHARACTERS, max_size=12) | st.sampled_from(ODD)
_NAMES = st.sampled_from(["turns", "tools", "recorded", "rules", "default"]) | _TEXTS
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
@example({"a": -0.0, "b": 1e16, "c": 1e-7, "d": 10**40})
@settings(max_examples=400, deadline=None)
def test_all_data_of_jsons_types_reads_back_as_it_was(value):
    value = json.loads(json.dumps(value))  # two halves that make one character are that character
    assert read(to_yaml(value), "x.yaml") == value
    assert read(to_json(value), "x.json") == value


def test_what_is_nested_as_deep_as_scripts_may_be_reads_back():
    value = "x"
    for number in range(DEEPEST):
        value = [value] if number % 2 else {"key": value}
    assert read(to_yaml(value), "x.yaml") == value


def test_a_number_that_is_not_finite_becomes_null():
    assert read(to_yaml([float("inf"), float("nan")]), "x.yaml") == [None, None]
    assert read(to_json([float("inf"), 1]), "x.json") == [None, 1]


def test_a_megabyte_is_written_in_a_moment():
    turn = {
        "calls": [{"name": "add", "arguments": {"a": 2, "text": "some words\nand more"}}],
        "usage": {"prompt_tokens": 9},
    }
    data = {"turns": [turn] * 6000}
    begun = time.monotonic()
    text = to_yaml(data)
    assert len(text) > 900_000
    assert time.monotonic() - begun < 5, "some 0.2 s on an idle machine"


def test_without_the_library_in_c_all_is_read_the_same(monkeypatch):
    texts = [*map(text_of, (info.path for info in scenarios())), to_yaml(DATA), to_yaml([*ODD, {"k": {"v": [*ODD]}}])]
    quick = [read(text, "x.yaml") for text in texts]
    monkeypatch.setattr(yaml_source, "_QUICK", yaml_source._CAREFUL)
    assert [read(text, "x.yaml") for text in texts] == quick
