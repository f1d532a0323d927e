"""What a step was asked with: the body that is shown is the body that was posted, for every step of every trace."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agent import FakeModel, Intervention, JsonActionModel, Loop, Message, OpenAIModel, Phase, ToolCall, Trace
from agent.asked import asked_in, body_of
from agent.context import ContextBudget
from agent.errors import AgentError, InputError
from agent.jsontext import copy_json
from agent.models.absent import AbsentModel
from agent.models.body import RequestForm
from agent.models.profiles import PROFILES, Profile
from agent.noting import keep_asked
from agent.outgoing import SUMMARY_TO_COME
from agent.request import request_of
from agent.tools import tool
from agent.trace import TraceStep

KEY = "key-1234567890"


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def look(where: str = "here") -> str:
    """Look around."""
    return f"a lot to see {where}, and 东京 too"


class Server(ThreadingHTTPServer):
    """Asks for ``add`` twice, then says 5; keeps the bytes that it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.posted: list[bytes] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(data) for data in self.posted]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        posted = self.rfile.read(int(self.headers["content-length"]))
        self.server.posted.append(posted)
        number, json_action = len(self.server.posted), "tools" not in json.loads(posted)
        message: dict[str, Any] = {"role": "assistant", "content": "5"}
        if number < 3 and json_action:
            message["content"] = json.dumps({"action": "tool", "tool": "add", "params": {"a": 2, "b": number}})
        elif number < 3:
            function = {"name": "add", "arguments": f'{{"a": 2, "b": {number}}}'}
            message = {"role": "assistant", "content": None, "reasoning_content": "hm", "odd": 1}
            message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
        data = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.shutdown()
    server.server_close()


def live(server: Server, **options: Any) -> OpenAIModel:
    return OpenAIModel("m-1", base_url=server.url, api_key=KEY, **options)


def bodies(trace: Trace) -> list[Any]:
    return [body_of(trace, step) for step in trace.steps]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"stream": True},
    {"temperature": 0, "max_tokens": 9, "parallel_tool_calls": False, "seed": 3, "tool_choice": "auto"},
    {"extra_body": {"top_k": 2, "parallel_tool_calls": True}, "parallel_tool_calls": False},
    *({"profile": name} for name in PROFILES),
    {"profile": Profile(name="own", content="omit", short_ids=True, plain_schemas=True, max_tokens_key="n_predict")},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_body_of_every_step_is_what_was_posted_also_after_saving(server: Server, options: dict[str, Any]) -> None:
    loop = Loop(live(server, max_tokens=options.pop("max_tokens", 50), **options), [add, look], system="你好 ✓")
    loop.start('two "quoted" words\n\ud800 half')
    loop.finish()
    assert len(server.bodies) == 3
    assert bodies(loop.trace) == server.bodies
    saved = Trace.from_dict(json.loads(json.dumps(loop.trace.to_dict())))
    assert bodies(saved) == server.bodies
    assert KEY not in json.dumps(loop.trace.to_dict())


def test_a_model_says_what_it_would_send_and_sends_nothing(server: Server) -> None:
    model = live(server, temperature=0.5)
    messages = [Message("user", "2+3?"), Message("assistant", None, (ToolCall("c", "odd name", {}),))]
    schemas = [{"type": "function", "function": {"name": "add", "parameters": {}}}]
    body = model.body(messages, schemas)
    assert server.posted == []
    model.complete(messages, schemas)
    assert server.bodies == [body]


def test_json_actions_are_shown_as_the_inner_model_gets_them(server: Server) -> None:
    model = JsonActionModel(live(server, temperature=0, parallel_tool_calls=False))
    loop = Loop(model, [add])
    loop.start("2+3?")
    loop.finish()
    assert len(server.bodies) == 3
    assert "tools" not in server.bodies[1]
    assert bodies(loop.trace) == server.bodies
    assert model.body(request_of(loop.trace, loop.trace.steps[1]), loop.trace.tools) == server.bodies[1]


def test_a_script_shows_its_requests_in_the_same_form() -> None:
    model = FakeModel([[ToolCall("c1", "add", {"a": 2, "b": 3})], "5"])
    loop = Loop(model, [add])
    loop.start("2+3?")
    loop.finish()
    second = body_of(loop.trace, loop.trace.steps[1])
    assert second == {
        "model": "script",
        "tools": loop.tools.schemas(),
        "messages": [message.to_dict() for message in loop.messages[:3]],
    }
    assert model.body(loop.messages[:3], loop.tools.schemas()) == second


def test_a_model_that_is_not_here_says_what_it_would_be_sent_and_answers_nothing(server: Server) -> None:
    first = Loop(live(server, temperature=0), [add])
    first.start("2+3?")
    first.advance()
    asleep = Loop.resume(first.snapshot(), model=AbsentModel(first.snapshot()), tools=[add])
    step, here = asleep.next_step(), first.next_step()
    assert step and here
    assert body_of(asleep.trace, step) == body_of(first.trace, here)
    assert asleep.trace.model == first.trace.model
    asleep.finish()
    assert (asleep.stop_reason, server.posted) == ("model_error", [])


def test_a_model_of_ones_own_needs_to_say_nothing() -> None:
    class Mine:
        name = "mine"

        def complete(self, messages: Any, tool_schemas: Any) -> Any:
            return FakeModel(["hi"]).complete(messages, tool_schemas)

    loop = Loop(Mine())
    loop.start("hello")
    loop.finish()
    assert bodies(loop.trace) == [{"model": "mine", "messages": [{"role": "user", "content": "hello"}]}]
    with pytest.raises(InputError, match="Mine does not say"):
        JsonActionModel(Mine()).body([], [])


def test_earlier_steps_keep_what_they_were_asked_with_when_a_run_goes_on_otherwise(server: Server) -> None:
    first = Loop(live(server, temperature=0), [add])
    first.start("2+3?")
    while len(first.trace.steps) < 2:
        first.advance()
    asleep = Loop.resume(first.snapshot(), model=AbsentModel(first.snapshot()), tools=[add])
    assert bodies(asleep.trace) == server.bodies
    second = Loop.resume(asleep.snapshot(), model=live(server, temperature=1, max_tokens=7), tools=[add, look])
    second.finish()
    assert len(server.bodies) == 3
    assert bodies(second.trace) == server.bodies
    assert [asked_in(second.trace, step).form.options.get("temperature") for step in second.trace.steps] == [0, 0, 1]


@pytest.mark.parametrize("steps", [1, 2])
def test_a_step_that_is_asked_again_is_shown_as_it_was_asked_last(server: Server, steps: int) -> None:
    first = Loop(live(server, temperature=0), [add])
    first.start("2+3?")
    while len(first.trace.steps) < steps - 1 or first.phase is not Phase.CALL:
        first.advance()
    lost = first.snapshot()
    first.advance()
    lost["trace"]["steps"].append({"index": steps, "request": lost["request"]})  # its answer never came back
    second = Loop.resume(lost, model=live(server, temperature=1), tools=[add])
    del server.posted[-1]
    second.finish()
    assert len(server.bodies) == 3
    assert bodies(second.trace) == server.bodies


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_the_beginning_of_a_run_says_the_same_of_its_steps(server: Server, count: int) -> None:
    loop = Loop(live(server, temperature=0), [add])
    loop.start("2+3?")
    while len(loop.trace.steps) < 2:
        loop.advance()
    loop = Loop.resume(loop.snapshot(), model=live(server, temperature=1), tools=[add, look])
    loop.finish()
    beginning = Trace.from_dict({**loop.trace.to_dict(), "steps": []})
    beginning.steps = [TraceStep(index=n, request=loop.trace.steps[n - 1].request) for n in range(1, count + 1)]
    keep_asked(beginning, loop.trace)
    assert bodies(beginning) == server.bodies[:count]
    going_on = asked_in(beginning, TraceStep(index=9)).form.options["temperature"]
    assert going_on == (0 if count < 2 else 1)


def test_going_on_as_before_leaves_no_mark(server: Server) -> None:
    first = Loop(live(server), [add])
    first.start("2+3?")
    while len(first.trace.steps) < 2:
        first.advance()
    between = Loop.resume(first.snapshot(), model=FakeModel([]), tools=[look])
    assert bodies(between.trace) == server.bodies
    again = Loop.resume(between.snapshot(), model=live(server), tools=[add])
    assert all(not step.extra for step in again.trace.steps)


def test_the_request_about_to_be_sent_is_the_one_that_is_sent(server: Server) -> None:
    loop = Loop(live(server), [add], interventions=[Intervention("blank_results", {"text": "nothing"})])
    loop.start("2+3?")
    seen = []
    while loop.phase is not None:
        before = copy_json(loop.snapshot())
        step = loop.next_step()
        assert (step is None) == (loop.phase not in (Phase.PREPARE, Phase.CALL))
        if step is not None:
            assert step.index == len(loop.trace.steps) + 1
            seen.append(body_of(loop.trace, step))
        assert loop.snapshot() == before
        loop.advance()
    assert len(server.bodies) == 3
    assert seen == [body for body in server.bodies for _ in ("prepare", "call")]


def test_a_preview_asks_for_no_summary_and_changes_nothing() -> None:
    loop = Loop(FakeModel(["word " * 300, "a summary", "done"]), context=ContextBudget(max_tokens=250))
    loop.start("first")
    loop.finish()
    loop.start("and now?")
    before = copy_json(loop.snapshot())
    step = loop.next_step()
    assert step is not None
    assert loop.snapshot() == before
    sent = request_of(loop.trace, step)
    assert len(sent) < len(loop.messages)
    assert any(SUMMARY_TO_COME in message.text for message in sent)
    loop.finish()
    assert SUMMARY_TO_COME not in json.dumps(loop.trace.to_dict())


def test_a_preview_of_an_impossible_request_says_why() -> None:
    loop = Loop(FakeModel(["hi"]), context=ContextBudget(max_tokens=20))
    loop.start("word " * 100)
    with pytest.raises(AgentError, match="the limit is 20"):
        loop.next_step()


def test_a_trace_that_does_not_say_gives_no_body_and_one_that_says_little_gives_that() -> None:
    trace = Trace.from_dict(
        {
            "schema": "agent-trace/1",
            "model": {"name": "m"},
            "config": {"temperature": 0.2, "max_tokens": None, "parallel": True, "else": 1},
            "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
            "steps": [{"index": 1, "reply": 1}, {"index": 2, "request": {"upto": 1}}],
        }
    )
    assert bodies(trace) == [
        None,
        {"model": "m", "temperature": 0.2, "messages": [{"role": "user", "content": "hi"}]},
    ]


@pytest.mark.parametrize("wrong", [{"options": 3}, {"profile": {"content": 4, "hosts": 1, "x": 2}}, {"base_url": []}])
def test_a_form_that_a_file_says_wrongly_counts_as_not_said(wrong: dict[str, Any]) -> None:
    assert RequestForm.from_dict(wrong) == RequestForm()
