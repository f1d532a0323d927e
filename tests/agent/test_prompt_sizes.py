"""How many tokens a request takes: what plain counting gives for any edits, and each message is counted once."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from agent import Message, Trace, Usage, tokens
from agent.request import MessageView, PromptSizes, apply_edits
from agent.trace import Edit, Request, TraceStep

MESSAGES = [Message("user", "word " * n) for n in range(8)]
EDITS = st.lists(
    st.builds(
        lambda op, message, count, words: Edit(
            op=op, message=message, count=count, by="x", with_={"role": "user", "content": "more " * words}
        ),
        st.sampled_from(["drop", "replace", "insert"]),
        st.integers(-1, 9),
        st.integers(1, 4),
        st.integers(0, 9),
    ),
    max_size=5,
)
REQUESTS = st.builds(Request, upto=st.integers(0, 8), edits=EDITS)


def plainly(request: Request) -> int:
    return tokens.count_messages(apply_edits(MessageView(MESSAGES, request.upto), request.edits))


@given(st.lists(REQUESTS, min_size=1, max_size=4), st.none() | st.integers(0, 900))
def test_any_request_takes_what_counting_it_whole_gives(requests: list[Request], reported: int | None) -> None:
    trace = Trace(messages=MESSAGES, tools=[{"type": "function", "function": {"name": "act"}}])
    sizes = PromptSizes(trace)
    for request in requests:
        assert sizes.about(request) == plainly(request) + tokens.count_schemas(trace.tools)
    if reported is not None:
        first, last = requests[0], requests[-1]
        trace.steps = [TraceStep(index=1, request=first, usage=Usage(reported, 1, reported + 1))]
        assert sizes.about(last) == max(0, reported + plainly(last) - plainly(first))


def test_a_long_list_is_not_counted_again_for_every_request() -> None:
    trace = Trace(messages=[Message("user", f"{n} " + "some words " * 20) for n in range(2000)])
    sizes = PromptSizes(trace)

    def seconds(upto: int) -> float:
        begun = time.perf_counter()
        sizes.about(Request(upto=upto))
        return time.perf_counter() - begun

    first = seconds(1990)
    assert min(seconds(upto) for upto in range(1991, 2001)) < first / 20
