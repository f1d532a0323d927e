"""Under what a script runs: the tools on offer, the limits of the recorded run, and how its requests are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent import faults
from agent.asked import asked_in
from agent.interventions import OMIT_RESULTS, Intervention, changed_request
from agent.limits import Limits
from agent.models.json_action import KEY as JSON_ACTION
from agent.models.likeness import options_of
from agent.policy import CapabilityPolicy
from agent.protocol import violations
from agent.request import MessageView
from agent.settings import Settings
from agent.stops import StopReason
from agent.trace import Trace, TraceStep
from traces.scripting.plan import Plan, runs_of
from traces.scripting.replies import result_data, results_left_out_after

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The names that a tool on offer may have; see :class:`agent.tools.Tool`."""
_ANYTHING = {"type": "object"}


def ran_here(trace: Trace) -> bool:
    """Whether the trace is of a run of this program, so that its config says under which settings."""
    return trace.source.kind != "import" and isinstance(trace.config.get("limits"), Mapping)


def speaks_json_action(trace: Trace) -> bool:
    """Whether the run spoke in JSON actions."""
    return ran_here(trace) and trace.config.get("protocol") == JSON_ACTION


def settings_data(plan: Plan) -> dict[str, Any]:
    """The keys of a script that say under which settings it runs.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    trace = plan.trace
    if not ran_here(trace):
        return {"max_steps": _max_steps(plan, 0)}
    own = Settings.from_config(trace.config)
    data: dict[str, Any] = {"max_steps": own.max_steps and _max_steps(plan, own.max_steps)}
    if limits := _limits(trace, own.limits, nudges=plan.nudges):
        data["limits"] = limits
    if own.policy and (policy := _policy(trace, own.policy)):
        data["policy"] = policy
    if own.context:
        data["context"] = {key: value for key, value in own.context.to_dict().items() if value is not None}
    if not own.parallel:
        data["parallel"] = False
    if changes := _throughout(trace):
        data["interventions"] = [{"kind": change.kind, "params": change.params} for change in changes]
    return data | ({"protocol": JSON_ACTION} if speaks_json_action(trace) else {})


def _max_steps(plan: Plan, limit: int) -> int:
    """The step limit: that of the run, and enough for all that was recorded.

    Turns may be longer in a replay, and shorter where a person let one go on that had ended.
    """
    steps = plan.steps_of_turns()
    longest = max(1, *steps)
    if plan.trace.outcome.reason == StopReason.MAX_ITERATIONS and steps[-1] == longest:
        return longest
    return limit if limit >= longest else longest + (limit == 0)


def _limits(trace: Trace, limits: Limits, *, nudges: bool) -> dict[str, Any]:
    data = {key: value for key, value in limits.to_dict().items() if value and key != "cosmetic"}
    if not nudges:
        data.pop("nudges", None)
    most = limits.calls_per_step
    if most is not None:
        beyond = (run for step in trace.steps for run in step.tools[most:] if run.message is not None)
        if not all(f"at most {most} calls" in trace.messages[run.message or 0].text for run in beyond):
            del data["calls_per_step"]  # it was another one then; what was not run is written down all the same
    return data


def _policy(trace: Trace, policy: CapabilityPolicy) -> dict[str, Any] | None:
    """What the policy denies. Whom it asks cannot be asked again: what came of that stands beside the calls.

    None where it was another one when some call was made.
    """
    firm = CapabilityPolicy(policy.allow, policy.deny)
    for run in (run for step in trace.steps for run in step.tools):
        verdict, reason = firm.check(run.name)
        if verdict == "deny" and run.message is not None and reason not in trace.messages[run.message].text:
            return None
    data = {key: value for key, value in firm.to_dict().items() if value}
    return data or None


# ---- tools ----


def tools_data(trace: Trace) -> list[dict[str, Any]]:
    """The tools on offer, each as a tool of the script itself.

    Where a file does not say what was on offer, it is what was called. A name that no provider takes cannot be offered;
    calls of it are answered all the same, by the results beside them.
    """
    offered = {tool["name"]: tool for tool in map(_tool_data, trace.tools) if tool is not None}
    if not trace.tools and not ran_here(trace):
        called = dict.fromkeys(run.name for step in trace.steps for run in step.tools)
        offered = {name: {"name": name, "parameters": _ANYTHING} for name in called if _NAME.fullmatch(name)}
    if speaks_json_action(trace):
        for name, answers in _answers_by_tool(trace).items():
            if name in offered:
                offered[name]["results"] = answers
    return list(offered.values())


def _tool_data(schema: Any) -> dict[str, Any] | None:
    function = schema.get("function") if isinstance(schema, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    data: dict[str, Any] = {"name": name}
    if isinstance(function.get("description"), str) and function["description"]:
        data["description"] = function["description"]
    if isinstance(function.get("parameters"), dict) and function["parameters"]:
        data["parameters"] = function["parameters"]
    return data


def _answers_by_tool(trace: Trace) -> dict[str, list[dict[str, Any]]]:
    """The answers of each tool in the order of its calls, with the arguments that each one is for."""
    found: dict[str, list[dict[str, Any]]] = {}
    for step in trace.steps:
        calls = () if step.reply is None else trace.messages[step.reply].tool_calls
        for call, run in zip(calls, runs_of(trace, step), strict=True):
            if run is not None and (answer := result_data(trace, run)):
                found.setdefault(run.name, []).append({"arguments": call.arguments, **answer})
    return found


# ---- how a replay is compared ----


def options_data(trace: Trace) -> dict[str, Any]:
    """How the model was asked, as far as requests show it."""
    return options_of(asked_in(trace, TraceStep(index=-1)).form.to_dict())


def replay_data(plan: Plan, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """How strictly a recording is followed.

    Strictly, where the loop makes the recorded requests again. It cannot where a client kept back part of the history,
    or where the messages of a file stand in an order in which no loop writes them.
    """
    trace, changes = plan.trace, _throughout(plan.trace)
    changed = any(_differs(trace, step, changes) for step in trace.steps)
    strict = plan.whole and not changed and not _is_broken(plan)
    data: dict[str, Any] = {"mode": "strict" if strict else "lenient"}
    ignored = list(_changing(recorded.get("asked") or []))
    return data | ({"ignore": ignored} if ignored else {})


def _differs(trace: Trace, step: TraceStep, changes: Sequence[Intervention]) -> bool:
    """Whether the request of a step is one that a replay under these interventions does not make."""
    request = step.request
    if request is None or step.reply is None:
        return False
    return request.upto != step.reply or not _made_by(trace, step, changes)


def _made_by(trace: Trace, step: TraceStep, changes: Sequence[Intervention]) -> bool:
    """Whether the request of a step was changed as these interventions would have changed it, and in no other way.

    The budget is replayed with the run, and so is the check before sending, which comes last and is left aside here.
    """
    request, left_out = step.request, results_left_out_after(trace)
    if request is None:
        return True
    if left_out is not None and step.index > left_out:
        changes = [*changes, Intervention(OMIT_RESULTS)]
    by_budget = [edit for edit in request.edits if edit.by == "context"]
    made = changed_request(changes, MessageView(trace.messages, request.upto), by_budget)
    known = [edit for edit in request.edits if edit.by != "protocol"]
    return [edit.to_dict() for edit in made] == [edit.to_dict() for edit in known]


def _throughout(trace: Trace) -> list[Intervention]:
    """The interventions under which every request of the run was made: all of them, or those that hold by themselves.

    One that came later, as in a fork, is none of them. A hidden tool and a switch show in no request; they stand in the
    script as tools and limits. Results that a fault left out are written down as that fault.
    """
    if not ran_here(trace):
        return []
    own = [item for item in _asked_for(trace) if item.changes_requests]
    if all(_made_by(trace, step, own) for step in trace.steps):
        return own
    return [item for item in own if all(_made_by(trace, step, [item]) for step in trace.steps)]


def _asked_for(trace: Trace) -> tuple[Intervention, ...]:
    """The interventions of a run without the one that a fault stands for."""
    strikes = (item for item in trace.interventions if item.get("kind") == faults.RESULTS_NOT_WRITTEN_BACK)
    before = next((item["params"]["before"] for item in strikes), trace.config.get("interventions"))
    return Settings.from_config({**trace.config, "interventions": before}).interventions


def _is_broken(plan: Plan) -> bool:
    """Whether a request would have to be mended before it is sent, where the recorded one was not."""
    trace = plan.trace
    if ran_here(trace):
        return False
    last = max((step.reply for step in trace.steps if step.reply is not None), default=0)
    return any(found.kind != "bad_ids" for found in violations(trace.messages[:last]))


def _changing(asked: list[Mapping[str, Any]]) -> Iterator[str]:
    """What changed in the course of the run. A script offers the same tools and options from begin to end."""
    if len({repr(ask.get("tools")) for ask in asked}) > 1:
        yield "tools"
    options = [ask.get("options") or {} for ask in asked]
    for name in dict.fromkeys(name for each in options for name in each):
        if len({repr(each.get(name)) for each in options}) > 1:
            yield f"options.{name}"


def offered_again(recorded: dict[str, Any], tools: list[dict[str, Any]]) -> None:
    """Leave those tools out of a recording that cannot be offered again."""
    names = {tool["name"] for tool in tools}
    for ask in recorded.get("asked") or ():
        if isinstance(ask.get("tools"), dict):
            ask["tools"] = {name: digest for name, digest in ask["tools"].items() if name in names}
