"""A live model that is lent to many: what each may use, that it can be taken back, and what stays the lender's."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from agent import Loop, Message, ModelError, ModelReply, Usage
from agent.models.base import CallControl
from agent.models.json_action import JsonActionModel
from agent.models.metered import PLACE, Meter, MeteredModel, Quota, Used
from agent.models.openai_chat import OpenAIModel
from tests.pages.provider import Provider, served

KEY = "sk-lent-4711-4711-4711"
ASK = [Message("user", "hello")]
USAGE = Usage(10, 5, 15)


class Answers:
    """A model that waits until it may answer, and notices how many calls were open at once."""

    def __init__(self, usage: Usage | None = USAGE, *, at_once: bool = True) -> None:
        self.usage = usage
        self.gate = threading.Event()
        self.began = threading.Semaphore(0)
        self.open = self.peak = self.calls = 0
        if at_once:
            self.gate.set()

    def complete(self, messages: Any, tool_schemas: Any, *, control: CallControl) -> ModelReply:
        self.open, self.calls = self.open + 1, self.calls + 1
        self.peak = max(self.peak, self.open)
        self.began.release()
        try:
            while not self.gate.is_set():
                control.wait_or_fail(0.02)
        finally:
            self.open -= 1
        return ModelReply(Message("assistant", "hi"), usage=self.usage)


def refusal(model: MeteredModel) -> str:
    with pytest.raises(ModelError) as caught:
        model.complete(ASK, [])
    return str(caught.value)


def test_each_user_has_a_share_of_calls_of_his_own() -> None:
    meter = Meter(Quota(2, 1000))
    ada, bob = (MeteredModel(Answers(), meter, name) for name in ("ada", "bob"))
    ada.complete(ASK, [])
    ada.complete(ASK, [])
    assert refusal(ada) == "your share of the model of the class is used up: 2 of 2 calls"
    assert bob.complete(ASK, []).message.text == "hi"
    assert meter.used("ada") == Used(2, 30)


def test_tokens_are_counted_and_a_used_up_share_asks_nobody() -> None:
    inner = Answers()
    meter = Meter(Quota(99, 20))
    model = MeteredModel(inner, meter, "ada")
    model.complete(ASK, [])
    model.complete(ASK, [])
    assert "30 of 20 tokens" in refusal(model)
    assert inner.calls == 2


def test_a_reply_without_usage_counts_our_own_estimate_and_says_so() -> None:
    meter = Meter(Quota(99, 1000))
    reply = MeteredModel(Answers(usage=None), meter, "ada").complete(ASK, [])
    used = meter.used("ada")
    assert used.estimated
    assert used.tokens > 0
    assert reply.usage is None


class BreaksOff:
    """A model that streams a long text and then fails."""

    def complete(self, messages: Any, tool_schemas: Any, *, control: CallControl) -> ModelReply:
        for _ in range(100):
            control.emit("model.delta", {"content": "four words at once "})
        raise ModelError("the stream was cut off")


def test_a_reply_that_breaks_off_is_paid_for_as_far_as_it_came() -> None:
    meter = Meter(Quota(99, 300))
    model = MeteredModel(BreaksOff(), meter, "ada")
    assert refusal(model) == "the stream was cut off"
    used = meter.used("ada")
    assert used.estimated
    assert 300 < used.tokens < 600
    assert "share" in refusal(model)


def test_a_call_that_its_user_stops_is_paid_for_and_one_that_never_reached_the_model_is_not() -> None:
    meter, stop, inner = Meter(Quota(99, 1000)), threading.Event(), Answers(at_once=False)
    model = MeteredModel(inner, meter, "ada")

    def ask() -> None:
        with pytest.raises(ModelError):
            model.complete(ASK, [], control=CallControl(stop=stop))

    call = threading.Thread(target=ask)
    call.start()
    assert inner.began.acquire(timeout=5)
    stop.set()
    call.join(5)
    assert meter.used("ada").tokens > 0
    with pytest.raises(ModelError):
        MeteredModel(
            OpenAIModel("x", base_url="http://127.0.0.1:9/v1", api_key=KEY, max_retries=0), meter, "bob"
        ).complete(ASK, [])
    assert meter.used("bob").tokens == 0


def test_parallel_runs_of_one_user_pass_the_share_together_no_further_than_one_run_would() -> None:
    inner = Answers(at_once=False)
    meter = Meter(Quota(3, 1000))
    failed: list[str] = []

    def run() -> None:
        try:
            MeteredModel(inner, meter, "ada").complete(ASK, [])
        except ModelError as error:
            failed.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert inner.began.acquire(timeout=5)
    inner.gate.set()
    for thread in threads:
        thread.join(10)
    assert (inner.calls, inner.peak, len(failed)) == (3, 1, 5)
    assert meter.used("ada") == Used(3, 45)


def test_users_do_not_wait_for_each_other() -> None:
    inner, meter = Answers(at_once=False), Meter(Quota(3, 1000))
    threads = [threading.Thread(target=MeteredModel(inner, meter, name).complete, args=(ASK, [])) for name in "abc"]
    for thread in threads:
        thread.start()
    assert all(inner.began.acquire(timeout=5) for _ in threads)
    assert inner.peak == 3
    inner.gate.set()
    for thread in threads:
        thread.join(10)


def test_every_further_try_is_a_call_and_the_share_ends_the_tries() -> None:
    class Tries:
        def complete(self, messages: Any, tool_schemas: Any, *, control: CallControl) -> ModelReply:
            for attempt in range(5):
                control.emit("model.retry", {"attempt": attempt})
            return ModelReply(Message("assistant", "hi"))

    told: list[str] = []
    meter = Meter(Quota(3, 1000))
    with pytest.raises(ModelError, match="3 of 3 calls"):
        MeteredModel(Tries(), meter, "ada").complete(
            ASK, [], control=CallControl(emit=lambda kind, _: told.append(kind))
        )
    assert meter.used("ada").calls == 3
    assert told == ["model.retry"] * 3


def test_taking_it_back_ends_a_call_that_is_being_made_and_every_later_one() -> None:
    meter = Meter(Quota(9, 1000))
    inner = Answers(at_once=False)
    loop = Loop(MeteredModel(inner, meter, "ada"))
    worker = threading.Thread(target=lambda: list(loop.events("hello")))
    worker.start()
    assert inner.began.acquire(timeout=5)
    started = time.monotonic()
    meter.take_back()
    worker.join(5)
    assert time.monotonic() - started < 2
    assert loop.stop_reason == "model_error"
    assert loop.trace.outcome.detail == "the model of the class was taken back by the teacher"
    assert "taken back" in refusal(MeteredModel(inner, meter, "ada"))
    assert inner.calls == 1


def test_whoever_is_answered_no_more_is_told_and_the_others_are_answered() -> None:
    meter = Meter(Quota(9, 1000))
    ada, bob = (MeteredModel(Answers(), meter, name) for name in ("ada", "bob"))
    ada.complete(ASK, [])
    meter.forbid("ada")
    assert "only those who have a seat" in refusal(ada)
    assert meter.used("ada").calls == 1
    assert bob.complete(ASK, []).message.text == "hi"


def test_whoever_waits_for_a_turn_hears_a_stop_and_the_end_of_the_loan() -> None:
    meter, stop = Meter(Quota(9, 1000)), threading.Event()
    stop.set()
    with meter.turn("ada", CallControl()):
        with pytest.raises(ModelError) as stopped, meter.turn("ada", CallControl(stop=stop)):
            pass
        assert stopped.value.kind == "stopped"
        meter.take_back()
        with pytest.raises(ModelError, match="taken back"), meter.turn("ada", CallControl()):
            pass


def test_a_new_quota_holds_at_once_and_what_was_used_is_told_to_whoever_keeps_it() -> None:
    kept: list[tuple[str, Used]] = []
    meter = Meter(Quota(1, 1000), {"ada": Used(1, 40)}, lambda user, used: kept.append((user, used)))
    model = MeteredModel(Answers(), meter, "ada")
    assert "1 of 1 calls" in refusal(model)
    meter.quota = Quota(2, 1000)
    model.complete(ASK, [])
    assert kept == [("ada", Used(2, 40)), ("ada", Used(2, 55))]


@pytest.fixture
def provider() -> Any:
    with served() as found:
        yield found


def lent(provider: Provider, **options: Any) -> MeteredModel:
    return MeteredModel(OpenAIModel("m", base_url=provider.url, api_key=KEY, **options), Meter(Quota(9, 9999)), "ada")


@pytest.mark.parametrize("json_action", [False, True])
def test_nothing_that_a_run_leaves_names_the_key_or_the_server(
    provider: Provider, tmp_path: Any, json_action: bool
) -> None:
    provider.says = f"I was asked with {KEY} at {provider.url}"
    model = lent(provider)
    loop = Loop(JsonActionModel(model) if json_action else model, journal=tmp_path)
    for _ in loop.events("hello"):
        pass
    assert provider.keys == [KEY]
    host = provider.url.split("/")[2]
    files = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    assert files
    for text in files:
        assert KEY not in text
        assert host not in text
    trace = json.loads(next(tmp_path.glob("*.json")).read_text(encoding="utf-8"))
    assert trace["model"]["provider"] == "lent"
    assert trace["config"]["asked_with"]["base_url"] == PLACE


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://models.school.example:8443/v1", "no certificate for models.school.example"),
        ("https://models.school.example:8443/v1", "models.school.example:8443 is down"),
        ("https://teacher:pass@models.school.example:8443/v1", "models.school.example:8443 is down"),
    ],
)
def test_a_server_is_not_named_with_its_port_or_without(url: str, said: str) -> None:
    class Fails:
        base_url = url

        def complete(self, messages: Any, tool_schemas: Any, *, control: CallControl) -> ModelReply:
            raise ModelError(said)

    loop = Loop(MeteredModel(Fails(), Meter(Quota(9, 9999)), "ada"))
    for _ in loop.events("hello"):
        pass
    assert loop.stop_reason == "model_error"
    assert "school" not in str(loop.trace.to_dict())


def test_a_server_that_cannot_be_reached_is_not_named_in_the_error() -> None:
    model = MeteredModel(
        OpenAIModel("m", base_url="http://127.0.0.1:9/secret/v1", api_key=KEY, max_retries=0),
        Meter(Quota(9, 9999)),
        "ada",
    )
    loop = Loop(model)
    for _ in loop.events("hello"):
        pass
    assert loop.stop_reason == "model_error"
    assert "127.0.0.1:9" not in str(loop.trace.outcome.detail)
