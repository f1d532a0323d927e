"""A streamed reply, put together from its pieces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.connection import DONE, EventLines
from agent.models.streams import StreamedReply


def assemble(*deltas, names=("read_file", "f"), finish_reason="stop"):
    """The whole reply of a stream with one delta a chunk."""
    reply = StreamedReply(names)
    shown = [delta for d in deltas for delta in reply.add({"choices": [{"index": 0, "delta": d}]})]
    reply.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
    return reply, reply.to_dict()["choices"][0]["message"], shown


def piece(arguments=None, *, index=0, **more):
    """A delta with one piece of a call; ``name`` and ``arguments`` belong to its function."""
    function = {key: value for key, value in (("name", more.pop("name", None)), ("arguments", arguments)) if value}
    place = {} if index is None else {"index": index}
    return {"tool_calls": [{**place, **more, "function": function}]}


def functions(message):
    return [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ())]


def test_text_and_thoughts_are_joined_and_shown_as_they_come():
    _, message, shown = assemble(
        {"role": "assistant", "reasoning_content": "hm"}, {"content": "Hel"}, {"content": "lo"}
    )
    assert message == {"role": "assistant", "reasoning_content": "hm", "content": "Hello"}
    assert shown == [("reasoning", "hm"), ("text", "Hel"), ("text", "lo")]


def test_a_thought_that_comes_under_two_names_is_shown_once_and_kept_under_both():
    _, message, shown = assemble({"reasoning": "hm", "reasoning_content": "hm"})
    assert shown == [("reasoning", "hm")]
    assert (message["reasoning"], message["reasoning_content"]) == ("hm", "hm")


def test_a_continuation_under_another_index_belongs_to_the_only_open_call():
    reply, message, _ = assemble(piece('{"p":', id="a", name="f"), piece('"x"}', index=1))
    assert functions(message) == [("f", '{"p":"x"}')]
    assert not reply.malformed


def test_a_continuation_belongs_to_the_one_call_that_is_not_complete():
    reply, message, _ = assemble(
        piece('{"p":1}', id="a", name="f"), piece('{"p":', index=1, id="b", name="f"), piece("2}", index=7)
    )
    assert functions(message) == [("f", '{"p":1}'), ("f", '{"p":2}')]
    assert not reply.malformed


def test_a_continuation_that_could_belong_to_several_calls_is_not_guessed_at():
    reply, message, _ = assemble(
        piece('{"p":', id="a", name="f"), piece('{"p":', index=1, id="b", name="f"), piece("2}", index=7)
    )
    assert reply.malformed
    assert functions(message) == [("f", '{"p":'), ("f", '{"p":')]


def test_one_chunk_may_hold_two_pieces_of_one_call():
    pieces = piece("", id="a", name="f")["tool_calls"] + piece("{}")["tool_calls"]
    _, message, _ = assemble({"tool_calls": pieces})
    assert functions(message) == [("f", "{}")]


@pytest.mark.parametrize(
    "names", [("read_file", "read_file", "read_file"), ("read_", "file"), ("read_", "read_file"), ("read_file", "")]
)
def test_a_name_may_be_repeated_continued_or_grow(names):
    _, message, _ = assemble(*(piece("{" if n == 0 else " ", id="a", name=name) for n, name in enumerate(names)))
    assert functions(message)[0][0] == "read_file"


def test_parallel_calls_that_all_carry_index_0_stay_apart():
    _, message, _ = assemble(piece('{"c":"A"}', id="a", name="f"), piece('{"c":"B"}', id="b", name="f"))
    assert functions(message) == [("f", '{"c":"A"}'), ("f", '{"c":"B"}')]


def test_whole_calls_without_id_and_with_one_index_stay_apart():
    _, message, _ = assemble(piece('{"c":"A"}', id="", name="f"), piece('{"c":"B"}', id="", name="f"))
    assert functions(message) == [("f", '{"c":"A"}'), ("f", '{"c":"B"}')]


def test_calls_without_an_index_are_told_apart_by_id():
    _, message, _ = assemble(
        piece('{"c":', index=None, id="a", name="f"),
        piece("1}", index=None, id="a"),
        piece("{}", index=None, id="b", name="f"),
    )
    assert functions(message) == [("f", '{"c":1}'), ("f", "{}")]


def test_arguments_as_an_object_and_signatures_of_a_call_are_kept():
    _, message, _ = assemble(piece({"c": 1}, id="a", name="f", extra_content={"google": {"thought_signature": "s"}}))
    (call,) = message["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"c": 1}
    assert call["extra_content"] == {"google": {"thought_signature": "s"}}


def test_the_old_function_call_is_put_together_too():
    _, message, _ = assemble(
        {"function_call": {"name": "f", "arguments": '{"a"'}}, {"function_call": {"arguments": ":1}"}}
    )
    assert functions(message) == [("f", '{"a":1}')]


def test_chunks_without_choices_are_read_for_their_usage_alone():
    reply = StreamedReply()
    reply.add({"choices": [], "prompt_filter_results": []})
    reply.add({"choices": [{"delta": {"content": "hi"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 1}})
    reply.add({"choices": [{"delta": None}], "usage": None})
    reply.add({"choices": None, "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}})
    assert reply.to_dict()["usage"] == {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    assert reply.to_dict()["choices"][0]["message"]["content"] == "hi"


@pytest.mark.parametrize(
    "chunk",
    [{"choices": [], "x_groq": {"usage": {"prompt_tokens": 1}}}, {"choices": [{"usage": {"prompt_tokens": 1}}]}],
)
def test_usage_is_found_where_some_hosts_hide_it(chunk):
    reply = StreamedReply()
    reply.add(chunk)
    assert reply.to_dict()["usage"] == {"prompt_tokens": 1}


def test_a_list_of_parts_gives_text_and_thoughts():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    _, message, shown = assemble({"content": [thinking]}, {"content": [{"type": "text", "text": "5"}]})
    assert (message["content"], message["reasoning_content"]) == ("5", "hm")
    assert shown == [("reasoning", "hm"), ("text", "5")]


def test_a_refusal_and_unknown_keys_are_kept():
    _, message, _ = assemble({"refusal": "I can"}, {"refusal": "'t"}, {"details": [1]}, {"details": [2]}, {"tag": "x"})
    assert (message["refusal"], message["details"], message["tag"]) == ("I can't", [1, 2], "x")


@given(st.data())
def test_wherever_arguments_are_cut_parallel_calls_come_out_whole(data):
    whole = ['{"a": "x}{", "b": [1, 2]}', '{"c": {"d": "天气"}}']
    deltas = []
    for index, text in enumerate(whole):
        cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1))))
        parts = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        deltas.append(piece(parts[0], index=index, id=f"c{index}", name="f"))
        deltas.extend(piece(part, index=index) for part in parts[1:])
    _, message, _ = assemble(*deltas)
    assert functions(message) == [("f", text) for text in whole]


@given(st.lists(st.integers(1, 200), max_size=20), st.sampled_from([b"\n", b"\r\n"]))
def test_events_are_the_same_wherever_the_network_cuts_them(sizes, newline):
    lines = [
        b": ping",
        b'data: {"a":"\xe5\xa4\xa9"}',
        b"",
        b"event: x",
        b"data:1",
        b"data: 2",
        b"",
        b"data: [DONE]",
        b"",
    ]
    stream = newline.join([*lines, b"", b""])
    events, reader = [], EventLines()
    for size in sizes:
        events += reader.feed(stream[:size])
        stream = stream[size:]
    events += reader.feed(stream) + reader.end()
    assert events == [b'{"a":"\xe5\xa4\xa9"}', b"1\n2", DONE]


def test_an_error_line_and_a_missing_last_line_are_read():
    reader = EventLines()
    assert reader.feed(b'error: {"message": "no"}\n\ndata: 1') == [b'{"error":{"message": "no"}}']
    assert reader.end() == [b"1"]
