import json
import time

import pandas as pd
import pytest

from agent.messages import Message, ToolCall
from agent.trace import ToolRun, Trace, TraceStep
from agent.usage import Usage
from traces import open_trace
from traces.tables import MESSAGE_COLUMNS, STEP_COLUMNS, messages_frame, steps_frame
from traces.text import CELL_LENGTH, hide_data, message_text, size_words


def known(frame, column):
    return [None if pd.isna(value) else value for value in frame[column]]


def test_frames_have_the_documented_columns_and_types_also_when_empty(trace):
    for one in (trace, Trace()):
        messages, steps = messages_frame(one), steps_frame(one)
        assert {name: str(kind) for name, kind in messages.dtypes.items()} == MESSAGE_COLUMNS
        assert {name: str(kind) for name, kind in steps.dtypes.items()} == STEP_COLUMNS
        assert (len(messages), len(steps)) == (len(one.messages), len(one.steps))


def test_one_row_a_message_with_its_partner_and_its_step(trace):
    frame = messages_frame(trace)
    assert known(frame, "number") == [1, 2, 3, 4, 5]
    assert known(frame, "role") == ["system", "user", "assistant", "tool", "assistant"]
    assert known(frame, "maker") == ["code", "user", "model", "environment", "model"]
    assert known(frame, "step") == [None, None, 1, 1, 2]
    assert known(frame, "text") == ["You add.", "What is 2+3?", "", "5", "It is 5."]
    assert known(frame, "tool_calls") == [None, None, 'add({"a": 2, "b": 3})', None, None]
    assert known(frame, "call_id") == [None, None, None, "c1", None]
    assert known(frame, "paired") == [None, None, 4, 3, None]
    assert known(frame, "prompt_tokens") == [None, None, 100, None, 130]
    assert known(frame, "completion_tokens") == [None, None, 20, None, 6]
    assert known(frame, "note") == [None] * 5
    assert known(frame, "latency_ms")[3] == trace.steps[0].tools[0].latency_ms


def test_some_rows_are_as_they_stand_in_the_whole(trace):
    whole, some = messages_frame(trace), messages_frame(trace, range(2, 4))
    pd.testing.assert_frame_equal(some, whole.iloc[2:4].reset_index(drop=True))
    assert len(messages_frame(trace, range(5, 5))) == 0


def test_notes_name_what_has_no_partner_or_failed():
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in "ab"]
    chat = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": '{"error": "no"}'},
        {"role": "tool", "tool_call_id": "x", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": calls[:1]},
    ]
    frame = messages_frame(open_trace(json.dumps(chat).encode())[0])
    assert known(frame, "note") == ["no_result", "error_result", "orphan_result", "no_result"]


def test_a_decision_of_a_person_or_a_policy_is_noted(trace):
    trace.steps[0].tools[0].decision = "mocked"
    assert known(messages_frame(trace), "note")[3] == "mocked"


def step(usage=None, **fields):
    return TraceStep(index=1, usage=usage, **fields)


@pytest.mark.parametrize(
    ("usage", "parts"),
    [
        (Usage(100, 50, 150, 30, None, 40), [70, 30, 10, 40, None, 150]),
        (Usage(35, 12, 109), [35, None, 12, None, 62, 109]),
        (Usage(100, 50), [100, None, 50, None, None, 150]),
        (Usage(389461 + 333440, 1990 + 1486, None, 333440, None, 1486), [389461, 333440, 1990, 1486, None, 726377]),
        (Usage(10, None, None, 0), [10, 0, None, None, None, None]),
        (Usage(10, 5, 15, 20), [0, 20, 5, None, None, 15]),
        (None, [None] * 6),
    ],
)
def test_token_parts_do_not_overlap(usage, parts):
    frame = steps_frame(Trace(steps=[step(usage)]))
    names = ("prompt_uncached", "cached", "completion", "reasoning", "other", "total")
    assert [known(frame, name)[0] for name in names] == parts
    if None not in (parts[5], parts[0]) and usage.cached_tokens != 20:
        assert sum(part or 0 for part in parts[:5]) == parts[5]


def test_times_that_are_not_reported_are_missing_and_not_zero():
    frame = steps_frame(Trace(steps=[step()]))
    assert [known(frame, name)[0] for name in ("model_ms", "first_token_ms", "tools_ms", "tools")] == [None] * 4


def tool_run(started=None, latency_ms=None):
    return ToolRun(tool_call_id="c", name="f", started=started, latency_ms=latency_ms)


@pytest.mark.parametrize(
    ("runs", "wall"),
    [
        ([tool_run(latency_ms=7)], 7),
        ([tool_run("2026-01-01T00:00:00.000Z", 300), tool_run("2026-01-01T00:00:00.100Z", 400)], 500),
        ([tool_run("2026-01-01T00:00:00.000Z", 300), tool_run("2026-01-01T09:00:00.100+09:00", 400)], 500),
        ([tool_run(latency_ms=300), tool_run(latency_ms=400)], None),
        ([tool_run("yesterday", 300), tool_run("2026-01-01T00:00:00.100Z", 400)], None),
        ([], None),
    ],
)
def test_the_time_of_the_tools_is_the_wall_time_of_the_batch(runs, wall):
    assert known(steps_frame(Trace(steps=[step(tools=runs)])), "tools_ms") == [wall]


def test_texts_are_cut_and_say_so(trace):
    trace.messages[1] = Message("user", "x" * 10_000)
    trace.messages[2] = Message("assistant", None, (ToolCall("c1", "f", {"text": "y" * 10_000}),))
    frame = messages_frame(trace)
    assert frame["text"][1] == "x" * (CELL_LENGTH - 1) + "…"
    assert len(frame["tool_calls"][2]) == CELL_LENGTH


IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 150_000


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (
            [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": IMAGE}}],
            "look\n[image/png, 1.2 MB]",
        ),
        (
            [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}],
            "[image: https://example.org/a.png]",
        ),
        ([{"type": "input_audio", "input_audio": {"data": "QUJD" * 1000, "format": "wav"}}], "[wav, 3.0 kB]"),
        ([{"type": "gemini", "inlineData": {"mimeType": "image/jpeg", "data": "QUJD" * 1000}}], "[image/jpeg, 3.0 kB]"),
        ([{"type": "file", "file": {"file_id": "f-1"}}], '[{"file_id": "f-1"}]'),
        ([{"type": "new", "what": 1}], '{"type": "new", "what": 1}'),
        (f'{{"image": "{IMAGE}", "ok": true}}', '{"image": "[image/png, 1.2 MB]", "ok": true}'),
        ("before " + "aB3x" * 2000 + " after", "before [data, 6.0 kB] after"),
        ("z" * 9000, "z" * 9000),
        ("data:image/png;base64,iVBO is how it begins", "[image/png, 3 B] is how it begins"),
        (None, ""),
    ],
)
def test_images_and_other_data_are_shown_by_type_and_size(content, shown):
    assert message_text(Message("user", content)) == shown


def test_data_in_arguments_of_calls_are_not_shown_either(trace):
    trace.messages[2] = Message("assistant", None, (ToolCall("c1", "save", {"image": IMAGE}),))
    assert messages_frame(trace)["tool_calls"][2] == 'save({"image": "[image/png, 1.2 MB]"})'


@pytest.mark.parametrize("text", ["a1B" * 666 + " ", "data:", "data:a/b;base64", ";base64,"])
def test_looking_for_data_takes_time_in_proportion_to_the_text(text):
    started = time.process_time()
    hide_data(text * (4_000_000 // len(text)))
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 B"), (999, "999 B"), (1200, "1.2 kB"), (1.2e6, "1.2 MB"), (5e9, "5.0 GB")]
)
def test_sizes_in_words(size, words):
    assert size_words(size) == words


def test_five_thousand_messages_are_a_matter_of_a_moment(trace):
    big = Trace()
    for number in range(2500):
        big.messages += [Message("assistant", "word " * 200), Message("tool", "word " * 200, tool_call_id=f"{number}")]
        big.entries += trace.entries[2:4]
    started = time.process_time()
    assert len(messages_frame(big)) == 5000
    assert time.process_time() - started < 2


def test_needless_escapes_in_arguments_and_results_are_read_and_their_raw_form_is_kept():
    arguments, result = r'{"city": "\u6771\u4eac \ud83d\ude00"}', r'{"sky": "\u66c7", "code": "print(\\u6771)\u0007"}'
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": result},
    ]
    (trace,) = open_trace(json.dumps(chat).encode())
    frame = messages_frame(trace)
    assert frame.tool_calls[0] == 'f({"city": "東京 😀"})'
    assert frame.text[1] == r'{"sky": "曇", "code": "print(\\u6771)\u0007"}'
    assert (trace.messages[0].tool_calls[0].text, trace.messages[1].text) == (arguments, result)


@pytest.mark.parametrize(
    "text", [r'print("\u6771")', r"\u6771", r'{"torn": "\u6771"', r'{"a": "\u0041\u202e\u00a0"}', r'["\\u6771"]']
)
def test_a_backslash_u_that_is_no_needless_escape_is_not_changed(text):
    chat = [{"role": "tool", "tool_call_id": "a", "content": text}, {"role": "user", "content": text}]
    (trace,) = open_trace(json.dumps(chat).encode())
    assert list(messages_frame(trace).text) == [text, text]
