"""Files that grow while they are looked at, written by this process or by another one."""

import json
import subprocess
import sys
import textwrap
import time
import zipfile

import pytest

from agent.errors import InputError
from traces import read_file
from traces.following import Follower

LINES = [
    {"role": "user", "content": "東京 😀"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "More."},
]
TEXTS = [json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in LINES]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.jsonl"


def add(path, data):
    with path.open("ab") as file:
        file.write(data)


def test_each_look_gives_what_was_added_since_the_last(path):
    follower = Follower(path)
    assert follower.look().gone
    path.write_bytes(TEXTS[0])
    first = follower.look()
    assert (first.records, first.restarted) == ([LINES[0]], True)
    assert not follower.look()
    add(path, TEXTS[1] + TEXTS[2])
    second = follower.look()
    assert (second.records, second.restarted) == (LINES[1:], False)


@pytest.mark.parametrize("cut", range(1, len(TEXTS[0])))
def test_a_half_written_last_line_waits_even_in_the_middle_of_a_character(path, cut):
    path.write_bytes(TEXTS[1] + TEXTS[0][:cut])
    follower = Follower(path)
    first = follower.look()
    whole = cut == len(TEXTS[0]) - 1
    assert first.records == ([LINES[1], LINES[0]] if whole else [LINES[1]])
    assert first.waiting == (0 if whole else cut)
    assert not first.bad_lines
    add(path, TEXTS[0][cut:] + TEXTS[2])
    assert [line for line in [*first.records, *follower.look().records] if line] == [LINES[1], LINES[0], LINES[2]]


def test_a_bad_line_is_named_by_its_place_in_the_file(path):
    path.write_bytes(TEXTS[0])
    follower = Follower(path)
    follower.look()
    add(path, b'{"role": "us\n' + TEXTS[1])
    news = follower.look()
    assert [bad.line for bad in news.bad_lines] == [2]
    assert news.records == [LINES[1]]
    assert follower.report().traces[0].entries[1].line == 3


@pytest.mark.parametrize(
    "replace",
    [
        lambda path, data: path.write_bytes(data),
        lambda path, data: (path.rename(path.with_suffix(".1")), path.write_bytes(data)),
        lambda path, data: (path.with_suffix(".new").write_bytes(data), path.with_suffix(".new").replace(path)),
    ],
    ids=["cut and written anew", "rotated", "replaced"],
)
@pytest.mark.parametrize("lines", [TEXTS[2:], [TEXTS[1], TEXTS[0], TEXTS[2], TEXTS[2]]], ids=["shorter", "longer"])
def test_a_file_that_became_another_one_is_read_from_its_begin(path, replace, lines):
    path.write_bytes(b"".join(TEXTS[:2]))
    follower = Follower(path)
    follower.look()
    replace(path, b"".join(lines))
    news = follower.look()
    assert news.restarted
    assert news.records == [json.loads(line) for line in lines]
    assert len(follower.report().traces[0].messages) == len(lines)


def test_the_report_is_that_of_the_file_at_every_look(path):
    follower = Follower(path)
    ids = set()
    for text in TEXTS:
        add(path, text)
        follower.look()
        report, whole = follower.report(), read_file(path)
        assert report.container == whole.container
        assert [m.to_dict() for m in report.traces[0].messages] == [m.to_dict() for m in whole.traces[0].messages]
        assert report.traces[0].entries == whole.traces[0].entries
        ids.add(report.traces[0].trace_id)
    assert len(ids) == 1


def test_a_document_that_is_written_anew_each_time_is_read_anew(path):
    follower = Follower(path)
    for upto in (1, 2, 3):
        path.write_text(json.dumps({"messages": LINES[:upto]}, indent=1), encoding="utf-8")
        assert follower.look().restarted
        assert not follower.look()
        assert len(follower.report().traces[0].messages) == upto


def test_a_document_in_the_middle_of_being_written_leaves_what_was_there(path):
    text = json.dumps(LINES, indent=1)
    path.write_text(text, encoding="utf-8")
    follower = Follower(path)
    follower.look()
    path.write_text(text[:-20], encoding="utf-8")
    news = follower.look()
    assert not news
    assert "line" in news.problem
    assert len(follower.report().traces[0].messages) == 3
    path.write_text(text, encoding="utf-8")
    assert follower.look().restarted


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_are_followed(path, encoding):
    text = b"".join(TEXTS[:2]).decode()
    path.write_bytes(text.encode(encoding))
    follower = Follower(path)
    assert follower.look().records == LINES[:2]
    path.write_bytes((text + TEXTS[2].decode()).encode(encoding))
    follower.look()
    assert len(follower.report().traces[0].messages) == 3


def test_an_archive_is_followed_as_a_whole(tmp_path):
    path = tmp_path / "x.zip"
    follower = Follower(path)
    for upto in (1, 2):
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(upto):
                archive.writestr(f"{number}.json", json.dumps(LINES))
        follower.look()
        assert len(follower.report().traces) == upto


def test_a_journal_is_followed_while_its_run_writes_it(tmp_path, new_loop):
    loop = new_loop(journal=tmp_path)
    follower = Follower(tmp_path / f"{loop.trace.trace_id}.jsonl")
    seen = []
    while loop.phase is not None:
        if follower.look():
            trace = follower.report().traces[0]
            assert trace.trace_id == loop.trace.trace_id
            seen.append(len(trace.messages))
        loop.advance()
    assert seen == sorted(seen)
    assert {2, 3, 4} <= set(seen)
    assert follower.look().gone


def test_zero_bytes_where_the_writer_has_not_come_yet_wait(path):
    follower = Follower(path)
    room = bytes(100)
    path.write_bytes(TEXTS[0] + TEXTS[1][:5] + room)
    assert follower.look().records == [LINES[0]]
    path.write_bytes(TEXTS[0] + TEXTS[1][:5] + bytes(len(TEXTS[1]) - 6) + b"\n" + room)
    assert not follower.look()
    path.write_bytes(TEXTS[0] + TEXTS[1] + TEXTS[2] + room)
    assert follower.look().records == LINES[1:]


def test_what_cannot_be_followed_says_why(tmp_path):
    assert "not a regular file" in Follower(tmp_path).look().problem
    big = tmp_path / "big.jsonl"
    big.write_bytes(b"".join(TEXTS))
    assert "too large" in Follower(big, limit=20).look().problem
    with pytest.raises(InputError, match="nothing that can be read yet"):
        Follower(tmp_path / "missing").report()


WRITER = """
    import json, os, sys, time
    path, count = sys.argv[1], int(sys.argv[2])
    for number in range(count):
        data = json.dumps({"role": "user", "content": f"{number} 東京 😀" * 20}, ensure_ascii=False).encode() + b"\\n"
        if number == count // 2:
            sys.stdin.readline()
            os.rename(path, path + ".1")
        with open(path, "ab", buffering=0) as file:
            for start in range(0, len(data), 97):
                file.write(data[start:start + 97])
                if number % 5 == 0:
                    time.sleep(0.0005)
"""


def test_a_slow_process_that_tears_its_lines_and_rotates_its_file_loses_nothing(path):
    count = 60
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path), str(count)]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    follower = Follower(path)
    numbers, restarts, running = [], 0, True
    while running:
        running = writer.poll() is None
        news = follower.look()
        assert not news.bad_lines
        restarts += news.restarted
        numbers += [int(record["content"].split()[0]) for record in news.records]
        if writer.stdin and numbers and numbers[-1] == count // 2 - 1:
            writer.stdin.close()  # all of it was seen: the file may be moved away
        time.sleep(0.001)
    assert writer.returncode == 0
    assert restarts == 2
    assert numbers == list(range(count))


def test_a_look_at_a_large_file_costs_what_was_added(path):
    path.write_bytes(TEXTS[0] * 100_000)
    follower = Follower(path)
    started = time.process_time()
    follower.look()
    whole = time.process_time() - started
    costs = []
    for _ in range(5):
        add(path, TEXTS[1])
        started = time.process_time()
        assert follower.look().records == [LINES[1]]
        costs.append(time.process_time() - started)
    assert min(costs) < whole / 20
