"""The toolbox: honest tools, and file tools that cannot leave their folder."""

import json

import pytest

from agent.errors import InputError
from agent.messages import ToolCall
from agent.toolbox import SAMPLE_FILES, pick, toolbox


def call(registry, name, **arguments):
    text = registry.call(ToolCall("c1", name, arguments))
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("one\n\ntwo\n  \n", encoding="utf-8")
    (root / "sub" / "b.txt").write_text("没有换行", encoding="utf-8")
    (root / "image").write_bytes(b"\xff\xfe\x00")
    (root / ".hidden").write_text("x", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("not yours", encoding="utf-8")
    (root / "out").symlink_to(tmp_path / "secret.txt")
    (root / "circle").symlink_to(root / "circle")
    (root / "within").symlink_to(root / "a.txt")
    return root


@pytest.fixture
def files(folder):
    return pick(["list_files", "count_lines", "read_file"], root=folder)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("add", {"a": 2, "b": 3}, 5),
        ("subtract", {"a": 2, "b": 3}, -1),
        ("multiply", {"a": 5, "b": 4}, 20),
        ("divide", {"a": 7, "b": 2}, 3.5),
        ("noop", {}, "ok"),
        ("get_stock", {"symbol": "tea"}, {"symbol": "TEA", "price": 41.5, "currency": "EUR"}),
    ],
)
def test_a_tool_gives_its_result(name, arguments, result):
    assert call(pick([name]), name, **arguments) == result


@pytest.mark.parametrize(
    ("name", "arguments", "error", "retryable"),
    [
        ("divide", {"a": 1, "b": 0}, "cannot divide by 0", True),
        ("get_order", {"order_id": "B7"}, "there is no order 'B7'", True),
        ("get_weather", {"city": "Atlantis"}, "no place called 'Atlantis' is known", False),
        ("get_stock", {"symbol": "ZZZ"}, "there is no share with the symbol 'ZZZ'", True),
        ("read_log", {"day": 9}, "there is no log of day 9", True),
        ("cancel_order", {"order_id": "A1001"}, "order A1001 is shipped and can no longer be cancelled", True),
    ],
)
def test_what_a_tool_does_not_know_it_says(name, arguments, error, retryable):
    answer = call(pick([name]), name, **arguments)
    assert answer["error"].startswith(error)
    assert answer["retryable"] is retryable


def test_weather_is_known_by_either_name_of_a_city():
    registry = pick(["get_weather"])
    assert call(registry, "get_weather", city="上海")["temperature_c"] == 22
    assert call(registry, "get_weather", city=" Shanghai ")["temperature_c"] == 22


def test_a_cancelled_order_stays_cancelled_for_its_own_run_only():
    one, other = pick(["get_order", "cancel_order"]), pick(["get_order"])
    call(one, "cancel_order", order_id="A1002")
    assert call(one, "get_order", order_id="A1002")["status"] == "cancelled"
    assert call(other, "get_order", order_id="A1002")["status"] == "paid"


def test_a_log_is_long_and_holds_its_fact():
    text = call(pick(["read_log"]), "read_log", day=1)
    assert len(text) > 4000 and "P-7741" in text


def test_files_are_listed_without_hidden_ones_and_links_that_lead_out(files):
    assert call(files, "list_files") == ["a.txt", "image", "sub/", "within"]
    assert call(files, "list_files", folder="sub") == ["b.txt"]


def test_lines_are_counted_with_and_without_a_last_line_break(files):
    assert call(files, "count_lines", path="a.txt") == {"path": "a.txt", "lines": 4, "with_text": 2, "blank": 2}
    assert call(files, "count_lines", path="sub/b.txt")["lines"] == 1


def test_a_link_within_the_folder_is_followed(files):
    assert call(files, "read_file", path="within") == "one\n\ntwo\n  \n"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../secret.txt", "leads out of the folder"),
        ("sub/../../secret.txt", "leads out of the folder"),
        ("out", "leads out of the folder"),
        ("/etc/hostname", "give it relative to the folder"),
        ("~/x", "give it relative to the folder"),
        ("C:\\x", "there is no file"),
        ("a\0b", "null character"),
        ("circle", "cannot be opened"),
        ("sub", "is a folder"),
        ("missing.txt", "there is no file 'missing.txt'"),
        ("image", "not a UTF-8 text file"),
        ("x" * 300, "cannot be opened"),
    ],
)
def test_a_path_that_cannot_be_read_is_an_error_that_does_not_tell_where_the_folder_is(files, folder, path, words):
    for name in ("read_file", "count_lines"):
        answer = call(files, name, path=path)
        assert words in answer["error"]
        assert str(folder.parent) not in answer["error"]
        assert "not yours" not in answer["error"]


def test_a_very_large_file_is_refused(files, folder):
    (folder / "large").write_text("x" * 300_000, encoding="utf-8")
    assert "is larger than" in call(files, "read_file", path="large")["error"]


def test_the_sample_files_have_the_counts_of_the_reference_session():
    registry = pick(["list_files", "count_lines"])
    counts = [call(registry, "count_lines", path=name) for name in call(registry, "list_files")]
    assert sorted((count["lines"], count["with_text"], count["blank"]) for count in counts) == [
        (50, 45, 5),
        (80, 72, 8),
        (110, 98, 12),
    ]
    assert SAMPLE_FILES.is_dir()


def test_tools_are_picked_once_and_in_order():
    assert pick(["multiply", "add", "multiply"]).names == ("multiply", "add")


def test_an_unknown_tool_is_named_with_the_nearest_one():
    with pytest.raises(InputError, match="there is no tool 'multipy' in the toolbox; did you mean 'multiply'"):
        pick(["multipy"])
    with pytest.raises(InputError, match="; known are add, subtract"):
        pick(["?"])


def test_a_root_that_does_not_exist_is_said():
    with pytest.raises(InputError, match="the folder 'nowhere' for the file tools does not exist"):
        pick(["read_file"], root="nowhere")


def test_every_tool_and_every_parameter_is_described():
    for tool in toolbox().values():
        assert tool.description
        assert all(parameter["description"] for parameter in tool.parameters["properties"].values())
