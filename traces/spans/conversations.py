"""Conversations out of spans.

A model call repeats what was said before it; so the calls of one agent, in the order of their start, grow into
conversations as in any log (:mod:`traces.growth`). Tool spans give the times of the calls that the models asked for,
and their results where no later call repeats them. An agent below another agent is a trace of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from traces.builder import TraceBuilder
from traces.growth import Conversations, Exchange
from traces.importing import ImportBuilder
from traces.repair import as_text
from traces.reply import Reply
from traces.spans.calls import SAME_TIME, calls_of
from traces.spans.dialects import remembering
from traces.spans.tools import ToolRuns, Wordless, bare, facts, rebuilt
from traces.spans.tree import AGENT, MODEL, TOOL, Span, Words, forest, merged, timed, unlink, walk
from traces.spans.wording import has_words, is_new_only, new_of, outer_answer, outer_question, parted
from traces.times import time_of

REPEATED = "some spans hold or repeat other model calls; their tokens were not added"
UNSAID = "the words of model calls were not recorded; only their names, times and tokens were"
ANSWERED = "the words of a model call were not recorded; its answer is that of the span round it"
REBUILT = "the words of model calls were not recorded; which tools they asked for is known from the tool runs"

_Answer = tuple[float | None, Sequence[Mapping[str, Any]]]


@dataclass(slots=True, eq=False)
class _Voice:
    """One agent of one trace, in however many spans."""

    trace: str
    agent: str
    title: str
    above: _Voice | None
    spans: list[Span] = field(default_factory=list)
    """The agent's own spans; of the voice that has no agent, the roots."""
    calls: list[tuple[Span, Words]] = field(default_factory=list)
    last: TraceBuilder | None = None
    """The conversation that its last call went to."""
    spoke: bool = False
    """That conversation began with messages rather than with a line of text."""
    joined: bool = False
    """It shares a conversation with an agent beside it: one of them handed it over."""
    held: Wordless | None = None
    """A model call without words that waits for the tools that it asked for."""


def read_spans(
    spans: Iterable[Span], out: ImportBuilder, titles: Mapping[str, str] | None = None
) -> dict[str, list[TraceBuilder]]:
    """Make conversations of all spans of a file.

    Args:
        spans: as a reader found them, in any order.
        out: the file that is read.
        titles: names of traces by their ids, where the file gives them.

    Returns:
        The conversations of each trace by its id, the first begun first.
    """
    with remembering():
        return _read(spans, out, titles or {})


def _read(spans: Iterable[Span], out: ImportBuilder, titles: Mapping[str, str]) -> dict[str, list[TraceBuilder]]:
    roots, cut = forest(merged(spans))
    if cut:
        out.warn(f"{cut:,} of the spans go in a circle, each below the other; they were taken as beginnings")
    by_trace: dict[str, list[Span]] = {}
    for root in roots:
        by_trace.setdefault(root.trace, []).append(root)
    stories = [_Story(out, starts, titles.get(trace)) for trace, starts in by_trace.items()]
    heard = {story.trace: story for story in stories if story.has_calls}
    told = [answer for story in heard.values() for answer in story.answers()]
    alone = Conversations(out, lossy=True)
    for story in stories:
        if story.trace not in heard and story.repeats(told):
            out.warn(REPEATED)
            continue
        if story.is_loose:
            story.log = alone
        story.tell()
        if not story.begun:
            out.unread("a trace without a model call, a tool run or words")
        elif not story.is_loose:
            story.begun[0].reported(duration_s=story.duration_s)
    unlink(roots)
    return {story.trace: story.begun for story in stories}


class _Story:
    """One trace on its way to conversations."""

    def __init__(self, out: ImportBuilder, roots: Sequence[Span], title: str | None) -> None:
        self._out = out
        self._roots = roots
        self._voice_of: dict[int, _Voice] = {}
        self._tools = ToolRuns()
        self._logs: dict[int, Conversations] = {}
        self.log: Conversations | None = None
        """A log that further traces share."""
        self.begun: list[TraceBuilder] = []
        self._remarked: set[tuple[int, str]] = set()
        self.trace = roots[0].trace
        named = next((root.name for root in roots if root.kind != MODEL), "")
        self._voices = {"": _Voice(roots[0].trace, "", title or named, None, list(roots))}
        self._place()

    def _place(self) -> None:
        """Find for every span the agent that it belongs to."""
        for span in walk(self._roots):
            voice = self._voice_of[id(span.above)] if span.above is not None else self._voices[""]
            if span.kind == AGENT and span.agent and span.agent != voice.agent:
                inner = self._voices.get(span.agent) or _Voice(span.trace, span.agent, span.agent, voice)
                voice = self._voices[span.agent] = inner
                voice.spans.append(span)
            self._voice_of[id(span)] = voice
        calls, repeated = calls_of(self._roots)
        for span, words in calls:
            self._voice_of[id(span)].calls.append((span, words))
        if repeated:
            self._out.warn(REPEATED)

    @property
    def has_calls(self) -> bool:
        """Whether any span is a model call."""
        return any(voice.calls for voice in self._voices.values())

    @property
    def is_loose(self) -> bool:
        """Whether model calls are all there is: a program without a span of its own gives each as a trace."""
        return all(span.kind == MODEL for span in walk(self._roots))

    @property
    def duration_s(self) -> float | None:
        """Seconds from the first start to the last end of any span."""
        spans = list(walk(self._roots))
        starts = [span.started for span in spans if span.started is not None]
        ends = [span.ended for span in spans if span.ended is not None]
        return round(max(ends) - min(starts), 3) if starts and ends and max(ends) >= min(starts) else None

    def answers(self) -> Iterator[_Answer]:
        """When each model call began, and what it said."""
        for voice in self._voices.values():
            yield from ((span.started, words.answer) for span, words in voice.calls if words.answer)

    def repeats(self, told: Sequence[_Answer]) -> bool:
        """Whether the trace is the outer span of a model call that stands in another trace."""
        span = self._roots[0]
        if span.children or span.started is None or not (answer := span.words().answer):
            return False
        near = (said for at, said in told if at is not None and abs(at - span.started) <= SAME_TIME)
        return any(list(said) == list(answer) for said in near)

    def tell(self) -> None:
        """Go through the trace in the order of the starts."""
        if not self.has_calls:
            self._take_outermost()
            if self._tell_tools():
                return
        events: list[tuple[Span, _Voice, Words | None]] = []
        for voice in self._voices.values():
            if any(has_words(words) for _, words in voice.calls) or not self._tell_whole(voice):
                events += [(span, voice, words) for span, words in voice.calls]
        events += [(span, self._speaker(span), None) for span in walk(self._roots) if span.kind == TOOL]
        for span, voice, words in sorted(events, key=lambda event: event[0].order):
            if words is not None:
                self._call(voice, span, words)
            elif voice.held is not None:
                voice.held.tools.append((span, span.use()))
            else:
                self._tools.add(span, voice)
        self._end()

    def _end(self) -> None:
        for voice in self._voices.values():
            if voice.held is not None:
                self._let_go(voice, outer_answer(voice.held.span) if not voice.held.tools else None)
        for voice in self._voices.values():
            for builder in self.begun:
                self._tools.match(builder, voice, None)
        for builder in self.begun:
            for result in self._tools.results(builder):
                builder.message(result)
        for voice in self._voices.values():
            left = self._tools.take(voice)
            if left and not self.begun:
                self._join(voice, self._begin(voice))
                voice.held = Wordless(Reply(), left[0][0], left)
                self._let_go(voice)
            elif left:
                bare(voice.last or self.begun[0], left)

    def _speaker(self, span: Span) -> _Voice:
        """Whose tool run it is: of the nearest agent above it that has model calls."""
        voice: _Voice | None = self._voice_of[id(span)]
        while voice is not None and not voice.calls:
            voice = voice.above
        return voice or next((each for each in self._voices.values() if each.calls), self._voices[""])

    def _take_outermost(self) -> None:
        """A trace without model calls: what went into its outermost span and came out is the conversation."""
        plain: tuple[Span, Words] | None = None
        for span in walk(self._roots):
            words = span.words() if span.kind != TOOL else Words()
            if not words.answer or not (words.messages or len(words.answer) > 1):
                continue
            if not words.plain:
                self._voice_of[id(span)].calls.append((span, words))
                return
            plain = plain or (span, words)
        if plain is not None:
            self._voice_of[id(plain[0])].calls.append(plain)

    def _tell_tools(self) -> bool:
        """An agent whose model calls were not recorded, but whose tool runs were: these stand before its answer."""
        voice = next((each for each in self._voices.values() if each.calls), None)
        spans = sorted((span for span in walk(self._roots) if span.kind == TOOL), key=lambda span: span.order)
        used = [(span, span.use()) for span in spans]
        if voice is None or rebuilt(used)[0] is None:
            return False
        span, words = voice.calls[0]
        if any(message.get("tool_calls") for message in (*words.messages, *words.answer)):
            return False
        self._join(voice, builder := self._begin(voice))
        for message in words.messages:
            builder.message(message)
        for _, step in groupby(used, key=lambda each: each[0].parent):
            own = list(step)
            voice.held = Wordless(Reply(), own[0][0], own)
            self._let_go(voice)
        for message in new_of(words):
            builder.message(message, at=time_of(span.ended), line=span.line)
        builder.numbers(words.reply)
        return True

    # -- calls with words ------------------------------------------------------------------------------------------

    def _call(self, voice: _Voice, span: Span, words: Words) -> None:
        self._let_go(voice)
        if voice.last is not None:
            self._tools.match(voice.last, voice)
            bare(voice.last, self._tools.take(voice, nameless=True))
        messages, said, rest = parted(words, span.kind == MODEL)
        reply = timed(words.reply, span, said)
        if not has_words(words) and reply.error is None:
            self._hold(voice, span, words, reply)
            return
        after = voice.last if is_new_only(messages) or (words.plain and voice.spoke) else None
        if after is not None:
            messages = self._with_results(after, messages)
        elif (found := self._handed_over(voice, messages)) is not None:
            after, messages = found
        else:
            voice.spoke = bool(messages) and not words.plain
        exchange = Exchange(
            messages=messages,
            reply=reply if said is not None or reply.error else None,
            tools=words.tools,
            model=words.model,
            provider=words.provider,
            settings=words.settings,
            line=span.line,
            agent=voice.agent if voice.joined else None,
        )
        builder = self._log_of(voice).add(exchange, after=after, begin=lambda: self._begin(voice))
        self._join(voice, builder)
        if exchange.reply is None:
            builder.bare_step(reply)
        if not any(message.get("content") for message in (*words.messages, *words.answer)):
            self._remark(builder, UNSAID)
        for message in rest:
            builder.message(message, line=span.line)
        if words.numbers and span.kind != MODEL:
            builder.numbers_of_last(words.numbers[-len(new_of(words)) :])

    def _with_results(self, builder: TraceBuilder, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Of a call that does not repeat what was said: the results that it answers, its own first."""
        given = [message for message in messages if message.get("role") == "tool"]
        ids = {as_text(message.get("tool_call_id")) for message in given}
        return [*given, *(each for each in self._tools.results(builder) if each["tool_call_id"] not in ids)]

    def _handed_over(
        self, voice: _Voice, messages: Sequence[Mapping[str, Any]]
    ) -> tuple[TraceBuilder, list[Mapping[str, Any]]] | None:
        """The conversation of an agent beside this one that a request goes on with, and what is new of it."""
        if voice.last is not None and not voice.joined:
            return None
        for other in self._voices.values():
            if other.above is not voice.above or other.last is None or (other is voice) is not voice.joined:
                continue
            log = self._log_of(other)
            if (found := log.handed_over(messages)) is not None:
                told = () if voice.joined else [each for each in messages if each.get("role") == "system"]
                self._logs[id(voice)], voice.joined, other.joined = log, True, True
                return found[0], [*found[1], *told]
        return None

    def _log_of(self, voice: _Voice) -> Conversations:
        if self.log is None and id(voice) not in self._logs:
            self._logs[id(voice)] = Conversations(self._out, lossy=True)
        return self.log or self._logs[id(voice)]

    def _begin(self, voice: _Voice) -> TraceBuilder:
        above = voice.above
        while above is not None and above.last is None:
            above = above.above
        outer = above.last.trace_id if above is not None and above.last is not None else None
        builder = self._out.trace(voice.title, parent=outer)
        self.begun.append(builder)
        return builder

    def _join(self, voice: _Voice, builder: TraceBuilder) -> None:
        voice.last = builder
        if builder not in self.begun:
            self.begun.append(builder)

    # -- calls without words ---------------------------------------------------------------------------------------

    def _hold(self, voice: _Voice, span: Span, words: Words, reply: Reply) -> None:
        builder = voice.last
        if builder is None:
            builder = self._begin(voice)
            for message in outer_question(span):
                builder.message(message)
            self._join(voice, builder)
        for result in self._tools.results(builder):
            builder.message(result)
        builder.model(words.model, words.provider)
        builder.tools(words.tools)
        voice.held = Wordless(reply, span)

    def _let_go(self, voice: _Voice, answer: Mapping[str, Any] | None = None) -> None:
        """Add the call without words that was held back, now that its tool runs are known."""
        held, builder = voice.held, voice.last
        voice.held = None
        if held is None or builder is None:
            return
        message, results = rebuilt(held.tools)
        if message is None and answer is None:
            builder.bare_step(held.reply)
            bare(builder, held.tools)
            self._remark(builder, UNSAID)
            return
        builder.reply(replace(held.reply, message=message or answer))
        for result in results:
            builder.message(result)
        for (span, use), run in zip(held.tools, builder.tool_runs(1)[-len(held.tools) :], strict=False):
            builder.tool_run(run.tool_call_id, **facts(span, use))
        self._remark(builder, REBUILT if message is not None else ANSWERED)

    def _remark(self, builder: TraceBuilder, text: str) -> None:
        if (id(builder), text) not in self._remarked:
            self._remarked.add((id(builder), text))
            builder.note("content", text)

    def _tell_whole(self, voice: _Voice) -> bool:
        """Words that stand only in the agent's span, beside numbers that stand only in its calls."""
        for span in voice.spans if voice.calls else ():
            words = span.words()
            if span.kind == MODEL or words.plain or not words.answer:
                continue
            self._join(voice, builder := self._begin(voice))
            replies = [timed(call.reply, each) for each, call in voice.calls]
            builder.model(voice.calls[0][1].model or words.model, words.provider)
            builder.tools(words.tools)
            for message in [*words.messages, *new_of(words)]:
                builder.message(message)
                if message.get("role") == "assistant" and replies:
                    builder.numbers(replies.pop(0))
            for reply in replies:
                builder.bare_step(reply)
            return True
        return False
