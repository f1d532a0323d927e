"""What OpenAIModel does when a server fails: in whose words, how often it tries again, and what never shows."""

import logging
import time
import traceback

import pytest

from agent.errors import ModelError
from agent.messages import Message
from agent.models.base import CallControl
from agent.models.openai_chat import OpenAIModel

USER = [Message("user", "hi")]
KEY = "tiny-secret-0987654321"
OVERFLOWS = [
    (400, {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}),
    (400, {"message": "too long", "type": "exceed_context_size_error", "code": 400, "n_prompt_tokens": 9, "n_ctx": 8}),
    (400, {"message": "the request exceeds the available context size, try increasing it", "code": 400}),
    (400, {"message": "This model's maximum context length is 4096 tokens", "type": "BadRequestError", "code": 400}),
    (500, {"message": "Prompt contains 9 tokens, too large for model with 8 maximum context length"}),
]


@pytest.fixture
def model(server):
    """Makes a model of the test server."""

    def make(**options):
        return OpenAIModel("stub-1", **{"base_url": server.url, "api_key": KEY, "timeout_s": 10, **options})

    return make


def failure(model, control=None):
    with pytest.raises(ModelError) as raised:
        model.complete(USER, [], control=control)
    return raised.value


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"message": "You exceeded your quota", "code": "insufficient_quota"}),
        (429, {"message": "You exceeded your quota", "type": "insufficient_quota", "code": None}),
        (400, {"message": "bad request"}),
        (401, {"message": "Incorrect API key provided", "code": "invalid_api_key"}),
        (403, {"message": "no access"}),
        (404, {"message": "model not found", "code": "model_not_found"}),
        *OVERFLOWS,
    ],
)
def test_a_failure_that_trying_again_cannot_mend_is_one_request(server, model, status, error):
    server.answer({"error": error}, status=status)
    failed = failure(model())
    assert error["message"] in str(failed)
    assert (failed.status, failed.retries) == (status, ())
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "error"), OVERFLOWS)
def test_a_prompt_that_is_too_long_is_recognised_in_the_words_of_each_server(server, model, status, error):
    server.answer({"error": error}, status=status)
    failed = failure(model())
    assert failed.kind == "context_overflow"
    assert failed.raw["error"] == error


def test_a_rate_limit_on_tokens_is_no_context_overflow(server, model):
    server.fail(429, "Request too large: maximum context length of your tier", code="rate_limit_exceeded")
    assert failure(model(max_retries=0)).kind == "provider"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_passing_failure_is_tried_again_and_every_attempt_is_told(server, model, status):
    events = []
    server.fail(status, "busy", headers={"retry-after": "0.01"}).fail(status, "busy", headers={"retry-after-ms": "20"})
    server.say("5")
    reply = model().complete(USER, [], control=CallControl(emit=lambda type, payload: events.append((type, payload))))
    assert reply.message.content == "5"
    assert [(r.attempt, r.status, r.wait_s) for r in reply.retries] == [(1, status, 0.01), (2, status, 0.02)]
    assert "busy" in reply.retries[0].error
    assert [payload.keys() for _, payload in events] == [{"attempt", "error", "wait_s", "status"}] * 2
    assert {type for type, _ in events} == {"model.retry"}
    assert len(server.requests) == 3


def test_attempts_are_bounded_by_our_own_number_alone(server, model):
    for _ in range(9):
        server.fail(503, headers={"retry-after": "0"})
    failed = failure(model(max_retries=2))
    assert (len(server.requests), len(failed.retries), failed.status) == (3, 2, 503)


def test_waits_grow_where_the_server_asks_for_none(server, model):
    server.fail(500).fail(500).say("5")
    first, second = model().complete(USER, []).retries
    assert 0.3 < first.wait_s < second.wait_s < 1.1
    assert server.requests[1].at - server.requests[0].at >= first.wait_s


def test_the_wait_that_a_server_asks_for_is_kept(server, model):
    server.fail(429, headers={"retry-after": "1"}).say("5")
    assert model().complete(USER, []).retries[0].wait_s == 1
    assert server.requests[1].at - server.requests[0].at >= 1


def test_a_server_that_asks_to_wait_for_an_hour_is_not_waited_for(server, model):
    server.fail(429, "come back later", headers={"retry-after": "3600"})
    assert "come back later" in str(failure(model()))


def test_a_date_is_a_time_to_wait_too(server, model):
    server.fail(503, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}).say("5")
    assert model().complete(USER, []).retries[0].wait_s == 0


def test_the_wait_for_another_try_ends_with_the_time_of_the_run(server, model):
    server.fail(503, "busy", headers={"retry-after": "60"})
    started = time.monotonic()
    failed = failure(model(), CallControl(deadline=started + 0.4))
    assert time.monotonic() - started < 1
    assert failed.kind == "timeout"
    assert "busy" in str(failed)
    assert len(failed.retries) == 1


@pytest.mark.parametrize(
    ("body", "words", "code"),
    [
        ({"error": {"message": "Model is broken", "code": "boom"}}, "Model is broken", "boom"),
        ({"error": "plain words"}, "plain words", None),
        ({"error": {"message": "Provider returned error", "metadata": {"raw": "no such tool"}}}, "no such tool", None),
        ({"object": "error", "message": "bad input", "code": 40301}, "bad input", "40301"),
        ({"choices": [{"error": {"message": "upstream", "code": 400}, "message": {}}]}, "upstream", "400"),
        ({"id": None, "choices": None, "usage": None}, "no choices", None),
        ({"choices": []}, "no choices", None),
        ({"choices": [{"message": None}]}, "no choices", None),
        ([], "no choices", None),
        ("<html>Welcome to the proxy</html>", "Welcome to the proxy", None),
    ],
)
def test_status_200_without_an_answer_is_an_error_in_the_providers_words(server, model, body, words, code):
    server.answer(body)
    failed = failure(model())
    assert words in str(failed)
    assert (failed.kind, failed.code) == ("provider", code)
    assert len(server.requests) == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("code", [429, 503, "429"])
def test_a_status_inside_of_the_body_counts_as_one(server, model, stream, code):
    error = {"error": {"message": "Rate limit", "code": code}}
    server.answer(events=[error]) if stream else server.answer(error)
    server.deltas({"content": "5"})
    reply = model(stream=stream).complete(USER, [])
    assert reply.message.content == "5"
    assert [retry.status for retry in reply.retries] == [int(code)]


@pytest.mark.parametrize("event", [{"error": {"message": "out of memory"}}, '{"error": "out of memory"}'])
def test_an_error_in_the_middle_of_a_stream_is_an_error(server, model, event):
    server.answer(events=[{"choices": [{"delta": {"content": "par"}}]}, event])
    assert "out of memory" in str(failure(model(stream=True)))


@pytest.mark.parametrize("cut", [True, False])
def test_half_a_stream_is_never_an_answer(server, model, cut):
    server.deltas({"content": "par"}, finish_reason=None, cut=cut, done=False).deltas({"content": "whole"})
    reply = model(stream=True).complete(USER, [])
    assert reply.message.content == "whole"
    assert len(reply.retries) == 1
    server.deltas({"content": "par"}, finish_reason=None, cut=cut, done=False)
    assert failure(model(stream=True, max_retries=0)).kind == "connection"


def test_a_damaged_piece_of_a_stream_is_a_broken_connection(server, model):
    server.answer(events=['{"choices": [{"del'])
    assert failure(model(stream=True, max_retries=0)).kind == "connection"


def test_a_server_that_is_not_there_is_a_connection_error_that_names_the_address(server, model):
    server.close()
    failed = failure(model(max_retries=1))
    assert failed.kind == "connection"
    assert server.url in str(failed)
    assert len(failed.retries) == 1


def test_a_wrong_address_says_what_to_check(server, model):
    failed = failure(model(base_url=server.url.removesuffix("/v1")))
    assert failed.status == 404
    assert "base URL" in str(failed)


def test_after_a_failure_the_same_model_goes_on(server, model):
    stub = model()
    server.fail(400).say("5")
    failure(stub)
    assert stub.complete(USER, []).message.content == "5"


@pytest.mark.parametrize(
    "echo",
    [
        {"error": {"message": f"Incorrect API key provided: {KEY}", "headers": {"Authorization": f"Bearer {KEY}"}}},
        f"<html>{KEY}</html>",
    ],
)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_key_that_a_server_repeats_shows_nowhere(server, model, caplog, echo, status):
    caplog.set_level(logging.DEBUG)
    events = []
    for _ in range(2):
        server.answer(echo, status=status, headers={"retry-after": "0"})
    failed = failure(model(max_retries=1), CallControl(emit=lambda *event: events.append(event)))
    shown = [str(failed), repr(failed), str(failed.raw), str(failed.retries), str(events), caplog.text]
    shown.append("".join(traceback.format_exception(failed)))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert not [text for text in shown if KEY in text]


def test_neither_key_nor_password_shows_in_the_repr(server):
    model = OpenAIModel("m", base_url="http://me:pass-4711@127.0.0.1:1/v1", api_key=KEY, max_retries=0)
    failed = failure(model)
    for text in (repr(model), model.provider, str(failed)):
        assert KEY not in text
        assert "pass-4711" not in text
