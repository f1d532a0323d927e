"""Fork: a new run that begins where another one stood, with what a person changed. The other run stays as it is.

The new run inherits all messages and steps up to that point. What earlier model calls were really given is kept with
their steps, so that an edited message does not rewrite what happened before the edit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent import clock, jsontext
from agent.edited import edited_arguments
from agent.errors import InputError
from agent.events import APPROVE, CALL, DECIDE, EXECUTE, PREPARE, Maker
from agent.ids import new_trace_id
from agent.messages import Message
from agent.moments import Moment
from agent.past import FORK_EDITS
from agent.protocol import with_own_ids
from agent.rewind import rewind
from agent.settings import Settings
from agent.state import PendingCall, RunState
from agent.tool_result import error_in
from agent.trace import Edit, Entry, Request, Source, ToolRun, Trace

MESSAGE_EDITED, SYSTEM_EDITED, TOOLS_CHANGED, SETTINGS_CHANGED = FORK_EDITS


@dataclass(frozen=True, slots=True)
class Changes:
    """What is changed where a run forks. Nothing is: the same run once more from there."""

    messages: Mapping[int, Message | str] = field(default_factory=dict)
    """By position in the message list before any change: another message of the same role, or only its text."""
    system: str | None = None
    """The system text; empty: there is none from now on. None: as it is."""
    tools: Sequence[str] | None = None
    """Names of the tools on offer from now on. They are only recorded: the tools themselves go to ``Loop.resume``."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings by the names of a trace's ``config``. They are only recorded: their values go to ``Loop.resume``."""


NO_CHANGES = Changes()


def fork(source: Trace | RunState, moment: Moment, changes: Changes = NO_CHANGES) -> dict[str, Any]:
    """The snapshot of a new run that begins at a moment of another one: what ``Loop.resume`` goes on from.

    Args:
        source: the trace of the other run; or that run itself, resting, to fork it where it stands now. Neither is
            changed.
        moment: one of :func:`~agent.moments.moments` of the trace.
        changes: what is different from then on. A request that was ready is built anew, and calls of an edited reply
            that had not run yet are decided about anew.

    Raises:
        InputError: the run was never there, or a change makes no sense; the text is for a person.
    """
    run = rewind(source, moment)
    at = {"step": moment.step, "phase": moment.phase and str(moment.phase)}
    run.trace.source = Source(kind="fork", parent=run.trace.trace_id, at=at)
    run.trace.trace_id, run.trace.created = new_trace_id(), clock.now()
    editor = _Editor(run, at)
    for position, new in sorted(changes.messages.items()):
        editor.message(position, new)
    if changes.system is not None:
        if 0 in changes.messages and _has_system(run.trace):
            raise InputError("the system text is changed twice: once as message 1, once by itself")
        editor.system(changes.system)
    if changes.tools is not None:
        editor.tools(changes.tools)
    editor.settings(changes.settings)
    editor.finish()
    snapshot: dict[str, Any] = jsontext.copy_json(run.to_dict())
    return snapshot


def with_arguments(message: Message, texts: Mapping[int, str], seen: Message) -> Message:
    """The message with other arguments of some of its calls.

    Args:
        message: what the model said.
        texts: the text of a JSON object, by the position of the call.
        seen: the message as it was shown to who wrote the texts: without secrets.

    Raises:
        InputError: arguments that cannot be used; the sentence names the call.
    """
    calls = list(message.tool_calls)
    for position, text in sorted(texts.items()):
        call, shown = calls[position], seen.tool_calls[position].arguments_text()
        if text == shown:
            continue
        try:
            arguments = edited_arguments(text, shown, call)
        except InputError as error:
            raise InputError(f"call {position + 1} ({call.name}): {error}") from error
        calls[position] = replace(call, arguments=arguments, text=None, problem=None)
    return replace(message, tool_calls=tuple(calls))


class _Editor:
    """Makes changes to a run that nobody else has yet, and records each of them as an intervention."""

    def __init__(self, run: RunState, at: dict[str, Any]) -> None:
        self._run = run
        self._at = at
        self._made = False

    def message(self, position: int, new: Message | str) -> None:
        """Change one message."""
        run, trace = self._run, self._run.trace
        if not 0 <= position < len(trace.messages):
            raise InputError(f"there is no message {position + 1} at this point: there are {len(trace.messages)}")
        before = trace.messages[position]
        after = replace(before, content=new) if isinstance(new, str) else new
        if not isinstance(after, Message):
            raise InputError(f"message {position + 1} can become another message or a text, not {after!r}")
        if after.to_dict() == before.to_dict():
            return
        last = bool(trace.steps) and position == trace.steps[-1].reply == len(trace.messages) - 1
        not_run = last and run.phase in (APPROVE, EXECUTE, DECIDE)
        if not_run and any(pending.begun or pending.result for pending in run.pending):
            not_run = False
            if after.tool_calls != before.tool_calls:
                raise InputError(f"some calls of message {position + 1} have begun: only its text can be changed now")
        _check(before, after, position, may_change_calls=not_run)
        after = with_own_ids(after) if not_run else after
        _keep_what_was_sent(trace, position, before)
        trace.messages[position], trace.entries[position] = after, _edited(trace.entries[position], before)
        if before.role == "user" and trace.task == before.text:
            trace.task = after.text
        if not_run:
            self._reply(before, after)
        self._pending(position, after)
        told = {"before": before.to_dict(), "after": after.to_dict()}
        self._note(MESSAGE_EDITED, {"message": position, **told})

    def system(self, text: str) -> None:
        """Change, add or remove the system text. All positions shift where there is one message more or less."""
        run, trace = self._run, self._run.trace
        has = _has_system(trace)
        old = trace.messages[0] if has else None
        before = old.text if old else ""
        if text == before and (text or not has):
            return
        if old and text:
            _keep_what_was_sent(trace, 0, old)
            trace.messages[0], trace.entries[0] = replace(old, content=text), _edited(trace.entries[0], old)
        elif old:
            del trace.messages[0], trace.entries[0]
            _each_request(trace, lambda request: _without_first(request, old))
            _shift(run, -1)
        else:
            trace.messages.insert(0, Message("system", text))
            trace.entries.insert(0, Entry(maker=Maker.USER, at=clock.now()))
            _each_request(trace, _with_unsent_first)
            _shift(run, 1)
        self._note(SYSTEM_EDITED, {"before": before, "after": text})

    def tools(self, names: Sequence[str]) -> None:
        """Note which tools are on offer from now on."""
        before = [str(schema.get("function", {}).get("name")) for schema in self._run.trace.tools]
        after = list(dict.fromkeys(names))
        if set(before) != set(after):
            self._note(TOOLS_CHANGED, {"before": before, "after": after})

    def settings(self, values: Mapping[str, Any]) -> None:
        """Note which settings hold from now on."""
        config = self._run.trace.config
        known = Settings().to_config()
        if unknown := [name for name in values if name not in known]:
            raise InputError(f"there is no such setting: {', '.join(unknown)}")
        changed = {name: value for name, value in values.items() if value != config.get(name)}
        if changed:
            self._note(SETTINGS_CHANGED, {"before": {name: config.get(name) for name in changed}, "after": changed})

    def finish(self) -> None:
        """What follows from any change."""
        run, trace = self._run, self._run.trace
        if not self._made:
            return
        run.request = trace.steps[-1].request if trace.steps else None
        if run.phase is CALL:
            run.phase = PREPARE  # the request that was ready was made of what is no longer so
        if run.phase is None:
            trace.outcome.verified, trace.outcome.evidence = None, []

    def _reply(self, before: Message, after: Message) -> None:
        """The reply at hand was edited and nothing that it asks for has run."""
        run = self._run
        run.failure = None
        run.step.finish_reason = "tool_calls" if after.tool_calls else "stop"
        if before.tool_calls == after.tool_calls:
            return
        run.pending = [PendingCall(call) for call in after.tool_calls]
        run.step.tools = [ToolRun(tool_call_id=c.id, name=c.name, arguments=c.arguments) for c in after.tool_calls]
        run.phase = APPROVE if after.tool_calls else DECIDE

    def _pending(self, position: int, after: Message) -> None:
        """What decide will look at is what stands in the list now."""
        run = self._run
        for step in run.trace.steps:
            for number, done in enumerate(step.tools):
                if done.message != position:
                    continue
                done.ok = error_in(after.text) is None
                pending = run.pending[number] if step is run.step and number < len(run.pending) else None
                if pending and pending.result:
                    pending.result = pending.result._replace(text=after.text, value=after.text, ok=done.ok)
        if run.pending and position == run.step.reply:
            for pending, call in zip(run.pending, after.tool_calls, strict=True):
                pending.call = call

    def _note(self, kind: str, params: dict[str, Any]) -> None:
        self._made = True
        self._run.trace.interventions.append({"kind": kind, "params": params, **self._at, "by": "user"})


def _has_system(trace: Trace) -> bool:
    return bool(trace.messages) and trace.messages[0].role in ("system", "developer")


def _check(before: Message, after: Message, position: int, *, may_change_calls: bool) -> None:
    """Refuse what no run could go on with."""
    number = position + 1
    if after.role != before.role:
        raise InputError(f"message {number} has the role {before.role} and must keep it")
    if before.tool_call_id != after.tool_call_id:
        raise InputError(f"message {number} must stay the result of the call {before.tool_call_id!r}")
    if after.tool_calls and after.role != "assistant":
        raise InputError(f"message {number} cannot ask for tools: only the model does")
    if may_change_calls:
        if not all(call.name for call in after.tool_calls):
            raise InputError(f"message {number} asks for a tool without a name")
    elif [call.id for call in before.tool_calls] != [call.id for call in after.tool_calls]:
        raise InputError(f"the calls of message {number} are answered: they must keep their number and their ids")


def _edited(entry: Entry, before: Message) -> Entry:
    """The entry of a message that a person changed; the original stays with it, also when it is changed again."""
    raw = entry.raw
    if raw is None:
        raw = before.to_dict()
    elif isinstance(raw, str):  # a result that was cut to its limit
        raw = {**before.to_dict(), "content": raw}
    return replace(entry, maker=str(Maker.USER), raw=raw)


# ---- requests that were sent before the change ----


def _each_request(trace: Trace, change: Callable[[Request], None]) -> None:
    for step in trace.steps:
        if step.request is not None:
            change(step.request)
    for note in trace.notes:
        if isinstance(note.get("request"), dict):
            request = Request.from_dict(note["request"])
            change(request)
            note["request"] = request.to_dict()


def _keep_what_was_sent(trace: Trace, position: int, before: Message) -> None:
    """Earlier requests held the message as it was."""

    def keep(request: Request) -> None:
        if position < request.upto and not any(_concerns(edit, position) for edit in request.edits):
            old = Edit(op="replace", message=position, by=MESSAGE_EDITED, with_=before.to_dict())
            request.edits.append(old)

    _each_request(trace, keep)


def _concerns(edit: Edit, position: int) -> bool:
    return edit.op != "insert" and edit.message <= position < edit.message + edit.count


def _without_first(request: Request, old: Message) -> None:
    """The first message is gone from the list, but earlier requests began with it, or with what took its place."""
    sent: dict[str, Any] | None = old.to_dict()
    rest = []
    for edit in request.edits:
        if not _concerns(edit, 0):
            rest.append(edit)
        elif edit.op == "replace":
            sent = edit.with_
        else:
            sent = None
            rest += [replace(edit, message=1, count=edit.count - 1)] if edit.count > 1 else []
    if sent is not None:
        rest.append(Edit(op="insert", message=1, by=SYSTEM_EDITED, with_=sent))
    request.edits = rest


def _with_unsent_first(request: Request) -> None:
    """A message was put before all others; earlier requests did not hold it."""
    request.edits.append(Edit(op="drop", message=-1, by=SYSTEM_EDITED))


def _shift(run: RunState, by: int) -> None:
    """The list has one message more or less at its beginning: everything that points into it moves."""
    trace = run.trace

    def move(request: Request) -> None:
        request.upto += by
        for edit in request.edits:
            edit.message += by

    _each_request(trace, move)
    for step in trace.steps:
        step.reply = None if step.reply is None else step.reply + by
        for done in step.tools:
            done.message = None if done.message is None else done.message + by
    for item in (*trace.notes, *(item["params"] for item in trace.interventions if item["kind"] == MESSAGE_EDITED)):
        if isinstance(item.get("message"), int):
            item["message"] += by
    run.counters.task_at += by
    run.context.dropped = [[start + by, end + by] for start, end in run.context.dropped]
