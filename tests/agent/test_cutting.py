"""A text that is too long is cut between words, and through one only where there is no other place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import FakeModel, Loop
from agent.cutting import head, tail

KEY = "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("exactly ten", "exactly"),
        ("ends here, and", "ends here,"),
        ("ends with\na line", "ends with"),
        ("请告诉我今天的天气怎么样", "请告诉我今天的天气怎"),
        ("这是密码abcdefghijklmnop", "这是密"),
        ('{"a":"abcdefgh"}', '{"a":'),
        ("abcdefghijklmnop", "abcdefghij"),
    ],
)
def test_the_beginning_ends_between_words(text, expected):
    assert head(text, 10) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("of exactly ten", "ten"),
        ("a longer line\ntoken: x", "token: x"),
        ("one line\ntoken: abc def", "abc def"),
        ("天天天请告诉我今天的天气", "天请告诉我今天的天气"),
        ('{"a":"abcdefgh","b":1}', ',"b":1}'),
        ("abcdefghijklmnop", "ghijklmnop"),
    ],
)
def test_the_end_begins_with_a_line_or_a_word(text, expected):
    assert tail(text, 10) == expected


@given(st.text(alphabet='ab好 \n",{', max_size=60), st.integers(1, 70))
def test_what_is_kept_is_a_beginning_and_an_end_that_are_not_too_long(text, size):
    assert text.startswith(head(text, size))
    assert text.endswith(tail(text, size))
    assert len(head(text, size)) <= size
    assert len(tail(text, size)) <= size
    assert not text or (head(text, size) and tail(text, size))


@pytest.mark.parametrize("size", range(1, 140))
def test_a_key_is_kept_whole_or_left_out(size):
    for text in (f"the key is {KEY} and so on " + "x " * 40, '{"a":"b","key":"' + KEY + '","c":[1,2]}' + "y" * 40):
        for part in (head(text, size), tail(text, size)):
            assert KEY in part or KEY[:6] not in part
            assert KEY in part or KEY[-6:] not in part


def test_the_title_of_a_run_ends_between_words():
    loop = Loop(FakeModel(["done"]), [])
    loop.start(f"Please ask the server, the key to use there is {KEY} thanks")
    assert loop.trace.title == "Please ask the server, the key to use there is"
