import json

import pytest

from agent import CapabilityPolicy, Decision
from agent.errors import InputError
from traces import open_trace, read_file, save_trace


def test_a_saved_trace_is_read_back_as_it_was(trace, tmp_path):
    path = save_trace(trace, tmp_path)
    report = read_file(path)
    assert report.format == "agent-trace/1"
    assert report.traces == [trace]
    assert (report.warnings, report.unread, report.repaired) == ([], [], [])


def test_keys_that_we_do_not_know_survive(trace, tmp_path):
    data = {**trace.to_dict(), "rating": 5, "messages": [{"role": "user", "content": "hi", "mood": "good"}]}
    (read,) = open_trace(json.dumps(data).encode())
    assert read.to_dict()["rating"] == 5
    assert read.messages[0].to_dict()["mood"] == "good"


def test_a_time_that_is_not_reported_stays_unknown(trace):
    data = {**trace.to_dict(), "created": None}
    assert open_trace(json.dumps(data).encode())[0].created is None


def test_several_traces_in_one_file_are_all_read(trace):
    other = {**trace.to_dict(), "trace_id": "aaaaaaaaaaaa"}
    data = f"{json.dumps(trace.to_dict())}\n{json.dumps(other)}\n".encode()
    assert [found.trace_id for found in open_trace(data)] == [trace.trace_id, "aaaaaaaaaaaa"]


def changed(trace, **changes):
    data = json.loads(json.dumps(trace.to_dict()))
    for path, value in changes.items():
        *way, last = path.split("__")
        place = data
        for key in way:
            place = place[int(key) if key.isdigit() else key]
        place[last] = value
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "damage",
    [
        {"steps__0__reply": 99},
        {"steps__0__reply": "two"},
        {"steps__0__latency_ms": "fast"},
        {"steps__0__tools__0__message": -1},
        {"steps__0__tools__0__tool_call_id": 7},
        {"steps__0__index": None},
        {"steps__0__usage": {"prompt_tokens": "many"}},
        {"steps__0__usage": []},
        {"steps__0__request": []},
        {"steps__0__request": {"upto": "all"}},
        {"messages__0__content": {"odd": True}},
        {"messages__0__content": 12},
        {"entries__1__step": "first"},
        {"entries__0__maker": 5},
        {"outcome__reason": ["x"]},
        {"title": 3},
        {"trace_id": "../../etc/passwd"},
        {"trace_id": None},
        {"entries": []},
    ],
    ids=str,
)
def test_a_damaged_field_costs_only_itself(trace, damage):
    from traces.summary import summarise
    from traces.tables import messages_frame, steps_frame

    try:
        report = read_file(changed(trace, **damage))
    except InputError as error:
        assert "damaged" in str(error)
        return
    (read,) = report.traces
    assert len(messages_frame(read)) == len(read.messages) == len(trace.messages)
    assert len(steps_frame(read)) == len(trace.steps)
    assert summarise(read).to_dict()["messages"] == len(trace.messages)
    assert "/" not in read.trace_id


@pytest.mark.parametrize("value", [-240_000, float("nan"), float("inf"), 10**400, True])
def test_a_time_that_cannot_be_true_is_unknown_and_named(trace, value):
    from traces.summary import summarise

    report = read_file(changed(trace, steps__0__latency_ms=value, steps__0__tools__0__latency_ms=value))
    (read,) = report.traces
    assert (read.steps[0].latency_ms, read.steps[0].tools[0].latency_ms) == (None, None)
    assert len(report.warnings) == 2
    assert 0 <= summarise(read).duration_s < 60


@pytest.mark.parametrize(
    "number", [1796040000.5, 1796040000500, 1796040000500000, 1796040000500000000], ids=["s", "ms", "us", "ns"]
)
def test_a_time_that_is_a_number_is_kept_whatever_its_unit(trace, number):
    report = read_file(changed(trace, steps__0__started=number, created=number))
    assert (report.traces[0].steps[0].started, report.warnings) == ("2026-11-30T12:00:00.500Z", [])
    assert report.traces[0].created == "2026-11-30T12:00:00.500Z"


@pytest.mark.parametrize("value", ["10.5", "None", "", 10.5, -1, 1e300, float("nan"), True, {"s": 1}])
def test_what_is_no_time_is_unknown_and_named(trace, value):
    report = read_file(changed(trace, steps__0__started=value))
    assert report.traces[0].steps[0].started is None
    assert report.warnings == ["damaged native trace: 'started' of a TraceStep is no time"]


@pytest.mark.parametrize("field", ["messages", "steps", "entries", "notes"])
def test_a_trace_that_cannot_be_read_says_what_is_wrong(trace, field):
    with pytest.raises(InputError, match=f"damaged: '{field}' should be a list"):
        read_file(changed(trace, **{field: {"a": 1}}))
    with pytest.raises(InputError, match="damaged: 'outcome' should be an object"):
        read_file(changed(trace, outcome=[]))


def test_the_journal_of_an_interrupted_run_opens_as_far_as_it_goes(new_loop, tmp_path):
    loop = new_loop(journal=tmp_path)
    while len(loop.trace.messages) < 4:
        loop.advance()
    (path,) = tmp_path.glob("*.jsonl")
    report = read_file(path)
    (read,) = report.traces
    assert report.format == "agent-journal/1"
    assert read.trace_id == loop.trace.trace_id
    assert [message.role for message in read.messages] == ["system", "user", "assistant", "tool"]
    assert read.outcome.reason is None
    assert any("interrupted" in warning for warning in report.warnings)


def test_results_that_were_kept_but_not_yet_appended_are_shown_where_they_will_stand(new_loop, tmp_path):
    loop = new_loop(journal=tmp_path)
    while loop.phase != "append":
        loop.advance()
    (path,) = tmp_path.glob("*.jsonl")
    (read,) = read_file(path).traces
    run = read.steps[0].tools[0]
    assert (run.message, run.ok, run.decision) == (3, True, "run")
    assert (read.messages[3].role, read.messages[3].text, read.messages[3].tool_call_id) == ("tool", "5", "c1")
    assert (read.entries[3].maker, read.entries[3].step) == ("environment", 1)
    loop.advance()
    assert loop.messages == read.messages


@pytest.mark.parametrize(
    ("decision", "shown", "maker"),
    [
        (None, None, None),
        (Decision.mock("6"), "mocked", "user"),
        (Decision.reject("no"), "rejected", "user"),
        (Decision.skip(), "skipped", "code"),
    ],
)
def test_a_call_in_flight_says_what_was_decided_about_it(new_loop, tmp_path, decision, shown, maker):
    loop = new_loop(journal=tmp_path, policy=CapabilityPolicy(ask=["add"]))
    while not loop.waiting:
        loop.advance()
    if decision:
        loop.decide(0, decision)
    (path,) = tmp_path.glob("*.jsonl")
    (before,) = read_file(path).traces
    assert (before.steps[0].tools[0].decision, len(before.messages)) == (shown, 3)
    while decision and loop.phase != "append":
        loop.advance()
    (after,) = read_file(path).traces
    assert after.steps[0].tools[0].decision == shown
    assert [entry.maker for entry in after.entries[3:]] == ([maker] if maker else [])


@pytest.mark.parametrize("torn", [b'{"phase": "ca', '{"a": "東'.encode()[:-1]])
def test_a_journal_with_a_torn_last_line_opens(new_loop, tmp_path, torn):
    loop = new_loop(journal=tmp_path)
    while len(loop.trace.messages) < 4:
        loop.advance()
    (path,) = tmp_path.glob("*.jsonl")
    report = read_file(path.read_bytes() + torn)
    assert len(report.traces[0].messages) == 4
    assert len(report.bad_lines) == 1


def test_a_journal_with_nothing_but_its_first_line_opens(new_loop, tmp_path):
    new_loop(journal=tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    first = path.read_bytes().split(b"\n")[0]
    assert len(read_file(first).traces) == 1


@pytest.mark.parametrize("snapshot", [None, {}, {"trace": []}, "text"])
def test_a_journal_without_a_usable_snapshot_is_refused(snapshot):
    with pytest.raises(InputError, match=r"journal|snapshot"):
        read_file(json.dumps({"schema": "agent-journal/1", "snapshot": snapshot}).encode())
