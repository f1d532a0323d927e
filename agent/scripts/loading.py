"""From the file of a script to the script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.context import ContextBudget
from agent.errors import InputError, ModelError
from agent.evidence import AnswerContains, Check, ToolSucceeded
from agent.faults import Fault
from agent.interventions import Intervention
from agent.limits import Limits
from agent.messages import Message, ToolCall
from agent.models.base import ModelReply
from agent.models.fake import FakeTurn
from agent.models.quotes import Quote
from agent.models.replies import Reading, read_message
from agent.nearest import nearest
from agent.policy import CapabilityPolicy
from agent.scripts import source
from agent.scripts.catalogue import scenarios
from agent.scripts.script import Script, ToolInfo
from agent.scripts.turns import AnyTurn, Canned, ScriptChoice, ScriptTurn
from agent.tool_result import ToolResult
from agent.toolbox import toolbox
from agent.tools import Tool
from agent.usage import Usage

if TYPE_CHECKING:
    from agent.scripts.fields import EvidenceFields, ScriptFields
    from agent.scripts.source import Lines
    from agent.scripts.turn_fields import CallFields, ResultFields, RuleFields, SaidFields, TurnFields

_TASK = "Please begin."
"""The user's words in a script that gives none."""


def load_script(path_or_name: str | Path, own: Iterable[Tool] = ()) -> Script:
    """Load a script from a file, or a scenario by its name.

    Args:
        path_or_name: the file, or the name of a scenario.
        own: tools of one's own, which it may name beside those of the toolbox.

    Raises:
        InputError: there is neither, or the script is wrong; the text says where and what was expected.
    """
    if not str(path_or_name).strip():
        raise InputError("the name of the script is empty: give a file or a scenario")
    path = _find(path_or_name)
    return parse_script(source.text_of(path), path.name, own)


def parse_script(text: str, name: str = "script.yaml", own: Iterable[Tool] = ()) -> Script:
    """Read a script from its text.

    Args:
        text: YAML, or JSON.
        name: the file name: what errors call the text; its stem becomes the name of the script.
        own: as for :func:`load_script`.

    Raises:
        InputError: the script is wrong; the text says where and what was expected.
    """
    from agent.scripts.checking import check

    own = tuple(own)
    checked, lines = check(text, name, own)
    tools = _tools_of(checked, own)
    users = checked.user or ([checked.task] if checked.task is not None else [])
    opened = checked.turns and checked.turns[0].before is not None
    return Script(
        name=Path(name).stem,
        title=checked.title or Path(name).stem,
        title_zh=checked.title_zh,
        summary=checked.summary,
        summary_zh=checked.summary_zh,
        users=tuple(users or ([] if opened else [_TASK])),
        system=checked.system,
        tools=tools,
        made=tuple(_made(checked)),
        own=own,
        turns=tuple(_turns(checked.turns or ())),
        always=_choice(checked.rules, checked.default, "") if checked.rules else None,
        seed=checked.seed,
        max_steps=checked.max_steps,
        limits=Limits.from_dict(checked.limits.model_dump()) if checked.limits else Limits(),
        policy=CapabilityPolicy.from_dict(checked.policy.model_dump()) if checked.policy else None,
        context=ContextBudget.from_dict(checked.context.model_dump()) if checked.context else None,
        parallel=checked.parallel,
        protocol=checked.protocol,
        evidence=tuple(_check(evidence) for evidence in checked.evidence),
        interventions=tuple(Intervention(item.kind, item.params) for item in checked.interventions),
        options=checked.options,
        recorded=checked.recorded,
        replay=checked.replay.mode if checked.replay else "strict",
        ignore=tuple(checked.replay.ignore) if checked.replay else (),
        warnings=_warnings(checked, tools, lines),
    )


def _find(path_or_name: str | Path) -> Path:
    path, name = Path(path_or_name), str(path_or_name)
    known = {info.name: info.path for info in scenarios()}
    with suppress(OSError):
        if path.is_file() or (path.exists() and name not in known):
            return path
    if name in known:
        return known[name]
    shown = name if len(name) <= 200 else f"{name[:200]}…"
    raise InputError(f"there is no file or scenario {shown!r}{nearest(name, known)}")


# ---- tools ----


def _tools_of(script: ScriptFields, own: Iterable[Tool]) -> tuple[str, ...]:
    """The tools on offer. Left out, they are the tools that the turns call, as far as these are known."""
    if script.tools is None:
        known = {*toolbox(), *(tool.name for tool in own)}
        return tuple(dict.fromkeys(call.name for _, call in script.all_calls() if call.name in known))
    return tuple(tool if isinstance(tool, str) else tool.name for tool in script.tools)


def _made(script: ScriptFields) -> Iterator[ToolInfo]:
    for tool in script.tools or ():
        if not isinstance(tool, str):
            results = tuple(_canned(listed, listed.arguments) for listed in tool.results)
            yield ToolInfo(tool.name, tool.description, tool.parameters, results)


def _canned(answer: ResultFields, arguments: dict[str, Any] | None = None) -> Canned:
    """What a tool answers, as the loop takes it."""
    if answer.error is not None:
        retryable = answer.retryable is not False
        return Canned(ToolResult.failed(answer.error, retryable=retryable), answer.took_ms, arguments)
    result = ToolResult.of(answer.result)
    if answer.ok is False:
        result = result._replace(ok=False, retryable=answer.retryable)
    return Canned(result, answer.took_ms, arguments)


def _warnings(script: ScriptFields, offered: tuple[str, ...], lines: Lines) -> tuple[str, ...]:
    """A model may call what is not there, and a policy may name it; in a script it is probably a slip of the pen."""
    if script.recorded is not None:
        return ()
    named: list[tuple[list[str | int], str]] = [
        ([*place, "name"], call.name) for place, call in script.all_calls() if not call.answers
    ]
    if script.policy:
        rules = {"allow": script.policy.allow or [], "deny": script.policy.deny, "ask": script.policy.ask}
        named += [(["policy", rule, at], tool) for rule, tools in rules.items() for at, tool in enumerate(tools)]
    return tuple(
        f"{lines.where(place)}: no tool {tool!r} is offered{nearest(tool, offered)}"
        for place, tool in named
        if tool not in offered
    )


# ---- turns ----


def _turns(turns: Sequence[TurnFields]) -> Iterator[AnyTurn]:
    """All turns one by one, repeated ones too; the ids of calls go by the number of the turn that is written."""
    for number, turn in enumerate(turns, 1):
        before = None if turn.before is None else tuple(_outside(item.model_dump()) for item in turn.before)
        made: AnyTurn
        if turn.rules is not None:
            made = _choice(turn.rules, turn.default, f"{number}.", before)
        else:
            made = _turn(turn, str(number), before)
        yield from [made] * turn.repeat


def _choice(
    rules: Sequence[RuleFields],
    default: SaidFields | None,
    place: str,
    before: tuple[Message, ...] | None = None,
) -> ScriptChoice:
    """Rules and their default, which :func:`agent.scripts.turn_fields.check_choice` has seen to."""
    if default is None:
        raise InputError("rules need a default beside them")
    chosen = tuple((rule.when.condition(), _turn(rule, f"{place}{number}")) for number, rule in enumerate(rules, 1))
    return ScriptChoice(chosen, _turn(default, f"{place}default"), before, place)


def _turn(said: SaidFields, number: str, before: tuple[Message, ...] | None = None) -> ScriptTurn:
    reply, results = _reply(said, number.replace(".", "_"))
    faults = tuple(Fault(fault.kind, fault.params) for fault in said.faults)
    quotes = tuple(Quote(**quote.model_dump()) for quote in said.quotes)
    return ScriptTurn(FakeTurn(reply, said.latency_ms, faults, quotes), results, before)


def _reply(said: SaidFields, number: str) -> tuple[ModelReply | ModelError, tuple[Canned | None, ...]]:
    """What the model answers, and what the tools answer to its calls."""
    if said.error is not None:
        return ModelError(said.error.text, kind=said.error.kind, status=said.error.status), ()
    raw, warnings = None, tuple(said.warnings)
    answers: Sequence[ResultFields | None] = said.results
    if said.raw is not None:
        reading = _with_steady_ids(read_message(said.raw, finish_reason=said.finish_reason), said.raw, number)
        message, raw = reading.message, reading.raw
        warnings = warnings or reading.warnings
    elif said.message is not None:
        message = Message.from_dict(said.message.model_dump())
    else:
        calls = tuple(_call(call, f"c{number}_{at}") for at, call in enumerate(said.calls, 1))
        extra = {"reasoning_content": said.reasoning} if said.reasoning else {}
        message, answers = Message("assistant", said.text, tool_calls=calls, extra=extra), said.calls
    reply = ModelReply(
        message,
        usage=Usage.from_dict(said.usage.model_dump()) if said.usage else None,
        finish_reason=said.finish_reason or ("tool_calls" if message.tool_calls else "stop"),
        model=said.model,
        first_token_ms=said.first_token_ms,
        cost=said.cost,
        raw=raw,
        warnings=warnings,
    )
    return reply, tuple(_canned(answer) if answer is not None and answer.answers else None for answer in answers)


def _with_steady_ids(reading: Reading, raw: Mapping[str, Any], number: str) -> Reading:
    """The ids that a reading made up are random; in a script they are the same each time."""
    sent = json.dumps(raw)
    message, warnings = reading.message, reading.warnings
    for at, call in enumerate(message.tool_calls, 1):
        if json.dumps(call.id) in sent:
            continue
        steady = replace(call, id=f"c{number}_{at}")
        message = replace(message, tool_calls=tuple(steady if other is call else other for other in message.tool_calls))
        warnings = tuple(warning.replace(call.id, steady.id) for warning in warnings)
    return Reading(message, reading.raw, warnings)


def _call(call: CallFields, call_id: str) -> ToolCall:
    function = {"name": call.name, "arguments": call.arguments}
    return ToolCall.from_dict({"id": call_id if call.id is None else call.id, "function": function})


def _outside(data: Mapping[str, Any]) -> Message:
    return Message.from_dict(data)


# ---- the rest ----


def _check(evidence: EvidenceFields) -> Check:
    if evidence.tool_succeeded is not None:
        return ToolSucceeded(evidence.tool_succeeded.name, evidence.tool_succeeded.arguments)
    return AnswerContains(evidence.answer_contains or "")
