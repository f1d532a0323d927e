"""Files that are damaged, oddly made or made to do harm: one clear sentence with a place, and the rest still opens."""

import gzip
import io
import json
import re
import time
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import InputError
from traces import read_file
from traces.container import open_bytes
from traces.summary import summarise
from traces.tables import messages_frame, steps_frame
from traces.text import message_text

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
CHAT = [
    {"role": "user", "content": "東京 😀 \n one"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "2"},
    {"role": "assistant", "content": "It is two."},
]
LINES = [json.dumps(message, ensure_ascii=False) for message in CHAT]
NATIVE = {"schema": "agent-trace/1", "trace_id": "t1", "messages": CHAT}


def zipped(*members, **options):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def look_at(report):
    for trace in report.traces:
        json.dumps(summarise(trace).to_dict(), allow_nan=False)
        messages_frame(trace)
        steps_frame(trace)
        for message in trace.messages:
            message_text(message).encode()


def opened(data, name="x"):
    """The report of a file, after everything in it was looked at."""
    report = read_file(data, name)
    look_at(report)
    return report


def contents(report):
    return [message.content for trace in report.traces for message in trace.messages]


# -- lines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "bad"),
    [
        (lambda lines: "\r\n".join(lines).encode(), []),
        (lambda lines: "\r".join(lines).encode(), []),
        (lambda lines: ("\n\n".join(lines) + "\n \n\t\n").encode(), []),
        (lambda lines: "".join(lines).encode(), []),
        (lambda lines: ("\ufeff" + "\n\ufeff".join(lines)).encode(), []),
        (lambda lines: ("\ufeff" + "\n".join(lines)).encode("utf-16-be"), []),
        (lambda lines: ("\n".join(lines) + "\n").encode("utf-16"), []),
        (lambda lines: ("\n".join(lines)).encode("utf-32-be"), []),
        (lambda lines: ("\n".join(lines) + "\n").encode("utf-16-le") + b"\x00", [5]),
        (lambda lines: "\n".join(lines).encode() + bytes(300), []),
        (lambda lines: "\n".join([lines[0], "\0" * 40 + lines[1], *lines[2:]]).encode(), []),
        (lambda lines: "\n".join([lines[0], "\0" * 4096, *lines[1:]]).encode(), []),
        (lambda lines: "\n".join([*lines, lines[0][:15]]).encode(), [5]),
        (lambda lines: "\n".join([*lines, lines[0]]).encode()[:-30], [5]),
        (lambda lines: "\n".join([lines[0], "{" + lines[1], *lines[1:]]).encode(), [2]),
        (lambda lines: "\n".join([lines[0], "Traceback (most recent call last):", *lines[1:]]).encode(), [2]),
        (lambda lines: "\n".join([lines[0], '{"content": "\x92"}', *lines[1:]]).encode("utf-8")
         .replace("\x92".encode(), b"\x92"), [2]),
        (lambda lines: ",\n".join(["[\n" + lines[0], '{"role": "us', *lines[1:], "]"]).encode(), [3]),
    ],
    ids=["crlf", "lone cr", "blank lines", "glued", "marks", "utf-16 marked", "utf-16", "utf-32", "odd byte", "room",
         "zeros before", "line of zeros", "torn", "torn character", "middle", "log text", "cp1252", "array"],
)  # fmt: skip
def test_damaged_lines_cost_only_themselves_and_are_named(damage, bad):
    report = opened(damage(LINES))
    assert contents(report) == [message["content"] for message in CHAT]
    assert [line.line for line in report.bad_lines] == bad


@pytest.mark.parametrize(
    "line", ["9" * 5000, '{"n": ' + "9" * 5000 + "}", '{"a": NaN}', '{"a": 1, "a": 2}', '"\\ud800"']
)
def test_what_python_writes_beyond_the_standard_is_no_bad_line(line):
    report = opened("\n".join([*LINES, line]).encode())
    assert contents(report) == [message["content"] for message in CHAT]
    assert not report.bad_lines


@pytest.mark.parametrize("line", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000])
def test_a_line_that_is_nested_too_deeply_is_a_bad_line(line):
    report = opened("\n".join([LINES[0], line, *LINES[1:]]).encode())
    assert len(contents(report)) == 4
    assert [bad.line for bad in report.bad_lines] == [2]


# -- documents -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [CHAT, {"messages": CHAT}, NATIVE])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_that_ends_early_gives_what_is_whole_and_says_so(value, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    cut = text.index(b"It is")
    report = opened(text[: cut + 3])
    assert contents(report)[:3] == [message["content"] for message in CHAT[:3]]
    assert "ends early" in report.warnings[0]
    assert re.search(r"line \d+", report.warnings[0])


@pytest.mark.parametrize("upto", range(1, len(json.dumps(CHAT).encode())))
def test_a_document_that_ends_anywhere_is_read_or_refused_with_a_place(upto):
    data = json.dumps(CHAT).encode()[:upto]
    try:
        report = opened(data)
    except InputError as error:
        assert re.search(r"line 1, column \d+", str(error))
    else:
        known = [message["content"] for message in CHAT]
        assert all(content is None or content in known for content in contents(report))


@pytest.mark.parametrize("data", [b"", b" \r\n\t ", b"\xef\xbb\xbf", bytes(5000), "\ufeff".encode("utf-16-le")])
def test_a_file_of_nothing_is_called_empty(data):
    with pytest.raises(InputError, match="is empty"):
        read_file(data, "x")


def test_a_byte_of_another_code_page_is_named_with_its_place():
    data = json.dumps(CHAT, indent=1, ensure_ascii=False).encode().replace(b"It is", b"It\x92s")
    with pytest.raises(InputError, match=r"byte 0x92 at position \d+ \(line \d+\)"):
        read_file(data, "x")


@pytest.mark.parametrize("half", ["\\ud83d", "\\uDE00", "\ud83d"])
def test_half_a_character_is_replaced_and_the_rest_is_kept(half):
    text = json.dumps([{"role": "user", "content": "a HALF b 😀"}], ensure_ascii=False).replace("HALF", half)
    assert contents(opened(text.encode(errors="surrogatepass"))) == ["a \ufffd b 😀"]


def test_numbers_keep_their_value():
    text = (
        '[{"role": "user", "content": "x", "n": [18446744073709551616, 1e400, -0.0, 0.1, NaN, 123456789012345678901]}]'
    )
    record = open_bytes(text.encode(), "x").value[0]["n"]
    assert record[0] == 18446744073709551616
    assert record[1] == float("inf")
    assert str(record[2]) == "-0.0"
    assert record[3] == 0.1
    assert record[5] == 123456789012345678901


def test_a_content_that_is_nested_as_deeply_as_json_allows_can_be_looked_at():
    for depth in (200, 400, 900):
        deep = "[" * depth + "]" * depth
        try:
            opened(f'[{{"role": "user", "content": {deep}}}, {{"role": "assistant", "content": "x"}}]'.encode())
        except InputError as error:
            assert "nested too deeply" in str(error)


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\x00\x00", b"%PDF-1.7\n%\xe2\xe3", b"MZ\x90\x00", b"\x7fELF", b"<html>"]
)
def test_another_kind_of_file_is_refused_whatever_its_name(data):
    with pytest.raises(InputError, match="cannot be read"):
        read_file(data * 50, "trace.json")


# -- archives ------------------------------------------------------------------------------------------------------


def test_a_broken_member_costs_only_itself():
    data = zipped(("a.json", json.dumps(CHAT)), ("b.json", json.dumps(CHAT) + " " * 50), ("c.json", json.dumps(CHAT)))
    broken = bytearray(data)
    place = data.index(b"b.json") + len(b"b.json") + 20
    broken[place : place + 8] = b"\xff" * 8
    report = opened(bytes(broken))
    assert len(report.traces) == 2
    assert "b.json" in report.warnings[0]


def test_names_that_lead_out_of_a_folder_are_names_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["../../etc/evil.json", "/abs.json", "C:\\x.json", "a/../../b.json", "\x1b[31mred.json", "<b>x</b>.json"]
    report = opened(zipped(*((name, json.dumps(CHAT)) for name in names)))
    assert len(report.traces) == len(names)
    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path.parent / "b.json").exists()


def test_bombs_are_refused_before_they_fill_the_memory():
    zeros = bytes(30_000_000)
    for data in (
        gzip.compress(zeros),
        zipped(("a.json", zeros)),
        zipped(*((f"{n}.json", zeros[:4_000_000]) for n in range(8))),
    ):
        with pytest.raises(InputError, match="more than 10,000,000 bytes"):
            open_bytes(data, "bomb", limit=10_000_000)


def test_a_declared_size_is_not_believed():
    data = bytearray(zipped(("a.json", bytes(2_000_000))))
    for place in (found.start() for found in re.finditer(re.escape((2_000_000).to_bytes(4, "little")), bytes(data))):
        data[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(InputError):
        open_bytes(bytes(data), "bomb", limit=1_000_000)


def test_an_encrypted_member_is_named():
    data = bytearray(zipped(("a.json", json.dumps(CHAT))))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    with pytest.raises(InputError, match="without a JSON file"):
        read_file(bytes(data), "x")


# -- size ----------------------------------------------------------------------------------------------------------

LONG = 10_000_000


@pytest.mark.parametrize(
    "content",
    [
        "a" * LONG, "word " * (LONG // 5), "data:image/png;base64," + "iVBORw0K" * (LONG // 8), "data:" * (LONG // 5),
        ("A1b" * 666 + " ") * (LONG // 2000), "{" * LONG, '{"a": "\\u6771"}' * (LONG // 16), "\\u" * (LONG // 2),
        "<script>" * (LONG // 8), "東" * (LONG // 3), "\n" * LONG, "=" * LONG, "base64," * (LONG // 7),
    ],
    ids=lambda content: content[:12].strip() or "blank",
)  # fmt: skip
def test_a_message_of_ten_megabytes_is_looked_at_in_seconds(content):
    data = json.dumps([{"role": "user", "content": "x"}, {"role": "tool", "content": content}]).encode()
    started = time.process_time()
    opened(data)
    assert time.process_time() - started < 8


@pytest.mark.parametrize(
    "value",
    [
        {f"column {n}": n for n in range(100_000)},
        [{f"column {n}": n for n in range(50_000)}] * 2,
        {"messages": [{"role": "user", **{f"k{n}": n for n in range(50_000)}}]},
        [[]] * 100_000,
        [None] * 200_000,
        {"messages": [[{"role": "user", "content": "x"}]] * 1000},
        {"role": "user", "content": [{"type": "text", "text": "x"}] * 50_000},
        [{"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": f"c{n}"} for n in range(20_000)]}],
        [{"role": "tool", "tool_call_id": "c1", "content": "x"}] * 20_000,
        [{"role": "assistant", "content": None, "tool_calls": [CALL]}] * 20_000,
    ],
    ids=range(10),
)
def test_wide_and_long_shapes_are_looked_at_in_seconds(value):
    started = time.process_time()
    report = opened(json.dumps(value).encode())
    assert report.traces or report.unread
    assert time.process_time() - started < 8


def test_the_sentence_about_an_unknown_file_stays_short():
    report = read_file(json.dumps({"k" * 10_000: 1, **{f"column {n}": n for n in range(10_000)}}).encode(), "x")
    assert len(report.unread[0]) < 2000


# -- any damage ----------------------------------------------------------------------------------------------------

CONTAINERS = {
    "document": json.dumps(CHAT, indent=1, ensure_ascii=False).encode(),
    "lines": "\n".join(LINES).encode(),
    "native": json.dumps(NATIVE).encode(),
    "concatenated": "\n".join(json.dumps(message, indent=1) for message in CHAT).encode(),
    "utf-16": "\n".join(LINES).encode("utf-16"),
    "gzip": gzip.compress("\n".join(LINES).encode()),
    "zip": zipped(("a.json", json.dumps(CHAT)), ("b.jsonl", "\n".join(LINES))),
    "zlib": zlib.compress("\n".join(LINES).encode()),
}
places = st.integers(0, 10_000)
damages = st.one_of(
    st.tuples(st.just("cut"), places),
    st.tuples(st.just("behead"), places),
    st.tuples(st.just("drop"), places, st.integers(1, 40)),
    st.tuples(st.just("insert"), places, st.binary(min_size=1, max_size=8)),
    st.tuples(st.just("flip"), places, st.integers(0, 255)),
    st.tuples(st.just("double"), places, st.integers(1, 200)),
    st.tuples(st.just("zeros"), places, st.integers(1, 64)),
)


def damaged(data, kind, place, extra=0):
    place %= len(data) + 1
    if kind == "cut":
        return data[:place]
    if kind == "behead":
        return data[place:]
    if kind == "drop":
        return data[:place] + data[place + extra :]
    if kind == "insert":
        return data[:place] + extra + data[place:]
    if kind == "flip":
        return data[:place] + bytes([extra]) + data[place + 1 :]
    if kind == "double":
        return data[:place] + data[place : place + extra] + data[place:]
    return data[:place] + bytes(extra) + data[place + extra :]


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(sorted(CONTAINERS)), st.lists(damages, min_size=1, max_size=3))
def test_any_damage_of_any_container_gives_a_report_or_one_sentence(container, several):
    data = CONTAINERS[container]
    for damage in several:
        data = damaged(data, *damage)
    try:
        report = opened(data, "the file")
    except InputError as error:
        assert "\n" not in str(error).strip()
        assert "the file" in str(error)
    else:
        assert report.traces or report.unread or report.bad_lines or report.warnings
