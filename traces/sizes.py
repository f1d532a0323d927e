"""How many tokens each message takes in a prompt: by the provider's counts where they say it, else an estimate.

Between two model calls the prompt grows by the first one's reply and by what was added since. The reply's size is
reported; a single message beside it is then known too, and several share what is left in proportion to their
estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent import tokens
from agent.messages import Message
from agent.trace import Trace, TraceStep
from traces.held import Held, held_by_steps

_LONG = 4_000
"""Characters from which on a text is judged by pieces of it: its whole would take longer to count than to read."""
_PIECE, _PIECES = 400, 6
_MUCH, _SAMPLES = 4_000_000, 200
"""Characters of a trace from which on the sizes of its messages are taken from samples, and how many of a kind."""
_MOST_OFF = 3.0
"""A count that differs from the estimate by more than this factor holds something else, and says nothing about it."""


@dataclass(frozen=True, slots=True)
class Size:
    """The tokens of one message."""

    tokens: int
    measured: bool
    """True where it follows from the provider's counts alone."""


def message_sizes(trace: Trace) -> list[Size]:
    """The size of every message, parallel to ``trace.messages``. Time is linear in the length of the trace."""
    sizes = [Size(count, False) for count in _estimates(trace.messages)]
    before: Held | None = None
    for held in held_by_steps(trace):
        if before is not None and _continues(before, held):
            _measure(sizes, before.step, held)
        before = held
    return sizes


def _estimates(messages: Sequence[Message]) -> list[int]:
    """About how many tokens each message takes. Where there is very much text, its length is taken at a rate.

    The rates are those of samples, one for each role and for text with and without letters beyond ASCII.
    """
    if sum(map(_length, messages)) <= _MUCH:
        return [estimate(message) for message in messages]
    groups: dict[tuple[str, bool], list[int]] = {}
    texts = [_text(message) for message in messages]
    for at, (message, text) in enumerate(zip(messages, texts, strict=True)):
        groups.setdefault((message.role, text.isascii()), []).append(at)
    found = [0] * len(messages)
    for members in groups.values():
        rate = _rate([texts[at] for at in members[:: -(-len(members) // _SAMPLES)]])
        for at in members:
            content = messages[at].content
            pictures = tokens.count_message(Message("user", content)) if isinstance(content, list) else 0
            found[at] = (
                round(len(texts[at]) * rate) + pictures + tokens.PER_MESSAGE * (1 + len(messages[at].tool_calls))
            )
    return found


def _length(message: Message) -> int:
    return len(message.content) if isinstance(message.content, str) else 0


def _text(message: Message) -> str:
    """What a message says and asks for; parts that are no text are counted apart."""
    content = message.content if isinstance(message.content, str) else ""
    if not message.tool_calls and not message.extra:
        return content
    return "".join(
        (content, message.reasoning, *(f"{call.name}{call.arguments_text()}" for call in message.tool_calls))
    )


def _rate(texts: Sequence[str]) -> float:
    """Tokens a character, judged by a piece out of the middle of each text."""
    pieces = [text[max(0, len(text) // 2 - _PIECE) :][: 2 * _PIECE] for text in texts]
    length = sum(map(len, pieces))
    return sum(map(tokens.count_text, pieces)) / length if length else 0.0


def estimate(message: Message) -> int:
    """About how many tokens a message takes; of a very long text pieces are counted."""
    content = message.content
    if isinstance(content, str) and len(content) > _LONG:
        return round(estimate_text(content)) + tokens.PER_MESSAGE
    return tokens.count_message(message)


def estimate_text(text: str) -> int:
    """About how many tokens a text takes; of a very long one pieces are counted."""
    if len(text) <= _LONG:
        return tokens.count_text(text)
    stride = (len(text) - _PIECE) // (_PIECES - 1)
    counted = sum(tokens.count_text(text[at * stride : at * stride + _PIECE]) for at in range(_PIECES))
    return round(counted * len(text) / (_PIECE * _PIECES))


def prompt_of(step: TraceStep) -> int | None:
    """The prompt tokens of a step as the provider counted them; None where it did not."""
    usage = step.usage
    return None if usage is None or usage.estimated else usage.prompt_tokens


def _continues(before: Held, now: Held) -> bool:
    """Whether the second request is the first one and everything since, so that their difference tells something."""
    plain = not (before.replaced or before.inserted or now.replaced or now.inserted)
    if not plain or not before.spans or not now.spans or before.step.reply is None:
        return False
    same_head = before.spans[:-1] == now.spans[:-1] and before.spans[-1][0] == now.spans[-1][0]
    return same_head and before.spans[-1][1] <= before.step.reply < now.spans[-1][1]


def _measure(sizes: list[Size], before: TraceStep, now: Held) -> None:
    """Take what the prompt grew by for the messages that it grew by."""
    first, second = prompt_of(before), prompt_of(now.step)
    reply = before.reply
    if first is None or second is None or reply is None or before.usage is None:
        return
    left = second - first
    new: Sequence[int] = range(reply, now.spans[-1][1])
    completion = before.usage.completion_tokens
    if completion is not None:
        said = completion - (before.usage.reasoning_tokens or 0)
        if 0 < said <= left:
            sizes[reply] = Size(said, True)
            left, new = left - said, new[1:]
    about = sum(sizes[at].tokens for at in new)
    if not about or not about / _MOST_OFF <= left <= about * _MOST_OFF:
        return
    for at in new:
        sizes[at] = Size(round(sizes[at].tokens * left / about), len(new) == 1)
