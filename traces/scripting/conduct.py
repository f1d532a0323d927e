"""Under what a script runs: the tools on offer, the limits of the recorded run, and how its requests are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent.asked import asked_in
from agent.interventions import OMIT_RESULTS, Intervention
from agent.limits import Limits
from agent.models.json_action import KEY as JSON_ACTION
from agent.models.likeness import options_of
from agent.policy import CapabilityPolicy
from agent.protocol import violations
from agent.settings import Settings
from agent.stops import StopReason
from agent.trace import Request, Trace, TraceStep
from traces.scripting.plan import Plan, runs_of
from traces.scripting.replies import result_data, results_left_out_after

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The names that a tool on offer may have; see :class:`agent.tools.Tool`."""
_ANYTHING = {"type": "object"}
_BY_THE_LOOP = ("context", "protocol")
"""Who changes a request in a replay as in the recorded run."""


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
    again = _made_again(plan.trace)
    changed = any(_differs(again, step) for step in plan.trace.steps) or not _left_out_from_then_on(plan.trace)
    strict = plan.whole and not changed and not _is_broken(plan)
    data: dict[str, Any] = {"mode": "strict" if strict else "lenient"}
    ignored = list(_changing(recorded.get("asked") or []))
    return data | ({"ignore": ignored} if ignored else {})


def _differs(again: set[str], step: TraceStep) -> bool:
    """Whether the request of a step is one that a replay does not make: it was changed by something else than these."""
    request = step.request
    if request is None or step.reply is None:
        return False
    return request.upto != step.reply or any(edit.by not in again for edit in request.edits)


def _made_again(trace: Trace) -> set[str]:
    """Who changes requests in a replay as in the recorded run."""
    left_out = [] if results_left_out_after(trace) is None else [OMIT_RESULTS]
    return {*_BY_THE_LOOP, *left_out, *(change.kind for change in _throughout(trace))}


def _left_out_from_then_on(trace: Trace) -> bool:
    """Whether results, once they were left out of requests, stayed so: not where a person took that back later."""
    after = results_left_out_after(trace)
    if after is None:
        return True
    omitted = Intervention(OMIT_RESULTS)
    later = (step.request for step in trace.steps[after:] if step.request is not None)
    return all(_holds(trace, omitted, request) for request in later)


def _throughout(trace: Trace) -> list[Intervention]:
    """The interventions under which every request of the run was made.

    One that came later, as in a fork, is none of them. Results that were left out are written down as a fault.
    """
    if not ran_here(trace):
        return []
    own = [item for item in Settings.from_config(trace.config).interventions if item.kind != OMIT_RESULTS]
    return [item for item in own if all(_holds(trace, item, step.request) for step in trace.steps if step.request)]


def _holds(trace: Trace, change: Intervention, request: Request) -> bool:
    """Whether a request was changed as this intervention would have changed it."""
    made = [edit.to_dict() for edit in request.edits if edit.by == change.kind]
    return made == [edit.to_dict() for edit in change.edits(trace.messages[: request.upto])]


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
