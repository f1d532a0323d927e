"""Requests for a reader: rows, differences, JSON and a command that really sends the body."""

from __future__ import annotations

import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import FakeModel, Intervention, Loop, Message, ToolCall, Trace
from agent.asked import body_of
from agent.context import ContextBudget
from agent.request import request_of
from agent.trace import Edit, Request, TraceStep
from traces.requests import Change, body_text, curl_command, prompt_tokens, read_request, request_frame

NASTY = 'it\'s "two" $HOME `id` \\n \\ ! 东京 \x00\x07\r\n END_OF_BODY\nEND_OF_BODY\n{} %s \u2028 \ud800 🙂 ~$5'


def made(count: int, *requests: Request | None, messages: list[Message] | None = None) -> Trace:
    trace = Trace()
    for message in messages or [Message("user", f"text {n}") for n in range(count)]:
        trace.add(message, "user")
    trace.steps = [TraceStep(index=n, request=request) for n, request in enumerate(requests, 1)]
    return trace


def table(trace: Trace, number: int) -> list[tuple[Any, ...]]:
    sent = read_request(trace, trace.steps[number - 1])
    assert sent is not None
    return [(row.sent, row.position, row.op, row.by, row.since) for row in sent.rows]


def edit(op: str, at: int, by: str = "context", text: str | None = None, count: int = 1) -> Edit:
    with_ = None if text is None else {"role": "system", "content": text}
    return Edit(op=op, message=at, by=by, with_=with_, count=count)


def test_a_first_request_is_all_new() -> None:
    trace = made(2, Request(upto=2))
    assert table(trace, 1) == [(0, 0, "keep", "", "new"), (1, 1, "keep", "", "new")]
    sent = read_request(trace, trace.steps[0])
    assert sent and (sent.previous, sent.sent, sent.head) == (None, 2, 0)


def test_later_requests_say_what_is_new_what_differs_and_what_is_left_out() -> None:
    summary = [edit("replace", 0, text="short"), edit("drop", 1, count=2)]
    trace = made(6, Request(upto=4), Request(upto=5, edits=summary), Request(upto=6, edits=summary))
    assert table(trace, 2) == [
        (0, 0, "replace", "context", "changed"),
        (None, 1, "drop", "context", "gone"),
        (None, 2, "drop", "context", "gone"),
        (1, 3, "keep", "", "same"),
        (2, 4, "keep", "", "new"),
    ]
    assert table(trace, 3) == [
        (0, 0, "replace", "context", "same"),
        (None, 1, "drop", "context", "same"),
        (None, 2, "drop", "context", "same"),
        (1, 3, "keep", "", "same"),
        (2, 4, "keep", "", "same"),
        (3, 5, "keep", "", "new"),
    ]
    second, third = (read_request(trace, step) for step in trace.steps[1:])
    assert second and third
    assert (second.head, third.head) == (0, 5)
    assert second.since() == {"changed": 1, "gone": 2, "same": 1, "new": 1}
    assert second.edits() == {("replace", "context"): 1, ("drop", "context"): 2}


def test_what_was_inserted_before_a_position_is_known_again() -> None:
    twice = [edit("insert", 1, "protocol", "a"), edit("insert", 1, "protocol", "b")]
    trace = made(3, Request(upto=2, edits=twice[:1]), Request(upto=3, edits=twice))
    assert table(trace, 2) == [
        (0, 0, "keep", "", "same"),
        (1, None, "insert", "protocol", "same"),
        (2, None, "insert", "protocol", "new"),
        (3, 1, "keep", "", "same"),
        (4, 2, "keep", "", "new"),
    ]


def test_a_request_after_steps_of_which_nothing_is_known_names_the_one_it_is_compared_with() -> None:
    trace = made(3, Request(upto=1), None, Request(upto=3))
    assert read_request(trace, trace.steps[1]) is None
    third = read_request(trace, trace.steps[2])
    assert third and third.previous == 1
    assert third.since() == {"same": 1, "new": 2}


def test_a_request_that_is_about_to_be_sent_is_compared_with_the_last_one() -> None:
    trace = made(3, Request(upto=1), Request(upto=2))
    coming = read_request(trace, TraceStep(index=3, request=Request(upto=3)))
    assert coming and coming.previous == 2
    assert coming.head == 2


EDITS = st.builds(
    edit,
    st.sampled_from(["drop", "replace", "insert"]),
    st.integers(0, 6),
    st.sampled_from(["context", "protocol", "x"]),
    st.sampled_from(["a", "b"]),
    st.integers(1, 3),
)


@given(st.lists(EDITS, max_size=6), st.lists(EDITS, max_size=6), st.integers(0, 6))
def test_the_rows_that_were_sent_are_the_request_and_every_message_has_its_row(
    first: list[Edit], second: list[Edit], upto: int
) -> None:
    trace = made(6, Request(upto=upto, edits=first), Request(upto=6, edits=second))
    for step, length in zip(trace.steps, (upto, 6), strict=True):
        sent = read_request(trace, step)
        assert sent is not None
        assert [row.message for row in sent.rows if row.sent is not None] == list(request_of(trace, step))
        assert [row.sent for row in sent.rows if row.sent is not None] == list(range(sent.sent))
        assert [row.position for row in sent.rows if row.position is not None] == list(range(length))


def test_interventions_and_repairs_of_a_real_run_are_named() -> None:
    calls = [[ToolCall("c1", "look", {})], "done"]
    loop = Loop(FakeModel(calls), [look], interventions=[Intervention("blank_results", {"text": "-"})])
    loop.start("go")
    loop.finish()
    assert table(loop.trace, 2)[2] == (2, 2, "replace", "blank_results", "new")
    broken = [Message("user", "go"), Message("assistant", None, (ToolCall("c1", "look", {}),)), Message("user", "?")]
    trace = made(3, messages=broken)
    trace.steps = [TraceStep(index=1, request=Loop(FakeModel([]))._outgoing.preview(broken, 0))]
    assert table(trace, 1)[2] == (2, None, "insert", "protocol", "new")


def look() -> str:
    """Look around."""
    return "a lot"


def test_compaction_of_a_real_run_shows_every_message_that_was_left_out() -> None:
    asks = [[ToolCall(f"c{n}", "look", {"n": "word " * 60})] for n in range(5)]
    loop = Loop(FakeModel([*asks, "done"]), [look], context=ContextBudget(max_tokens=350))
    loop.start("go")
    loop.finish()
    last = read_request(loop.trace, loop.trace.steps[-1])
    assert last is not None
    left_out = [row.position for row in last.rows if row.sent is None]
    assert left_out
    assert {row.by for row in last.rows if row.op != "keep"} == {"context"}
    assert len(last.rows) == len(left_out) + last.sent


def test_other_tools_and_options_are_named() -> None:
    trace = made(2, Request(upto=1), Request(upto=2))
    old = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("a", "b")]
    trace.tools = [old[0], {"type": "function", "function": {"name": "c"}}]
    trace.config = {"asked_with": {"options": {"model": "m", "temperature": 1}}, "protocol": "native"}
    before = {"tools": old, "asked_with": {"options": {"model": "m", "seed": 4}}, "protocol": "native"}
    trace.steps[0].extra["asked_until"] = before
    second = read_request(trace, trace.steps[1])
    assert second is not None
    assert second.tools == [Change("b", old[1], None), Change("c", None, trace.tools[1])]
    assert second.options == [Change("seed", 4, None), Change("temperature", None, 1)]


def test_a_table_holds_any_message() -> None:
    odd = [
        Message("assistant", None, (ToolCall("c", "f", {"id": 2**70}),)),
        Message("tool", json.dumps({"id": 2**70}), tool_call_id="c"),
        Message("user", [{"type": "text", "text": NASTY}, {"type": "image_url", "image_url": {"url": "x"}}]),
    ]
    trace = made(3, Request(upto=3, edits=[edit("drop", 1, by=NASTY * 9)]), messages=odd)
    sent = read_request(trace, trace.steps[0])
    assert sent is not None
    frame = request_frame(sent.rows)
    assert str(2**70) in frame["tool_calls"][0] + frame["text"][1]
    assert frame["sent"].isna().tolist() == [False, True, False]
    assert max(map(len, frame["by"])) <= 60


def test_tokens_are_the_providers_count_or_an_estimate_that_is_marked() -> None:
    trace = made(1, Request(upto=1))
    tokens, estimated = prompt_tokens(trace, trace.steps[0])
    assert tokens > 0
    assert estimated
    reported = TraceStep.from_dict({"index": 1, "request": {"upto": 1}, "usage": {"prompt_tokens": 7}})
    assert prompt_tokens(trace, reported) == (7, False)


# ---- as text ----


def test_json_text_is_strict_readable_and_without_secrets() -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": f"东京 {NASTY} sk-proj-abcdefghijklmnopqrstuvwx my-own-key-77"}],
        "temperature": float("nan"),
        "api_key": "hidden-one",
    }
    text = body_text(body, ["my-own-key-77"])
    assert "东京" in text
    assert json.loads(text, parse_constant=pytest.fail)["temperature"] is None
    assert not any(secret in text for secret in ("hidden-one", "sk-proj-abc", "my-own-key"))
    assert not any(secret in curl_command(body, "http://h", ["my-own-key-77"]) for secret in ("sk-proj-abc", "my-own"))


class Taker(BaseHTTPRequestHandler):
    taken: list[tuple[str, str, bytes]]

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        self.taken.append((self.path, self.headers["authorization"], data))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(("size", "path"), [(1, "/v1"), (4000, "/v1"), (1, "/v'1;echo$(id)`id`&x")])
def test_the_command_sends_the_body_through_a_real_shell(size: int, path: str) -> None:
    trace = made(1, Request(upto=1), messages=[Message("user", NASTY * size)])
    trace.config = {"asked_with": {"options": {"model": "m'$(id)", "stream": True}}}
    body = body_of(trace, trace.steps[0])
    assert body is not None
    handler = type("Here", (Taker,), {"taken": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        command = curl_command(body, f"http://127.0.0.1:{server.server_address[1]}{path}/")
        environment = {"OPENAI_API_KEY": "key '\"1", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "no_proxy": "*"}
        subprocess.run(["sh"], input=command.encode(), env=environment, check=True, capture_output=True, timeout=30)
    finally:
        server.shutdown()
        server.server_close()
    ((asked, key, data),) = handler.taken
    assert (asked, key) == (f"{path}/chat/completions", "Bearer key '\"1")
    assert json.loads(data) == body
