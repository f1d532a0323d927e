"""One conversation of a Claude Code session, told line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.readers.claude_lines import Line, first_text
from traces.readers.fields import amount, duration, milliseconds, text
from traces.reply import Reply
from traces.wire import anthropic
from traces.wire.parts import kind_of, listed, mapping

_SYNTHETIC = "<synthetic>"
"""What stands for the model where the program wrote an answer itself."""
_ENDS = {"success": "final", "error_max_turns": "max_iterations", "error_max_budget_usd": "cost_budget"}
_DURATIONS = (("durationMs", 1), ("totalDurationMs", 1), ("duration_ms", 1), ("durationSeconds", 1000))
"""Where a tool's own report says how long it took, and how many milliseconds its unit has."""
_COMPACTIONS = frozenset(("compact_boundary", "microcompact_boundary"))


class Story:
    """A conversation on its way to a trace."""

    def __init__(self, trace: TraceBuilder, out: ImportBuilder) -> None:
        self.trace = trace
        self.positions: dict[str, int] = {}
        """Where what the model was given in a line stands, by the line's ``uuid``."""
        self.calls: dict[str, Mapping[str, Any]] = {}
        """Input of every call, by its id."""
        self.results: dict[str, int] = {}
        """Where the result of a call stands."""
        self.agents: dict[str, str] = {}
        """The call that began a sub-agent, by the sub-agent's id."""
        self._out = out
        self._asked_at: str | None = None
        self._called_at: dict[str, str | None] = {}

    def tell(self, lines: list[Line]) -> None:
        """Read lines in their order. Lines of one answer are one message, where its first stands."""
        for together in _answers(lines):
            line = together[0]
            if line.kind == "assistant" and line.is_said:
                self._answer(together)
            elif line.kind == "user" and line.is_said:
                self._given(line)
            elif line.kind == "system":
                self._system(line)
            elif line.kind == "result":
                self._result(line.record)
            elif line.kind in ("user", "assistant"):
                self._out.unread("a line without a readable message")
            elif line.kind not in ("summary", "custom-title", "ai-title"):
                self._out.unread(f"a line of the program, not of the conversation: {line.kind or 'without type'}"[:120])
        self.trace.reported(duration_s=duration(line.at for line in lines))

    # -- the model ---------------------------------------------------------------------------------------------------

    def _answer(self, together: list[Line]) -> None:
        first, last = together[0], together[-1]
        blocks = list(_blocks(together))
        messages = anthropic.converted({"role": "assistant", "content": blocks})
        is_made = first.message.get("model") == _SYNTHETIC or first.record.get("isApiErrorMessage") is True
        for message in messages:
            maker = "code" if is_made and message["role"] == "assistant" else None
            position = self.trace.message(message, at=last.at, line=first.number, maker=maker)
            if first.record.get("isApiErrorMessage") is True:
                self.trace.note("error", first_text(message), message=position)
        for line in together:
            for block in listed(line.message.get("content")):
                if kind_of(block) == "tool_use":
                    self._called_at[text(block.get("id"))] = line.at
                    self.calls[text(block.get("id"))] = mapping(block.get("input"))
        if not is_made:
            self.trace.numbers(self._numbers(together))
        self._asked_at = last.at or self._asked_at

    def _numbers(self, together: list[Line]) -> Reply:
        """Each line of an answer repeats its usage; while it is streamed the first ones may say less."""
        usages = [usage for line in together if (usage := anthropic.usage_of(line.message.get("usage"))) is not None]
        costs = [cost for line in together if (cost := amount(line.record.get("costUSD"))) is not None]
        stated = amount(together[0].record.get("durationMs"))
        measured = milliseconds(self._asked_at, together[-1].at)
        model = text(together[0].message.get("model"))
        reasons = [reason for line in together if (reason := text(line.message.get("stop_reason")))]
        return Reply(
            usage=max(usages, key=lambda usage: usage.completion_tokens or 0, default=None),
            cost=max(costs, default=None),
            model=model or None,
            finish_reason=reasons[-1] if reasons else None,
            started=self._asked_at if measured is not None else None,
            latency_ms=measured if stated is None else stated,
        )

    # -- what the model is given -------------------------------------------------------------------------------------

    def _given(self, line: Line) -> None:
        report = line.record.get("toolUseResult", line.record.get("tool_use_result"))
        raw = None
        if "content" not in line.message:
            raw = dict(line.record)
            self._out.unread("a message without content")
        messages = anthropic.converted({"role": "user", **line.message})
        results = [message for message in messages if message["role"] == "tool"]
        for message in messages:
            maker = "code" if message["role"] == "user" and line.is_made else None
            position = self.trace.message(message, at=line.at, line=line.number, maker=maker, raw=raw)
            self.positions[line.uuid] = position
            if message["role"] == "tool":
                self._ran(message, position, mapping(report) if len(results) == 1 else {}, line.at)
            elif line.record.get("isCompactSummary") is True:
                self.trace.note("compaction", "the conversation goes on from this summary", message=position)
        self._asked_at = line.at or self._asked_at

    def _ran(self, message: Mapping[str, Any], position: int, report: Mapping[str, Any], at: str | None) -> None:
        """Time of a tool: what it reports itself, else from its call to its result, a person's consent included."""
        call_id = text(message.get("tool_call_id"))
        begun = self._called_at.get(call_id)
        stated = [value * unit for key, unit in _DURATIONS if (value := amount(report.get(key))) is not None]
        latency_ms = stated[0] if stated else milliseconds(begun, at)
        self.trace.tool_run(call_id, started=begun, latency_ms=latency_ms)
        self.results[call_id] = position
        if agent := text(report.get("agentId")):
            self.agents[agent] = call_id

    # -- the program -------------------------------------------------------------------------------------------------

    def _system(self, line: Line) -> None:
        record, subtype = line.record, text(line.record.get("subtype"))
        if subtype in _COMPACTIONS:
            self.trace.note("compaction", _compaction(record))
        elif subtype == "api_error":
            error = mapping(record.get("error"))
            status = error.get("status")
            words = text(error.get("message")) or text(record.get("content")) or "the model call failed"
            self.trace.reply(Reply(error=words, status=status if isinstance(status, int) else None, at=line.at))
        elif subtype == "init":
            self.trace.model(record.get("model"))
            names = record.get("tools")
            names = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
            self.trace.tools([{"type": "function", "function": {"name": name}} for name in names])
        elif record.get("level") in ("warning", "error") and text(record.get("content")):
            self.trace.note(str(record["level"]), text(record.get("content")))
        else:
            self._out.unread(f"a line of the program, not of the conversation: system {subtype}".strip()[:120])

    def _result(self, record: Mapping[str, Any]) -> None:
        """The last line of a run without a screen: how it ended, and its totals."""
        subtype, took = text(record.get("subtype")), amount(record.get("duration_ms"))
        ended_well = subtype == "success" and record.get("is_error") is not True
        reason = _ENDS.get(subtype, "error") if ended_well or subtype != "success" else "error"
        self.trace.outcome(reason, final=text(record.get("result")) if ended_well else None, detail=subtype)
        self.trace.reported(
            usage=anthropic.usage_of(record.get("usage")),
            cost=amount(record.get("total_cost_usd")),
            duration_s=None if took is None else took / 1000,
        )


def _compaction(record: Mapping[str, Any]) -> str:
    about = mapping(record.get("compactMetadata", record.get("compact_metadata")))
    before = about.get("preTokens", about.get("pre_tokens"))
    size = f", {before:,} tokens before" if isinstance(before, int) else ""
    return f"the conversation was compacted ({text(about.get('trigger')) or 'auto'}{size})"


def _answers(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Each line alone, but those of one answer together, where the first of them stands."""
    groups: dict[tuple[str, str] | int, list[Line]] = {}
    for number, line in enumerate(lines):
        answer_id = text(line.message.get("id")) if line.kind == "assistant" and line.is_said else ""
        key = (answer_id, text(line.record.get("requestId"))) if answer_id else number
        groups.setdefault(key, []).append(line)
    yield from groups.values()


def _blocks(together: list[Line]) -> Iterator[Any]:
    """The content blocks of an answer. A line may repeat those of the lines before it."""
    known: list[Any] = []
    for line in together:
        content = line.message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        new = [block for block in blocks if block not in known] if isinstance(blocks, list) else []
        known += new
        yield from new
