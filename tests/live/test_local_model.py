"""OpenAIModel with a real model behind a real server: opt in by naming one in OPENAI_BASE_URL.

Meant for a small instruct model that can call tools, such as Qwen2.5-Coder-1.5B-Instruct behind llama-server.
"""

import os
import threading
import time

import pytest

from agent.errors import ModelError
from agent.messages import Message
from agent.models.base import CallControl
from agent.models.openai_chat import OpenAIModel

pytestmark = pytest.mark.live

SYSTEM = Message("system", "Call one tool, wait for its result, then call the next tool with that result.")
TASK = Message("user", "Use add to get 2+3, then use multiply to multiply the result by 4.")
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": f"{name} two integers", "parameters": NUMBERS}}
    for name in ("add", "multiply")
]


def live_model(**options):
    name = os.environ.get("OPENAI_MODEL", "local-model")
    return OpenAIModel(name, **{"temperature": 0, "max_tokens": 80, "seed": 1, **options})


@pytest.mark.parametrize("stream", [False, True])
def test_add_then_multiply(stream):
    model, messages, called = live_model(stream=stream), [SYSTEM, TASK], []
    for _ in range(4):
        reply = model.complete(messages, TOOLS)
        messages.append(reply.message)
        assert reply.usage.total > 0
        if not reply.message.tool_calls:
            break
        for call in reply.message.tool_calls:
            a, b = call.arguments["a"], call.arguments["b"]
            called.append((call.name, a, b))
            messages.append(Message("tool", str(a + b if call.name == "add" else a * b), tool_call_id=call.id))
    assert called == [("add", 2, 3), ("multiply", 5, 4)]
    assert "20" in messages[-1].content


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_the_length_limit_cut_off_is_marked_and_the_history_stays_acceptable(stream):
    messages = [SYSTEM, TASK]
    reply = live_model(stream=stream, max_tokens=18).complete(messages, TOOLS)
    assert reply.finish_reason == "length"
    for call in reply.message.tool_calls:
        assert call.problem
    results = [Message("tool", '{"error": "cut off"}', tool_call_id=call.id) for call in reply.message.tool_calls]
    again = live_model(max_tokens=8).complete([*messages, reply.message, *results], TOOLS)
    assert again.finish_reason in ("length", "stop", "tool_calls")


def test_a_prompt_that_is_too_long_is_a_context_overflow_at_the_first_attempt():
    with pytest.raises(ModelError) as raised:
        live_model().complete([Message("user", "apple " * 200_000)], [])
    assert raised.value.kind == "context_overflow"
    assert raised.value.retries == ()


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_frees_the_server(stream):
    control = CallControl()
    threading.Timer(1.5, control.stop.set).start()
    question = [Message("user", "Count from one to two hundred in words.")]
    started = time.monotonic()
    with pytest.raises(ModelError) as raised:
        live_model(stream=stream, max_tokens=400).complete(question, [], control=control)
    assert raised.value.kind == "stopped"
    assert time.monotonic() - started < 2.5
    live_model(max_tokens=2).complete([Message("user", "Say yes.")], [])
    assert time.monotonic() - started < 30
