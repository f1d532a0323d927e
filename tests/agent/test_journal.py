"""What stands on the disk while a run goes on and when it is over: whole, without secrets, in one file."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent import (
    ContextBudget,
    FakeModel,
    InputError,
    Loop,
    Message,
    ModelReply,
    Phase,
    Tool,
    ToolCall,
    Trace,
    Usage,
)
from agent.recovery import recover
from agent.tape import ROOM


def call(**arguments: object) -> list[ToolCall]:
    return [ToolCall("c1", "act", arguments)]


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """To this process the disk is full: writing beyond that many bytes of any file is an OSError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_and_the_journal_is_whole_again_after_it(
    started: Callable[..., Loop], tmp_path: Path
) -> None:
    loop = started(call(text="x" * ROOM), "done", journal=tmp_path, to=Phase.CALL)
    with no_file_grows_beyond(ROOM), pytest.raises(OSError, match="File too large"):
        loop.advance()
    assert loop.phase is Phase.APPROVE, "the reply is there and will not be asked for again"
    loop.advance()
    recovered = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    assert recovered["phase"] == Phase.EXECUTE
    assert len(recovered["trace"]["messages"]) == 2
    loop.finish()
    assert loop.stop_reason == "final"


def test_a_second_turn_opens_the_journal_again(tmp_path: Path) -> None:
    loop = Loop(FakeModel(["one", "two"]), journal=tmp_path)
    loop.start("first")
    loop.finish()
    loop.start("second")
    loop.advance()
    snapshot = recover(tmp_path / f"{loop.trace.trace_id}.jsonl")
    again = Loop.resume(snapshot, model=FakeModel(["one", "two"]), journal=tmp_path)
    again.finish()
    trace = Trace.from_dict(json.loads((tmp_path / f"{loop.trace.trace_id}.json").read_bytes()))
    assert [message.text for message in trace.messages] == ["first", "one", "second", "two"]


def test_looking_at_a_finished_run_leaves_its_file_alone(started: Callable[..., Loop], tmp_path: Path) -> None:
    loop = started("done", journal=tmp_path)
    loop.finish()
    Loop.resume(loop.snapshot(), model=FakeModel(["done"]), journal=tmp_path)
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_summaries_and_active_time_stand_in_the_file(tmp_path: Path) -> None:
    def say(text: str) -> ModelReply:
        return ModelReply(Message("assistant", text), usage=Usage(100, 10, 110))

    loop = Loop(
        FakeModel([say("word " * 300), say("in short"), say("done")]), context=ContextBudget(200), journal=tmp_path
    )
    for text in ("first", "second"):
        loop.start(text)
        loop.finish()
    trace = Trace.from_dict(json.loads(next(tmp_path.iterdir()).read_bytes()))
    (note,) = [note for note in trace.notes if note["kind"] == "summary"]
    assert (note["text"], note["usage"]["total_tokens"]) == ("in short", 110)
    assert trace.outcome.active_s is not None
    assert trace.outcome.active_s >= 0


def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    key = "sk-proj-abcdefghijklmnop1234567890"
    own = "correct horse battery staple"

    class Keyed(FakeModel):
        secrets = (own,)

    def leak(**_: object) -> str:
        return f"the key is {key}, the phrase {own}"

    tool = Tool(name="leak", description="", parameters={"type": "object"}, func=leak)
    seen: list[bytes] = []

    def look(event: object) -> None:
        seen.extend(path.read_bytes() for path in tmp_path.iterdir())

    call = [ToolCall("c1", "leak", {"api_key": key, "max_tokens": 50, "author": "Ada"})]
    loop = Loop(Keyed([call, f"I saw {own}"]), [tool], journal=tmp_path, on_event=look)
    loop.start(f"use {key}")
    loop.finish()
    seen += [path.read_bytes() for path in tmp_path.iterdir()]

    assert seen
    assert not any(secret.encode() in data for data in seen for secret in (key, own))
    assert b"redacted" in seen[-1]
    trace = Trace.from_dict(json.loads(next(tmp_path.iterdir()).read_bytes()))
    assert trace.messages[1].tool_calls[0].arguments["max_tokens"] == 50
    assert trace.messages[1].tool_calls[0].arguments["author"] == "Ada"
    assert key in loop.messages[2].text, "the run itself goes on with the real values"


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"schema": "agent-journal/1"}', b"\xff\xfe", b'{"schema":"x"}\n{}']
)
def test_what_is_no_journal_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(InputError, match="journal"):
        recover(data)


def test_a_secret_in_a_summary_is_in_no_line_of_the_journal(tmp_path: Path) -> None:
    """The summary is the model's own text, and stands in every line of a reply that follows it."""
    key = "Zq81Lm-the-key-in-use"

    class Repeats(FakeModel):
        secrets = (key,)

    long = "lorem ipsum dolor sit amet " * 60
    model = Repeats([f"fine {long}", f"They gave the key {key}", "one more", "done"])
    loop = Loop(model, [], journal=tmp_path, context=ContextBudget(700))
    loop.start(long)
    loop.finish()
    loop.start(long[:900])
    path = tmp_path / f"{loop.trace.trace_id}.jsonl"
    while loop.phase is not None:
        loop.advance()
        assert not path.exists() or key.encode() not in path.read_bytes()
    assert key in loop.run.context.summary, "the run itself goes on with the real text"
    assert key not in path.with_suffix(".json").read_text()
