import asyncio
import contextvars
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agent.execution import MAX_PARALLEL, Job, execute
from agent.messages import ToolCall
from agent.tool_result import ToolResult
from agent.tools import RunContext, Tool, ToolRegistry, tool


def jobs_of(*calls, context=None):
    """Jobs for ``(tool, arguments)`` pairs, in call order."""
    return [
        Job(i, ToolCall(f"c{i}", made.name, arguments), made, arguments, context or RunContext(tool_call_id=f"c{i}"))
        for i, (made, arguments) in enumerate(calls)
    ]


@tool
def double(n: int) -> int:
    return 2 * n


@tool
def fail() -> str:
    raise ValueError("at once")


@tool
def thread_name() -> str:
    return threading.current_thread().name


class Gate:
    """A tool that waits until it is told to go on, and says that it began."""

    def __init__(self):
        self.begun, self.go = threading.Event(), threading.Event()

    @tool
    def wait(self, n: int = 0) -> str:
        self.begun.set()
        assert self.go.wait(10)
        return f"waited {n}"


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.go.set()


def test_a_call_alone_runs_in_the_calling_thread():
    here = threading.current_thread().name
    assert list(execute(jobs_of((thread_name, {})))) == [(0, result_like(here))]


def test_calls_in_order_run_in_the_calling_thread():
    here = threading.current_thread().name
    results = dict(execute(jobs_of((thread_name, {}), (thread_name, {})), parallel=False))
    assert [results[i].text for i in range(2)] == [here, here]


def test_parallel_calls_run_in_threads_of_their_own():
    results = dict(execute(jobs_of((thread_name, {}), (thread_name, {}))))
    assert [results[i].text for i in range(2)] == ["tool thread_name"] * 2


def result_like(value):
    class Like:
        def __eq__(self, other):
            return isinstance(other, ToolResult) and other.value == value and other.latency_ms >= 0

    return Like()


def test_parallel_calls_really_overlap():
    met = threading.Barrier(2, timeout=10)

    @tool
    def meet(n: int) -> int:
        met.wait()
        return n

    assert {i: r.value for i, r in execute(jobs_of((meet, {"n": 1}), (meet, {"n": 2})))} == {0: 1, 1: 2}


def test_results_come_as_they_finish_and_belong_to_their_position(gate):
    order = []
    for position, result in execute(jobs_of((gate.wait, {}), (double, {"n": 2}), (fail, {}))):
        order.append(position)
        if len(order) == 2:
            assert sorted(order) == [1, 2]
            gate.go.set()
        texts = {0: "waited 0", 1: "4", 2: '{"error": "ValueError: at once", "retryable": true}'}
        assert result.text == texts[position]
    assert order[-1] == 0


def test_the_texts_are_the_same_every_time():
    @tool
    def slow(n: int) -> int:
        time.sleep(0.01)
        return n

    def texts():
        results = dict(execute(jobs_of((slow, {"n": 1}), (double, {"n": 2}), (fail, {}))))
        return [results[i].text for i in range(3)]

    assert [texts() for _ in range(20)] == [texts()] * 20


def test_more_calls_than_places_all_get_an_answer():
    at_once, most, lock = 0, 0, threading.Lock()

    @tool
    def count(n: int) -> int:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.005)
        with lock:
            at_once -= 1
        return n

    results = dict(execute(jobs_of(*((count, {"n": n}) for n in range(3 * MAX_PARALLEL)))))
    assert [results[n].value for n in range(3 * MAX_PARALLEL)] == list(range(3 * MAX_PARALLEL))
    assert most <= MAX_PARALLEL


def test_no_jobs_give_no_results():
    assert list(execute([])) == []


def with_timeout(made, timeout):
    return Tool(
        name=made.name,
        description="",
        parameters=made.parameters,
        func=made.func,
        timeout=timeout,
        convert=made.convert,
    )


@pytest.mark.parametrize("parallel", [True, False])
def test_a_timeout_really_returns(gate, parallel):
    start = time.monotonic()
    hung = with_timeout(gate.wait, 0.1)
    results = dict(execute(jobs_of((hung, {}), (double, {"n": 1})), parallel=parallel))
    assert time.monotonic() - start < 2
    assert results[0].value == {"error": "timed out after 0.1 s; its outcome is unknown", "retryable": True}
    assert (results[0].timed_out, results[0].ok) == (True, False)
    assert results[0].latency_ms >= 100
    assert results[1].value == 2


def test_a_registry_keeps_the_timeout_too(gate):
    registry = ToolRegistry([with_timeout(gate.wait, 0.05)])
    assert "timed out" in json.loads(registry.call(ToolCall("c", "wait")))["error"]


def test_a_tool_within_its_timeout_is_not_disturbed():
    assert next(execute(jobs_of((with_timeout(double, 5), {"n": 4}))))[1].value == 8


def test_a_tool_that_waits_for_a_silent_server_is_given_up():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:

        @tool(timeout=0.1)
        def read() -> str:
            with socket.create_connection(server.getsockname()) as connection:
                return connection.recv(1).decode()

        assert next(execute(jobs_of((read, {}))))[1].timed_out is True


def test_the_end_of_the_runs_time_gives_up_what_still_runs(gate):
    results = dict(execute(jobs_of((gate.wait, {}), (double, {"n": 1})), deadline_s=0.1))
    assert results[1].value == 2
    assert results[0].timed_out is True
    assert "time of the run is over" in results[0].value["error"]
    assert next(execute(jobs_of((Gate().wait, {})), deadline_s=0.0))[1].timed_out is True


def test_a_late_result_and_late_news_are_dropped(gate):
    told = []

    @tool(timeout=0.05)
    def late(ctx: RunContext) -> str:
        ctx.emit("tool.progress", {"done": 1})
        gate.go.wait(10)
        ctx.emit("tool.progress", {"done": 2})
        gate.begun.set()
        return "late"

    context = RunContext(emit=lambda type, payload: told.append(payload["done"]))
    results = list(execute(jobs_of((late, {}), context=context)))
    gate.go.set()
    assert gate.begun.wait(10)
    assert [result.timed_out for _, result in results] == [True]
    assert told == [1]


@pytest.mark.parametrize("parallel", [True, False])
def test_a_stop_ends_the_wait_within_a_second(gate, parallel):
    stop = threading.Event()
    hung = with_timeout(gate.wait, 60)

    def press():
        gate.begun.wait(10)
        stop.set()

    threading.Thread(target=press).start()
    start = time.monotonic()
    results = dict(execute(jobs_of((hung, {}), (hung, {"n": 1})), parallel=parallel, stop=stop))
    assert time.monotonic() - start < 1
    assert sorted(results) == [0, 1]
    assert all("the run was stopped" in result.value["error"] for result in results.values())
    assert results[0].value["error"].startswith("interrupted")


def test_what_was_finished_before_the_stop_keeps_its_result(gate):
    stop = threading.Event()
    results = {}
    for position, result in execute(jobs_of((gate.wait, {}), (double, {"n": 3})), stop=stop):
        results[position] = result
        stop.set()
    assert results[1].value == 6
    assert results[0].ok is False


@pytest.mark.parametrize("count", [1, 3])
def test_nothing_starts_after_a_stop(count):
    ran = []
    stop = threading.Event()
    stop.set()
    made = tool(name="act")(lambda: ran.append(1))
    results = dict(execute(jobs_of(*[(made, {})] * count), stop=stop))
    assert [results[i].value["error"] for i in range(count)] == ["not run: the run was stopped"] * count
    assert ran == []


def test_equal_calls_of_a_tool_that_must_not_repeat_run_once():
    sent = []

    @tool(idempotent=False)
    def send(to: str, copies: int = 1) -> str:
        sent.append((to, copies))
        return "sent"

    calls = [{"to": "a"}, {"to": "b", "copies": 2}, {"to": "a"}, {"copies": 2, "to": "b"}]
    results = dict(execute(jobs_of(*((send, arguments) for arguments in calls))))
    assert sorted(sent) == [("a", 1), ("b", 2)]
    assert [results[i].ok for i in range(4)] == [True, True, False, False]
    assert "duplicate of call 1" in results[2].value["error"]
    assert "duplicate of call 2" in results[3].value["error"]


def test_a_duplicate_is_told_by_the_place_in_the_reply_where_earlier_calls_are_answered_already():
    @tool(idempotent=False)
    def send(to: str) -> str:
        return "sent"

    first, again = jobs_of((send, {"to": "a"}), (send, {"to": "a"}))
    results = dict(execute([first._replace(position=2), again._replace(position=5)]))
    assert results[2].value == "sent"
    assert "duplicate of call 3" in results[5].value["error"]


def test_equal_calls_of_other_tools_all_run():
    results = dict(execute(jobs_of(*[(double, {"n": 1})] * 9)))
    assert [results[i].value for i in range(9)] == [2] * 9


@pytest.mark.parametrize("count", [1, 2])
def test_a_wish_to_end_the_program_passes_through(count):
    @tool
    def leave() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(execute(jobs_of(*[(leave, {})] * count)))


@tool
async def nap(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "rested"


def test_async_tools_run_side_by_side_with_others():
    results = dict(execute(jobs_of((nap, {"seconds": 0.01}), (double, {"n": 1}), (nap, {"seconds": 0}))))
    assert [results[i].value for i in range(3)] == ["rested", 2, "rested"]


def test_an_async_tool_alone_runs_inside_a_running_event_loop():
    async def caller():
        return next(execute(jobs_of((nap, {"seconds": 0}))))[1].value

    assert asyncio.run(caller()) == "rested"


def test_an_async_tool_whose_time_is_up_is_cancelled():
    ended = threading.Event()

    @tool(timeout=0.05)
    async def forever() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    assert next(execute(jobs_of((forever, {}))))[1].timed_out is True
    assert ended.wait(5)


def test_a_stop_cancels_an_async_tool():
    ended, stop = threading.Event(), threading.Event()

    @tool
    async def forever() -> str:
        stop.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    assert next(execute(jobs_of((forever, {})), stop=stop))[1].ok is False
    assert ended.wait(5)


def test_leaving_the_results_early_leaves_nothing_running_behind():
    ended = threading.Event()

    @tool
    async def forever() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    for _position, _result in execute(jobs_of((double, {"n": 1}), (forever, {}), (nap, {"seconds": 0.05}))):
        if _position == 2:
            break
    assert ended.wait(5)


def test_context_variables_reach_the_threads():
    variable = contextvars.ContextVar("variable", default="unset")

    @tool
    def look(n: int) -> str:
        return variable.get()

    variable.set("set")
    assert {r.text for _, r in execute(jobs_of((look, {"n": 1}), (look, {"n": 2})))} == {"set"}


HANGS = """
import threading
from agent.execution import Job, execute
from agent.messages import ToolCall
from agent.tools import RunContext, tool

@tool(timeout=0.05)
def hang() -> str:
    threading.Event().wait()

print(next(execute([Job(0, ToolCall("c", "hang"), hang, {}, RunContext())]))[1].timed_out)
"""


def test_a_hung_tool_does_not_hold_the_end_of_the_program():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", HANGS], cwd=root, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


def test_a_tool_cannot_change_what_the_trace_shows():
    @tool
    def spy(options: dict) -> str:
        options["_auth"] = "secret"
        return "done"

    jobs = jobs_of((spy, {"options": {"a": 1}}), (spy, {"options": {"a": 2}}))
    assert all(result.ok for _, result in execute(jobs))
    assert [job.arguments for job in jobs] == [{"options": {"a": 1}}, {"options": {"a": 2}}]
    assert [job.call.arguments for job in jobs] == [{"options": {"a": 1}}, {"options": {"a": 2}}]
