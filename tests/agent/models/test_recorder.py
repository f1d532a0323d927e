"""Programs of other people, with the real ``openai`` package and a server that refuses what providers refuse."""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest

import agent
from agent import Trace
from agent.protocol import violations
from agent.recorder import Recorder
from traces import open_trace, read_file
from traces.summary import summarise

ROOT = Path(__file__).parents[3]
KEY = "my-very-own-test-key"
USAGE = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}


def client_of(server: Any, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key=KEY, **{"max_retries": 0, **options})


def saved(folder: Path) -> list[Trace]:
    """All traces of the folder, in the order in which they were made."""
    traces = [trace for path in folder.glob("*.json") for trace in open_trace(path)]
    return sorted(traces, key=lambda trace: trace.title)


def loop(client: openai.OpenAI, add: Callable[..., str] | None = None, stream: bool = False) -> list[Any]:
    """Somebody's own agent: it asks, runs what is asked for and asks again, until there is an answer."""
    messages: list[Any] = [{"role": "system", "content": "You add."}, {"role": "user", "content": "What is 2+3?"}]
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    while True:
        if stream:
            chunks = client.chat.completions.create(model="m", messages=messages, tools=tools, stream=True)
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
            messages.append({"role": "assistant", "content": text})
            return messages
        reply = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return messages
        for asked in reply.tool_calls:
            result = (add or (lambda a, b: str(a + b)))(**json.loads(asked.function.arguments))
            messages.append({"role": "tool", "tool_call_id": asked.id, "content": result})


def test_a_loop_becomes_a_trace(server: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    server.message({"content": None, "tool_calls": [call("add", '{"a": 2, "b": 3}')]}, "tool_calls", usage=USAGE)
    server.message({"content": "It is 5."}, usage=USAGE)
    with agent.recording("adding", tmp_path) as rec:

        @rec.tool
        def add(a: int, b: int) -> str:
            return str(a + b)

        loop(client_of(server), add)
    (trace,) = saved(tmp_path)
    assert rec.paths == [tmp_path / f"{trace.trace_id}.json"]
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert (trace.title, trace.task, trace.model.name) == ("adding", "What is 2+3?", "m")
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "It is 5.")
    assert violations(trace.messages) == []
    first, second = trace.steps
    (run,) = first.tools
    assert (run.name, run.arguments, run.message, run.ok, run.decision) == ("add", {"a": 2, "b": 3}, 3, True, "run")
    assert run.latency_ms is not None
    assert (first.request.upto, second.request.upto) == (2, 4)
    assert second.latency_ms > 0
    assert trace.usage.total_tokens == 26
    assert [tool["function"]["name"] for tool in trace.tools] == ["add"]
    summary = summarise(trace)
    assert (summary.tool_calls, summary.unpaired_calls, summary.orphan_results, summary.errors) == (1, 0, 0, 0)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json"}, "no log is left"


def test_the_program_sees_no_difference(server: Any, tmp_path: Path) -> None:
    send = [vars(kind)["send"] for kind in _kinds()]
    server.say("one")
    with agent.recording("x", tmp_path):
        reply = client_of(server).chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert type(reply).__name__ == "ChatCompletion"
    assert [vars(kind)["send"] for kind in _kinds()] == send, "what was replaced is put back"
    server.say("two")
    client_of(server).chat.completions.create(model="m", messages=[{"role": "user", "content": "again"}])
    assert len(saved(tmp_path)) == 1, "what comes after is not recorded"


def _kinds() -> list[Any]:
    clients = (openai.DefaultHttpxClient, openai.DefaultAsyncHttpxClient)
    return [next(base for base in kind.__mro__ if "send" in vars(base)) for kind in clients]


def test_a_stream_is_put_together_and_timed(server: Any, tmp_path: Path) -> None:
    server.deltas({"content": "It "}, {"content": "is 5."}, pause_s=0.05)
    with agent.recording("stream", tmp_path):
        messages = loop(client_of(server), stream=True)
    assert messages[-1]["content"] == "It is 5."
    (trace,) = saved(tmp_path)
    assert trace.messages[-1].text == "It is 5."
    (step,) = trace.steps
    assert 30 < step.first_token_ms < step.latency_ms
    assert (step.finish_reason, step.warnings) == ("stop", [])


def test_a_stream_that_is_left_keeps_what_came(server: Any, tmp_path: Path) -> None:
    server.deltas(*({"content": f"{n} "} for n in range(50)), pause_s=0.01)
    with agent.recording("left", tmp_path):
        chunks = client_of(server).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "count"}], stream=True
        )
        for chunk in chunks:
            if chunk.choices[0].delta.content == "3 ":
                break
        chunks.close()
        del chunks
    (trace,) = saved(tmp_path)
    assert trace.messages[-1].text.startswith("0 1 2 3 ")
    assert trace.steps[0].warnings == ["the stream was not read to its end"]


def test_an_async_program_with_tasks_of_its_own(server: Any, tmp_path: Path) -> None:
    server.say("first")
    server.deltas({"content": "second"})

    async def ask(client: openai.AsyncOpenAI, text: str, stream: bool) -> None:
        messages: list[Any] = [{"role": "user", "content": text}]
        if stream:
            async for _ in await client.chat.completions.create(model="m", messages=messages, stream=True):
                pass
        else:
            await client.chat.completions.create(model="m", messages=messages)

    async def program() -> None:
        async with openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=0) as client:
            await asyncio.create_task(ask(client, "a", False))
            await asyncio.create_task(ask(client, "b", True))

    with agent.recording("async", tmp_path):
        asyncio.run(program())
    assert [(t.title, [m.text for m in t.messages]) for t in saved(tmp_path)] == [
        ("async", ["a", "first"]),
        ("async (2)", ["b", "second"]),
    ]


def test_errors_stay_what_they_are_and_a_retry_belongs_to_its_step(server: Any, tmp_path: Path) -> None:
    server.fail(429, "slow down", headers={"retry-after-ms": "1"}).say("now").fail(401, f"bad key {KEY}")
    with agent.recording("retry", tmp_path):
        client = client_of(server, max_retries=1)
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        with pytest.raises(openai.AuthenticationError):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "other"}])
    first, second = saved(tmp_path)
    assert [(r["status"], r["error"]) for r in first.steps[0].retries] == [(429, "HTTP 429: slow down")]
    assert (first.outcome.reason, len(first.steps)) == ("final", 1)
    assert second.outcome.reason == "model_error"
    assert second.outcome.detail == "HTTP 401: bad key [redacted: secret]"
    assert (second.steps[0].reply, summarise(second).errors) == (None, 1)


def test_an_exception_of_the_program_is_passed_on_and_what_was_recorded_stays(server: Any, tmp_path: Path) -> None:
    server.say("fine")
    with pytest.raises(ZeroDivisionError), agent.recording("crash", tmp_path):
        loop(client_of(server))
        1 / 0
    (trace,) = saved(tmp_path)
    assert trace.messages[-1].text == "fine"
    assert trace.notes[0]["text"] == "the program ended with ZeroDivisionError: division by zero"


def test_a_killed_program_leaves_its_log(server: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    server.calls(call("add", '{"a": 2, "b": 3}')).say("It is 5.")
    program = f"""
import json, os, openai, agent
client = openai.OpenAI(base_url={server.url!r}, api_key={KEY!r})
messages = [{{"role": "user", "content": "What is 2+3?"}}]
with agent.recording("killed", {str(tmp_path)!r}) as rec:
    reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
    messages += [reply, {{"role": "tool", "tool_call_id": "c1", "content": "5"}}]
    client.chat.completions.create(model="m", messages=messages)
    os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 9
    (log,) = tmp_path.iterdir()
    report = read_file(log)
    (trace,) = report.traces
    assert report.format == "agent-recording/1"
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert [step.index for step in trace.steps] == [1, 2]
    assert trace.steps[0].tools[0].message == 2
    assert KEY.encode() not in log.read_bytes()


def test_no_key_reaches_the_disk(server: Any, tmp_path: Path) -> None:
    server.say(f"your key is {KEY}")
    with agent.recording("secret", tmp_path, secrets=["the-other-secret"]):
        client_of(server).chat.completions.create(
            model="m", messages=[{"role": "user", "content": f"{KEY} and the-other-secret"}]
        )
    (path,) = tmp_path.iterdir()
    assert KEY not in path.read_text()
    assert "the-other-secret" not in path.read_text()


def test_only_the_context_that_records_is_seen(server: Any, tmp_path: Path) -> None:
    server.say("not seen").say("seen")
    inside, done = threading.Event(), threading.Event()

    def other() -> None:
        inside.wait(10)
        client_of(server).chat.completions.create(model="m", messages=[{"role": "user", "content": "other"}])
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with agent.recording("mine", tmp_path):
        inside.set()
        assert done.wait(10)
        client_of(server).chat.completions.create(model="m", messages=[{"role": "user", "content": "mine"}])
    thread.join()
    assert [[m.text for m in trace.messages] for trace in saved(tmp_path)] == [["mine", "seen"]]


def test_a_wrapped_client_is_seen_in_every_thread_and_once(server: Any, tmp_path: Path) -> None:
    for _ in range(4):
        server.say("ok")
    with agent.recording("threads", tmp_path) as rec:
        plain = client_of(server)
        client = rec.wrap(plain)
        assert client is plain
        with ThreadPoolExecutor(4) as pool:
            asked = [{"role": "user", "content": str(n)} for n in range(3)]
            list(pool.map(lambda m: client.chat.completions.create(model="m", messages=[m]), asked))
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "3"}])
    assert sorted(trace.task for trace in saved(tmp_path)) == ["0", "1", "2", "3"]
    server.say("later")
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "4"}])
    assert len(saved(tmp_path)) == 4
    with pytest.raises(TypeError, match="openai"):
        Recorder("x", tmp_path).wrap(object())


def test_other_apis_are_kept_as_a_log_that_opens(tmp_path: Path) -> None:
    http = importlib.import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
    body = {
        "object": "response",
        "model": "m",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}],
        "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
    }
    done = json.dumps({"type": "response.completed", "response": body})

    def answer(request: Any) -> Any:
        if json.loads(request.content).get("stream"):
            return http.Response(200, headers={"content-type": "text/event-stream"}, text=f"data: {done}\n\n")
        return http.Response(200, json=body)

    transport = http.MockTransport(answer)
    client = openai.OpenAI(api_key=KEY, http_client=openai.DefaultHttpxClient(transport=transport))
    with agent.recording("responses", tmp_path) as rec:
        client.responses.create(model="m", input=f"hi {KEY}")
        assert len(list(client.responses.create(model="m", input="again", stream=True))) == 1
        client.moderations.create(input="no part of a conversation")
    (path,) = rec.paths
    assert KEY not in path.read_text()
    texts = [[message.text for message in trace.messages] for trace in open_trace(path)]
    assert texts == [["hi [redacted: secret]", "hello"], ["again", "hello"]]


def test_a_request_that_leaves_something_out_says_so(server: Any, tmp_path: Path) -> None:
    server.say("one").say("two").say("three")
    with agent.recording("window", tmp_path):
        client = client_of(server)
        system = {"role": "system", "content": "Be brief."}
        messages: list[Any] = [system, {"role": "user", "content": "a"}]
        for text in "bc":
            reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages = [
                *messages[:1],
                {"role": "assistant", "content": reply.content},
                {"role": "user", "content": text},
            ]
        client.chat.completions.create(model="m", messages=messages)
    (trace,) = saved(tmp_path)
    assert [message.text for message in trace.messages] == ["Be brief.", "a", "one", "b", "two", "c", "three"]
    edits = [[(edit.op, edit.message, edit.count) for edit in step.request.edits] for step in trace.steps]
    assert edits == [[], [("drop", 1, 1)], [("drop", 1, 3)]]


def test_calls_can_be_recorded_by_hand(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "hi"}]
    calls = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]
    with agent.recording("by hand", tmp_path) as rec:
        answer = {"role": "assistant", "content": None, "tool_calls": calls}
        rec.exchange(asked, {"choices": [{"message": answer, "finish_reason": "tool_calls"}]}, latency_ms=5)
        rec.tool_result("c1", {"sum": 5}, latency_ms=2, ok=True)
        assert [message.role for message in rec.trace.messages] == ["user", "assistant", "tool"]
        asked += [answer, {"role": "tool", "tool_call_id": "c1", "content": "shortened"}]
        rec.exchange({"model": "m", "messages": asked}, TimeoutError("too slow"))
    (trace,) = saved(tmp_path)
    assert trace.messages[2].text == '{"sum": 5}'
    assert [(edit.op, edit.message) for edit in trace.steps[1].request.edits] == [("replace", 2)]
    assert (trace.steps[0].tools[0].latency_ms, trace.steps[0].latency_ms) == (2, 5)
    assert trace.outcome.detail == "TimeoutError: too slow"


def test_a_disk_that_is_full_warns_once_and_changes_nothing(server: Any, tmp_path: Path) -> None:
    server.say("one").say("two")
    (tmp_path / "file").write_text("no folder")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with agent.recording("full", tmp_path / "file") as rec:
            for text in "ab":
                client_of(server).chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    assert len([w for w in caught if "goes on" in str(w.message)]) == 1
    assert [trace.messages[-1].text for trace in rec.traces] == ["one", "two"]


def test_whatever_is_handed_over_by_hand_never_raises(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with agent.recording("odd", tmp_path) as rec:
            for odd in (None, 3, "x", {}, {"messages": 3}, {"messages": [None, {"role": 4}]}, [[]]):
                for answer in (None, 3, {}, {"choices": [{"message": {"tool_calls": [3]}}]}, ValueError()):
                    rec.exchange(odd, answer)
            rec.tool_result("none", object())


def test_a_failing_tool_raises_as_it_did(tmp_path: Path) -> None:
    rec = Recorder("x", tmp_path)

    @rec.tool
    def fail() -> None:
        raise KeyError("k")

    @rec.tool
    async def wait() -> int:
        return 5

    with pytest.raises(KeyError):
        fail()
    assert asyncio.run(wait()) == 5
    assert fail.__name__ == "fail"
