import gzip
import io
import json
import zipfile

import pytest

from agent.errors import InputError
from traces.container import open_bytes

GOOD = {"role": "user", "content": "東京 😀"}
TEXT = json.dumps(GOOD, ensure_ascii=False)


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_of_every_unicode_encoding_is_read(encoding):
    assert open_bytes(TEXT.encode(encoding), "x").value == GOOD


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
def test_json_lines_are_read_with_any_line_end_and_with_a_byte_order_mark(prefix, newline):
    document = open_bytes(prefix + newline.join([TEXT, "", TEXT]).encode(), "x")
    assert document.container == "jsonl"
    assert document.records == [GOOD, GOOD]
    assert document.lines == [1, 3]


def test_an_undecodable_byte_is_reported_with_its_position():
    with pytest.raises(InputError, match=r"byte 0x92 at position 29 \(line 2\).*UTF-8"):
        open_bytes(b'{"role": "user",\n "content": \x92hi"}', "notes.json")


def test_one_bad_line_costs_only_itself_and_is_named():
    document = open_bytes(f'{TEXT}\n{{"role": "us\n{TEXT}\n{TEXT}'.encode(), "x")
    assert len(document.records) == 3
    assert [(bad.line, bad.text) for bad in document.bad_lines] == [(2, '{"role": "us')]


def test_a_line_with_an_undecodable_byte_costs_only_itself():
    document = open_bytes(TEXT.encode() + b'\n{"a": "\x92"}\n' + TEXT.encode(), "x")
    assert len(document.records) == 2
    assert document.bad_lines[0].line == 2
    assert "0x92" in document.bad_lines[0].error


@pytest.mark.parametrize("torn", [b'{"role": "assist', '{"content": "東'.encode()[:-1]])
def test_a_torn_last_line_keeps_what_came_before(torn):
    document = open_bytes(TEXT.encode() + b"\n" + torn, "x")
    assert document.records == [GOOD]
    assert [bad.line for bad in document.bad_lines] == [2]


def test_a_record_that_is_glued_to_the_one_before_is_read():
    assert open_bytes(f"{TEXT}\n{TEXT}{TEXT}\n".encode(), "x").records == [GOOD, GOOD, GOOD]


def test_pretty_printed_values_one_after_another_are_read_with_their_lines():
    pretty = json.dumps(GOOD, indent=1)
    document = open_bytes(f"{pretty}\n\n{pretty}".encode(), "x")
    assert document.container == "concatenated"
    assert document.records == [GOOD, GOOD]
    assert document.lines == [1, 6]


def test_a_broken_document_is_reported_with_line_and_column():
    with pytest.raises(InputError, match="line 3, column 2"):
        open_bytes(b'{"messages": [\n 1,\n }', "x")


def test_what_python_writes_beyond_the_standard_is_read():
    digits = "7" * 5000
    value = open_bytes(f'{{"score": NaN, "latency": -Infinity, "n": {digits}, "a": 1, "a": 2}}'.encode(), "x").value
    assert value["score"] != value["score"]
    assert value["latency"] == float("-inf")
    assert value["n"] == digits
    assert value["a"] == 2


def test_deep_nesting_is_reported_not_raised():
    with pytest.raises(InputError, match="nested too deeply"):
        open_bytes(b"[" * 100_000 + b"]" * 100_000, "x")


@pytest.mark.parametrize("data", [b"", b" \n\t", b"\xef\xbb\xbf"])
def test_an_empty_file_is_called_empty(data):
    with pytest.raises(InputError, match="is empty"):
        open_bytes(data, "x")


@pytest.mark.parametrize("data", [b"hello", b"\x89PNG\r\n\x1a\n\x00\x00", b"<html></html>"])
def test_other_files_are_refused_with_a_reason(data):
    with pytest.raises(InputError, match="cannot be read"):
        open_bytes(data, "x")


def test_gzip_is_unpacked_whatever_its_name():
    assert open_bytes(gzip.compress(TEXT.encode()), "x.json").value == GOOD


def test_gzip_that_was_cut_off_gives_what_is_there_and_says_so():
    lines = "\n".join(json.dumps({"role": "user", "content": f"{n} {hash(str(n))}"}) for n in range(20_000))
    document = open_bytes(gzip.compress(lines.encode())[:-5000], "x")
    assert len(document.records) > 1000
    assert "ends early" in document.warnings[0]


def test_zip_members_that_are_json_are_read_and_the_others_named():
    document = open_bytes(zipped(a_json=TEXT.encode(), b_txt=b"not json", c_log=TEXT.encode()), "x.zip")
    assert [member.name for member in document.members] == ["x.zip: a.json", "x.zip: c.log"]
    assert len(document.warnings) == 1
    assert "b.txt" in document.warnings[0]


def test_a_zip_without_json_is_refused():
    with pytest.raises(InputError, match="without a JSON file"):
        open_bytes(zipped(a_txt=b"hello"), "x.zip")


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped(a_json=data)])
def test_an_archive_that_unpacks_to_too_much_is_refused(pack):
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        open_bytes(pack(b" " * 2_000_000), "bomb", limit=1_000_000)


def test_the_limit_of_an_archive_counts_all_members_together():
    half = b"[" + b" " * 600_000 + b"]"
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        open_bytes(zipped(a_json=half, b_json=half), "bomb", limit=1_000_000)


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08rubbish", b"PK\x03\x04rubbish"])
def test_a_broken_archive_is_refused_with_a_reason(data):
    with pytest.raises(InputError, match="cannot be unpacked"):
        open_bytes(data, "x")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud83d\ude00", "😀"),
        (r"\ud800", "\ufffd"),
        (r"\uDE00 \ud83d", "\ufffd \ufffd"),
        (r"\ud83d\ud83d\ude00", "\ufffd😀"),
        (r"C:\\ud800", "C:\\ud800"),
        (r"\\\ud800", "\\\ufffd"),
        (r"\uac00\ud55c", "가한"),
    ],
)
def test_half_characters_are_replaced_and_nothing_else_is(written, read):
    assert open_bytes(f'["{written}"]'.encode(), "x").value == [read]
