import json
import os
import sqlite3
import threading
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from agent.errors import InputError
from traces import Store, open_trace, read_file, save_trace
from traces.glance import glance
from traces.store import safe_name
from traces.summary import summarise


@pytest.fixture
def samples(tmp_path):
    folder = tmp_path / "samples"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path, samples):
    return Store(tmp_path / "saved", samples=samples)


def another(trace, trace_id, created="2026-01-01T00:00:00.000Z"):
    return replace(trace, trace_id=trace_id, created=created)


def test_a_folder_that_is_not_there_yet_is_empty(store):
    assert store.list() == []
    assert store.find("9f2c1ab04d77") is None


def test_the_list_says_what_is_needed_to_choose(store, trace):
    save_trace(trace, store.folder)
    (info,) = store.list()
    summary = summarise(trace)
    assert (info.id, info.title, info.format) == (trace.trace_id, trace.title, "agent-trace/1")
    assert (info.steps, info.messages, info.tokens, info.cost) == (2, 5, 256, None)
    assert (info.model, info.outcome, info.created) == ("script", "final", trace.created)
    assert (info.duration_s, info.kind, info.error) == (summary.duration_s, "saved", None)
    assert store.load(info.id) == trace


def test_the_newest_run_comes_first(store, trace):
    for number in (2, 3, 1):
        save_trace(another(trace, f"run-{number}", f"2026-01-0{number}T00:00:00.000Z"), store.folder)
    assert [info.id for info in store.list()] == ["run-3", "run-2", "run-1"]


def test_equally_old_traces_keep_their_order_from_the_first_listing_on(store, samples, trace):
    for trace_id in ("b", "c", "a"):
        save_trace(another(trace, trace_id), store.folder)
    save_trace(another(trace, "bundled"), samples)
    first = [info.id for info in store.list()]
    assert first == [info.id for info in store.list()]
    save_trace(replace(another(trace, "b"), title="changed"), store.folder)
    assert first == [info.id for info in store.list()]


def test_bundled_and_saved_traces_are_told_apart(store, samples, trace):
    save_trace(another(trace, "bundled-1"), samples)
    save_trace(another(trace, "saved-1"), store.folder)
    assert {info.id: info.kind for info in store.list()} == {"bundled-1": "bundled", "saved-1": "saved"}


def test_every_conversation_of_a_file_has_its_line_and_its_link(store, chat):
    store.add_upload(b"\n".join(json.dumps({"messages": chat[:n]}).encode() for n in (1, 2, 4)), "rows.jsonl")
    rows = store.list()
    assert sorted(info.messages for info in rows) == [1, 2, 4]
    for info in rows:
        assert len(store.load(info.id).messages) == info.messages


def test_only_new_and_changed_files_are_opened_again(store, trace):
    for number in range(3):
        save_trace(another(trace, f"run-{number}"), store.folder)
    opened = []
    store.list(progress=lambda done, total: opened.append((done, total)))
    store.list(progress=lambda done, total: opened.append((done, total)))
    save_trace(another(trace, "run-1", "2027-01-01T00:00:00.000Z"), store.folder)
    rows = store.list(progress=lambda done, total: opened.append((done, total)))
    assert opened == [(3, 3), (1, 1)]
    assert rows[0].created == "2027-01-01T00:00:00.000Z"


def test_a_file_that_is_gone_is_gone_from_the_list_and_its_link_says_so(store, trace):
    path = save_trace(trace, store.folder)
    store.list()
    path.unlink()
    assert store.find(trace.trace_id) is None
    with pytest.raises(InputError, match="there is no trace"):
        store.load(trace.trace_id)
    assert store.list() == []


def test_odd_files_have_a_line_that_says_why_and_hide_no_other(store, trace):
    save_trace(trace, store.folder)
    odd = {
        "broken.json": b'{"a": ',
        "unknown.json": b'{"a": 1}',
        "empty.jsonl": b"",
        "none.json": b'{"messages": []}',
        "deep.json": b"[" * 10**5,
        "nested/bytes.json": b"\x80\x81",
        "half.json": b'[{"role": "user", "content": "\\ud800"}]',
        "huge.json": b'{"messages": [], "n": ' + b"9" * 5000 + b"}",
    }
    for name, content in odd.items():
        path = store.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    (store.folder / "README.md").write_text("not a trace")
    rows = {Path(info.path).name: info for info in store.list()}
    assert len(rows) == len(odd) + 1
    assert rows[f"{trace.trace_id}.json"].error is None
    assert "not valid JSON" in rows["broken.json"].error
    assert "no known trace format" in rows["unknown.json"].error
    assert rows["none.json"].error == "there is no conversation in it"
    assert rows["half.json"].title == "\ufffd"
    assert {info.path for info in store.list()} == {info.path for info in rows.values()}


def test_numbers_too_large_for_the_index_are_not_reported(store):
    usage = {"prompt_tokens": 9 * 10**17, "completion_tokens": 1, "total_tokens": 9 * 10**17}
    response = {"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": usage}
    requests = [{"messages": [{"role": "user", "content": f"{n}"}], **response} for n in range(12)]
    messages = []
    log = []
    for row in requests:
        messages += row["messages"]
        log.append({"request": {"messages": list(messages)}, "response": response})
        messages.append({"role": "assistant", "content": "x"})
    store.add_upload(json.dumps(log).encode(), "log.json")
    assert [info.tokens for info in store.list()] == [None]


def interrupted(new_loop, folder):
    loop = new_loop(journal=folder)
    while len(loop.trace.messages) < 4:
        loop.advance()
    return loop


def test_a_journal_without_its_trace_is_an_interrupted_run(store, new_loop):
    loop = interrupted(new_loop, store.folder)
    (info,) = store.list()
    assert (info.id, info.kind, info.outcome, info.messages) == (loop.trace.trace_id, "interrupted", None, 4)
    assert len(store.load(info.id).messages) == 4


def test_a_run_that_ends_is_listed_once_as_saved(store, new_loop):
    loop = interrupted(new_loop, store.folder)
    store.list()
    while loop.phase is not None:
        loop.advance()
    (info,) = store.list()
    assert (info.kind, info.outcome) == ("saved", "final")
    assert store.find(info.id) == info


def test_the_journal_of_a_run_that_goes_on_is_read_as_it_grows(store, new_loop):
    loop = interrupted(new_loop, store.folder)
    (before,) = store.list()
    for _ in range(4):
        loop.advance()
    (after,) = store.list()
    assert (before.messages, after.messages) == (4, len(loop.messages))
    assert after.messages > before.messages
    report = read_file(after.path)
    assert report.bad_lines == []


@pytest.mark.parametrize(("journal_is_newer", "kind"), [(True, "interrupted"), (False, "saved")])
def test_of_a_journal_and_its_trace_the_newer_one_counts(store, new_loop, journal_is_newer, kind):
    loop = interrupted(new_loop, store.folder)
    path = save_trace(loop.trace, store.folder)
    os.utime(path.with_suffix(".jsonl"), ns=(0, path.stat().st_mtime_ns + (10**9 if journal_is_newer else -(10**9))))
    (info,) = store.list()
    assert info.kind == kind
    assert store.find(loop.trace.trace_id) == info


def test_an_upload_is_kept_as_it_is_and_never_overwrites(store, chat):
    first = json.dumps(chat, indent=3).encode() + b"\n\n"
    second = json.dumps(chat[:2]).encode()
    (one,) = store.add_upload(first, "../../chat.json")
    (two,) = store.add_upload(second, "chat.json")
    assert [Path(info.path).name for info in (one, two)] == ["chat.json", "chat-2.json"]
    assert Path(one.path).parent == store.folder
    assert Path(one.path).read_bytes() == first
    assert {info.id for info in store.list()} == {one.id, two.id}


def test_the_same_bytes_are_kept_once(store, chat):
    data = json.dumps(chat).encode()
    assert store.add_upload(data, "a.json") == store.add_upload(data, "b.json") == store.add_upload(data, "a.json")
    assert len(store.list()) == 1


def test_an_upload_that_cannot_be_opened_is_refused_and_leaves_nothing(store):
    with pytest.raises(InputError, match=r"x\.json cannot be read"):
        store.add_upload(b"nonsense", "x.json")
    assert not store.folder.exists() or list(store.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("trace.json", "trace.json"),
        ("运行 记录.jsonl", "运行 记录.jsonl"),
        ("../../etc/passwd", "passwd.json"),
        ("C:\\Users\\me\\a.json", "a.json"),
        (".index.sqlite", "index.sqlite.json"),
        ("...", "upload.json"),
        ("", "upload.json"),
        ("a\x00b<c>.json", "a_b_c_.json"),
        ("notes.md", "notes.md.json"),
        ("con.json", "_con.json"),
        ("half\ud800.json", "half_.json"),
    ],
)
def test_names_of_uploads_cannot_do_harm(name, safe):
    assert safe_name(name) == safe
    for long in (name * 300, "a" * 50 + "." + "b" * 174 + ".json"):
        assert len(safe_name(long).encode()) < 200
        assert not safe_name(long).startswith(".")


@pytest.mark.parametrize("harm", ["rubbish", "other version", "other table", "cut off"])
def test_a_broken_index_is_built_anew(store, trace, harm):
    save_trace(trace, store.folder)
    store.list()
    path = store.folder / ".index.sqlite"
    if harm == "rubbish":
        path.write_bytes(b"no database at all" * 1000)
    elif harm == "cut off":
        path.write_bytes(path.read_bytes()[:5000] + b"\xff" * 9000)
    else:
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 99" if harm == "other version" else "DROP TABLE traces")
    assert [info.id for info in store.list()] == [trace.trace_id]
    opened = []
    assert [info.id for info in store.list(lambda *count: opened.append(count))] == [trace.trace_id]
    assert opened == []


def test_a_folder_that_cannot_hold_an_index_is_listed_all_the_same(store, trace):
    save_trace(trace, store.folder)
    (store.folder / ".index.sqlite").mkdir()
    assert [info.id for info in store.list()] == [trace.trace_id]


def list_ids(folder, samples):
    return sorted(info.id for info in Store(folder, samples=samples).list())


def test_several_processes_and_threads_use_the_index_at_once(store, samples, trace):
    for number in range(40):
        save_trace(another(trace, f"run-{number:02}"), store.folder)
    expected = sorted(f"run-{number:02}" for number in range(40))
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(sorted(i.id for i in store.list()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    with get_context("spawn").Pool(2) as pool:
        results = pool.starmap(list_ids, [(store.folder, samples)] * 4)
    for thread in threads:
        thread.join()
    assert results == [expected] * 4
    assert seen == [expected] * 4


def test_of_an_experiment_only_its_runs_are_traces(store, trace):
    folder = store.folder / "experiments" / "0123456789ab"
    save_trace(another(trace, "run"), folder / "traces")
    save_trace(another(trace, "subject"), folder / "subjects")
    (folder / "summary.json").write_text("{}")
    (folder / "runs.jsonl").write_text("{}\n")
    save_trace(another(trace, "usual"), store.folder)
    assert {info.id: store.experiment_of(info) for info in store.list()} == {"run": "0123456789ab", "usual": None}
    assert store.load("run").trace_id == "run"


def test_a_glance_says_the_same_as_the_full_reading(trace, tmp_path):
    data = save_trace(trace, tmp_path).read_bytes()
    seen, summary = glance(data), summarise(open_trace(data)[0])
    assert seen is not None
    for name in ("trace_id", "title", "models", "steps", "messages", "cost", "duration_s", "outcome"):
        assert getattr(seen, name) == getattr(summary, name), name
    assert seen.tokens == summary.tokens.total
    assert seen.created == trace.created


@pytest.mark.parametrize(
    "change",
    [
        {"steps": {}},
        {"title": 5},
        {"trace_id": "a/b"},
        {"outcome": []},
        {"messages": None},
        {"schema": "agent-trace/2"},
    ],
    ids=str,
)
def test_a_glance_leaves_everything_odd_to_the_full_reading(trace, change):
    assert glance(json.dumps({**trace.to_dict(), **change}).encode()) is None


def test_reading_a_file_does_not_change_it(store, chat):
    (info,) = store.add_upload(json.dumps(chat).encode(), "a.json")
    before = Path(info.path).stat()
    read_file(info.path)
    store.load(info.id)
    after = Path(info.path).stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
