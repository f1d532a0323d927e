"""A model call never holds a run: it ends within a second of a stop or the deadline, and by itself after a silence."""

import threading
import time
from importlib import import_module

import pytest

from agent import clock
from agent.errors import ModelError
from agent.messages import Message
from agent.models.base import CallControl
from agent.models.openai_chat import OpenAIModel

USER = [Message("user", "hi")]


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """The package is in memory: to load it takes longer than the tests here wait."""
    import_module("openai").OpenAI(api_key="none", base_url="http://127.0.0.1:9")


@pytest.fixture
def model(server):
    """Makes a model of the test server."""

    def make(**options):
        return OpenAIModel("stub-1", **{"base_url": server.url, **options})

    return make


def ended(model, control):
    """How the call ended, and after how many seconds."""
    started = time.monotonic()
    with pytest.raises(ModelError) as raised:
        model.complete(USER, [], control=control)
    return raised.value, time.monotonic() - started


def stop_after(seconds):
    control = CallControl()
    threading.Timer(seconds, control.stop.set).start()
    return control


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_ends_a_call_that_waits_and_hangs_up(server, model, stream):
    server.answer(hang=True)
    failed, seconds = ended(model(stream=stream), stop_after(0.3))
    assert failed.kind == "stopped"
    assert seconds < 1.3
    assert server.hung_up.wait(2), "the server should learn that nobody waits any more"


def test_a_stop_hangs_up_on_a_connection_that_was_used_before(server, model):
    stub = model()
    server.say("5").answer(hang=True)
    stub.complete(USER, [])
    ended(stub, stop_after(0.3))
    assert server.hung_up.wait(2)


def test_a_stop_ends_a_stream_between_two_pieces(server, model):
    pieces = [{"content": str(number)} for number in range(100)]
    server.deltas(*pieces, pause_s=0.1)
    failed, seconds = ended(model(stream=True), stop_after(0.35))
    assert failed.kind == "stopped"
    assert seconds < 1.3
    assert server.hung_up.wait(2)


def test_a_stop_ends_the_wait_for_another_try(server, model):
    server.fail(503, headers={"retry-after": "60"})
    failed, seconds = ended(model(), stop_after(0.3))
    assert (failed.kind, len(failed.retries)) == ("stopped", 1)
    assert seconds < 1.3


def test_a_run_that_is_stopped_already_sends_nothing(server, model):
    failed, _ = ended(model(), stopped())
    assert failed.kind == "stopped"
    assert server.requests == []


def stopped():
    control = CallControl()
    control.stop.set()
    return control


@pytest.mark.parametrize("stream", [False, True])
def test_the_deadline_of_the_run_ends_a_call(server, model, stream):
    server.answer(hang=True)
    failed, seconds = ended(model(stream=stream), CallControl(deadline=clock.monotonic() + 0.3))
    assert failed.kind == "timeout"
    assert seconds < 1.3


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_never_answers_is_given_up_after_the_timeout(server, model, stream):
    server.answer(hang=True)
    failed, seconds = ended(model(stream=stream, timeout_s=0.5), CallControl())
    assert failed.kind == "timeout"
    assert 0.5 <= seconds < 1.5
    assert len(server.requests) == 1
    assert server.hung_up.wait(2)


def test_comments_that_keep_a_stream_alive_are_no_answer(server, model):
    server.answer(events=[": still working\n\n"] * 50, pause_s=0.1)
    failed, seconds = ended(model(stream=True, timeout_s=0.5), CallControl())
    assert failed.kind == "timeout"
    assert seconds < 1.5


def test_a_slow_stream_may_take_longer_than_the_timeout(server, model):
    server.deltas(*({"content": str(number)} for number in range(6)), pause_s=0.15)
    assert model(stream=True, timeout_s=0.6).complete(USER, []).message.content == "012345"


def test_after_a_stop_the_same_model_goes_on_and_no_thread_is_left(server, model):
    stub = model()
    server.answer(hang=True).say("5")
    ended(stub, stop_after(0.2))
    assert stub.complete(USER, []).message.content == "5"
    until = time.monotonic() + 2
    while (left := [t for t in threading.enumerate() if t.name == "model-call"]) and time.monotonic() < until:
        left[0].join(0.1)
    assert not left


def test_calls_at_the_same_time_do_not_disturb_each_other(server, model):
    stub = model()
    for number in range(4):
        server.say(str(number))
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(stub.complete(USER, []).message.content)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(answers) == ["0", "1", "2", "3"]
