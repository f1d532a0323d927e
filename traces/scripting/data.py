"""The script of a trace: as data, as text and as the script itself."""

from __future__ import annotations

from typing import Any

from agent import jsontext
from agent.cutting import head
from agent.messages import Message
from agent.models.recording import Recording
from agent.scripts import Script, parse_script
from agent.scripts.source import LARGEST
from agent.trace import Trace
from traces.scripting.conduct import (
    offered_again,
    options_data,
    replay_data,
    settings_data,
    speaks_json_action,
    tools_data,
)
from traces.scripting.plan import UNMADE, Plan, PlannedTurn, plan_of
from traces.scripting.replies import ENDS_HERE, turn_data

_LONGEST_TITLE = 80
_ROLES = ("system", "developer", "user", "assistant", "tool")
_SAME_ROLE = {"function": "tool", "ai": "assistant", "model": "assistant"}
"""Other names of a role; whoever else speaks in a file of another program is told as the user."""


def script_data(trace: Trace) -> dict[str, Any]:
    """A trace of any format as the data of a script: its replies, its results and its own limits.

    Replayed, it gives the same message list wherever a loop can write that at all; :func:`traces.scripting.replay`
    says where not.

    Args:
        trace: never changed. The data shares parts with it.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    plan = plan_of(trace)
    title = " ".join((trace.title or trace.task).split())
    data: dict[str, Any] = {"title": head(title, _LONGEST_TITLE) or trace.trace_id}
    if plan.system:
        data["system"] = trace.messages[0].text
    if (task := _task(plan)) is not None:
        data["task"] = task
    if options := options_data(trace):
        data["options"] = options
    tools = tools_data(trace)
    data |= {"tools": tools, **settings_data(plan)}
    data["turns"] = [_turn(plan, turn, task_is_said=task is not None) for turn in plan.turns]
    recorded = Recording.of(trace).to_dict()
    recorded["requests"] += [None] * sum(turn.call is not None and turn.call.kind == UNMADE for turn in plan.turns)
    offered_again(recorded, tools)
    return data | {"replay": replay_data(plan, recorded), "recorded": recorded}


def script_text(data: dict[str, Any], *, as_json: bool = False) -> tuple[str, str]:
    """The text of a script, and how the name of its file ends: ``.yaml``, or ``.json`` where it is too long for YAML.

    Args:
        data: of a script.
        as_json: take JSON in any case.
    """
    from agent.scripts.writing import to_json, to_yaml

    text = to_json(data)
    if as_json or len(text) > LARGEST:
        return text, ".json"
    text = to_yaml(data)
    return (text, ".yaml") if len(text) <= LARGEST else (to_json(data), ".json")


def script_of(trace: Trace) -> Script:
    """A trace of any format as a script.

    Raises:
        InputError: the trace keeps what no script can hold; the text says what.
    """
    return parse_script(jsontext.dumps(script_data(trace)), f"{trace.trace_id}.json")


def _task(plan: Plan) -> str | None:
    """The user's words, where the run begins with these alone."""
    messages, before = plan.trace.messages, plan.turns[0].before
    if len(before) != 1 or not _is_users_text(messages[before[0]]):
        return None
    return messages[before[0]].text


def _turn(plan: Plan, turn: PlannedTurn, *, task_is_said: bool) -> dict[str, Any]:
    data: dict[str, Any] = {}
    first = turn is plan.turns[0]
    if (first and not task_is_said) or (not first and (turn.before or turn.over)):
        data["before"] = [_outside(plan.trace.messages[at]) for at in turn.before]
    if turn.call is None:
        return data | {"error": {"text": ENDS_HERE, "kind": "connection"}}
    return data | turn_data(plan.trace, turn.call, json_action=speaks_json_action(plan.trace))


def _outside(message: Message) -> str | dict[str, Any]:
    if _is_users_text(message):
        return message.text
    role = message.role if message.role in _ROLES else _SAME_ROLE.get(message.role, "user")
    return message.to_dict() | {"role": role}


def _is_users_text(message: Message) -> bool:
    return message == Message("user", message.text)
