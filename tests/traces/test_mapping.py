"""A file of an unknown shape is read by columns: those that are guessed, those that are named, those that were kept."""

import json

import pytest
from hypothesis import given

from agent.errors import InputError
from tests.traces.readers.damage import damaged, opened
from traces.mapping import Columns, conversations, fits, forget, keep, kept, mapped, value_at
from traces.mapping_guess import guess, list_paths
from traces.summary import summarise

CHAT = {
    "run": {
        "turns": [
            {"speaker": "Customer", "utterance": "Is it open?", "ts": 1767600000},
            {
                "speaker": "Bot",
                "utterance": "Looking.",
                "tool_calls": [{"id": "c1", "name": "look", "args": {"where": "hall"}}],
                "tokens": {"input_tokens": 50, "output_tokens": 5},
                "ts": 1767600002,
            },
            {"speaker": "env", "utterance": "open", "call_id": "c1"},
            {"speaker": "debug", "utterance": "gc ran"},
        ]
    }
}
STEPS = [
    {
        "id": 1,
        "steps": [{"thought": "I look.", "action": "look[hall]", "observation": "open"}, {"action": {"tool": "end"}}],
    }
]
ROWS = [{"question": "2+3?", "response": "5"}, {"question": "3+3?", "response": "6"}]


def said(report):
    return [(message.role, message.text) for trace in report.traces for message in trace.messages]


def test_turns_with_a_speaker_are_guessed_and_read_with_their_numbers():
    report = opened(CHAT)
    columns = guess(report.tree)
    assert (columns.records, columns.role, columns.content) == ("run.turns", "speaker", "utterance")
    made = mapped(report, columns)
    assert made.format == "mapped"
    assert said(made)[:3] == [("user", "Is it open?"), ("assistant", "Looking."), ("tool", "open")]
    trace = made.traces[0]
    run = trace.steps[0].tools[0]
    assert (run.name, run.arguments, run.message) == ("look", {"where": "hall"}, 2)
    summary = summarise(trace)
    assert (summary.tokens.prompt_tokens, summary.duration_s) == (50, 2)
    assert trace.entries[0].raw == CHAT["run"]["turns"][0]


def test_steps_of_thought_action_and_observation_are_guessed():
    report = opened(STEPS)
    made = mapped(report, guess(report.tree))
    assert said(made) == [("assistant", ""), ("tool", "open"), ("assistant", "")]
    first, last = made.traces[0].steps
    assert (first.tools[0].arguments, first.tools[0].message) == ({"input": "look[hall]"}, 1)
    assert (last.tools[0].name, last.tools[0].message) == ("end", None)


def test_questions_with_their_answers_are_guessed():
    report = opened(ROWS)
    assert said(mapped(report, guess(report.tree))) == [
        ("user", "2+3?"),
        ("assistant", "5"),
        ("user", "3+3?"),
        ("assistant", "6"),
    ]


def test_nothing_is_guessed_where_nothing_looks_like_a_conversation():
    report = opened({"width": [1, 2], "rows": [{"x": 1.5}, {"x": 2}]})
    assert not guess(report.tree).usable
    assert list_paths(report.tree) == ["rows"]


def test_a_role_that_means_nothing_is_left_out_and_told():
    report = opened(CHAT)
    columns = guess(report.tree)
    made = mapped(report, Columns(**{**kinds(columns), "roles": {**columns.roles, "debug": ""}}))
    assert "gc ran" not in str(said(made))
    assert made.unread == ["a record that has nothing under the columns, or whose role is left out"]


def kinds(columns):
    return {"records": columns.records, **columns.paths}


def test_paths_lead_through_lists_objects_and_keys_with_points():
    tree = {"a": [{"b.c": {"d": [1]}}, {"b.c": {"d": [2, 3]}}], "nodes": {"x": {"k": 1}, "y": {"k": 2}}}
    assert list(conversations(tree["a"], "*")) == []
    assert list(conversations({"a": {"x": [1], "y": [2]}}, "a.*")) == [[1], [2]]
    assert list(conversations(tree, "nodes")) == [[{"k": 1}, {"k": 2}]]
    assert value_at(tree["a"][1], "b.c.d.1") == 3
    assert value_at(tree, "a.9.b") is None


def test_a_look_at_the_first_records_reads_no_more():
    report = opened([{"turns": [{"who": "user", "text": str(n)} for n in range(100)]}] * 3)
    columns = guess(report.tree)
    assert columns.records == "*.turns"
    assert len(mapped(report, columns).traces) == 3
    (trace,) = mapped(report, columns, first=5).traces
    assert len(trace.messages) == 5


def test_columns_that_are_kept_fit_files_of_the_same_shape_only(tmp_path):
    columns = guess(CHAT)
    keep(tmp_path, columns)
    keep(tmp_path, guess(ROWS))
    keep(tmp_path, columns)
    assert kept(tmp_path) == [columns, guess(ROWS)]
    other = {"run": {"turns": [{"speaker": "Bot", "utterance": "Hello."}]}}
    assert fits(other, columns)
    assert not fits(STEPS, columns)
    assert not fits({"run": {"turns": []}}, columns)
    forget(tmp_path, columns)
    assert kept(tmp_path) == [guess(ROWS)]


def test_a_damaged_file_of_kept_columns_holds_none(tmp_path):
    (tmp_path / ".columns.json").write_text('[{"schema": "agent-columns/1", "role": 5}, 3]', encoding="utf-8")
    assert kept(tmp_path) == []
    keep(tmp_path, guess(ROWS))
    assert kept(tmp_path) == [guess(ROWS)]


@pytest.mark.parametrize("data", [b"[", b"{}", b'{"schema": "agent-columns/1", "role": 1}'])
def test_a_file_that_holds_no_columns_is_one_sentence(data):
    with pytest.raises(InputError, match="columns"):
        Columns.from_json(data)


def test_columns_go_through_a_file():
    columns = guess(CHAT)
    assert Columns.from_json(columns.to_json()) == columns


@given(damaged({"chat": CHAT, "steps": STEPS, "rows": ROWS}))
def test_nothing_in_a_file_brings_the_guess_or_the_reading_down(value):
    report = opened({"unknown": value})
    for path in list_paths(report.tree):
        for made in (guess(report.tree), guess(STEPS), guess(CHAT)):
            columns = Columns(**{**kinds(made), "records": path}, roles=made.roles)
            for trace in mapped(report, columns).traces:
                json.dumps(trace.to_dict())
            fits(report.tree, columns)
