"""Events of OpenHands before the SDK: an ``action`` with its ``args``, and the ``observation`` that it caused.

Source: OpenHands, ``openhands/events``. Rows of older evaluations have neither ids nor times, and the arguments stand
beside the action.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.readers.fields import text
from traces.readers.openhands_turns import STATES, Turns, exit_ok, image_parts, time_of_event
from traces.reply import Reply
from traces.wire import litellm
from traces.wire.parts import listed, mapping

_OWN_EVENTS = frozenset(
    ("agent_state_changed", "change_agent_state", "null", "recall", "condensation_request", "pause")
)
_NO_ARGUMENTS = frozenset(("thought", "action", "source", "timeout", "hidden", "blocking", "is_static", "keep_prompt"))
_NO_ARGUMENTS |= {"is_confirmed", "confirmation_state", "security_risk", "action_risk", "impl_source"}
_NO_ARGUMENTS |= {"kernel_init_code", "translated_ipython_code"}
"""What stands among the arguments of an action without the model having asked for it."""


def is_event(value: Mapping[str, Any]) -> bool:
    """Whether an object is such an event."""
    return isinstance(value.get("action"), str) or isinstance(value.get("observation"), str)


class Story(Turns):
    """A conversation as its events tell it."""

    def __init__(
        self, trace: TraceBuilder, out: ImportBuilder, metrics: Mapping[str, Any], events: list[Mapping[str, Any]]
    ) -> None:
        super().__init__(trace, out, metrics)
        self._together: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        """Actions that one response of the model asked for: calls in parallel."""
        for event in events:
            if (response_id := _response_id(event)) and "action" in event and event["action"] != "think":
                self._together[response_id].append(event)
        self._told: set[str] = set()
        """Responses whose calls are told; and below, those whose tokens are counted."""
        self._counted: set[str] = set()
        self._calls: dict[Any, str] = {}
        """The call id of each action that waits, by the action's id."""
        self._speaker = ""

    def add(self, event: Mapping[str, Any], line: int | None) -> None:
        """The next event."""
        self.times.append(time_of_event(event))
        if isinstance(event.get("action"), str):
            self._act(event, line)
        elif isinstance(event.get("observation"), str):
            self._observe(event, line)
        else:
            self.out.unread("a record that is no event")

    # -- actions -----------------------------------------------------------------------------------------------------

    def _act(self, event: Mapping[str, Any], line: int | None) -> None:
        kind, args, at = event["action"], _args(event), time_of_event(event)
        if kind == "message":
            self._message(event, args, at, line)
        elif kind == "system":
            self.trace.tools([tool for tool in listed(args.get("tools")) if isinstance(tool, dict)])
            self.say({"role": "system", "content": text(args.get("content"))}, at, line)
        elif kind == "condensation":
            self.trace.note("compaction", text(args.get("summary")) or "older events were left out of the prompt")
        elif kind in _OWN_EVENTS:
            self._own(event)
        elif event.get("source") == "user":
            self.say({"role": "user", "content": text(event.get("message")) or text(args.get("command"))}, at, line)
        elif kind == "think":
            self._think(event, args, at, line)
        else:
            self._call(event, at, line)
            if kind == "finish":
                self._finish(event, args)

    def _message(self, event: Mapping[str, Any], args: Mapping[str, Any], at: str | None, line: int | None) -> None:
        source = event.get("source")
        if source is None:  # rows without sources: people and the agent take turns, and a person begins
            source = "agent" if self._speaker == "user" else "user"
        content = image_parts(text(args.get("content")), args.get("image_urls") or args.get("images_urls"))
        if source != "agent":
            self._speaker = "user"
            self.say({"role": "user", "content": content}, at, line, None if source == "user" else "environment")
            return
        self._speaker = "agent"
        position = self.trace.message({"role": "assistant", "content": content}, at=at, line=line)
        self._numbers([event], at)
        if args.get("wait_for_response") is True:
            self.trace.note("waiting", "the agent waits for an answer", message=position)

    def _think(self, event: Mapping[str, Any], args: Mapping[str, Any], at: str | None, line: int | None) -> None:
        """A thought is reasoning, though the model speaks it by calling a tool; its receipt says nothing."""
        self._speaker = "agent"
        message = {"role": "assistant", "content": None, "reasoning_content": text(args.get("thought"))}
        self.trace.message(message, at=at, line=line, raw=dict(event))
        self._numbers([event], at)

    def _call(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        response_id = _response_id(event)
        call_id = _call_id(event)
        if call_id is not None:
            self._calls[_key(event.get("id"))] = call_id
            self.started[call_id] = at
        if response_id in self._told:
            return
        self._speaker = "agent"
        together = self._together.get(response_id) or [event]
        if response_id:
            self._told.add(response_id)
        thoughts = (text(_args(action).get("thought")) for action in together)
        answer = _answer(event)
        message = {
            "role": "assistant",
            "content": next(filter(None, thoughts), None) or answer.get("content"),
            "reasoning_content": answer.get("reasoning_content"),
            "tool_calls": [_tool_call(action) for action in together],
        }
        self.trace.message(message, at=at, line=line)
        self._numbers(together, at)

    def _numbers(self, together: list[Mapping[str, Any]], at: str | None) -> None:
        response = mapping(_metadata(together[0]).get("model_response"))
        metrics = [event["llm_metrics"] for event in together if isinstance(event.get("llm_metrics"), Mapping)]
        response_id = _response_id(together[0])
        reply = litellm.read_response(response) if response else Reply()
        if response_id in self._counted:
            reply = replace(reply, usage=None, cost=None)
        elif response_id:
            self._counted.add(response_id)
        self.numbers(at, reply, response_id, metrics[-1] if metrics else None)

    def _finish(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        words = (args.get("final_thought"), mapping(args.get("outputs")).get("content"), args.get("thought"))
        said = next(filter(None, map(text, words)), text(event.get("message")))
        self.trace.outcome("final", final=said)

    # -- observations ------------------------------------------------------------------------------------------------

    def _observe(self, event: Mapping[str, Any], line: int | None) -> None:
        kind, extras, at = event["observation"], mapping(event.get("extras")), time_of_event(event)
        if kind in _OWN_EVENTS:
            self._own(event)
            return
        if kind == "think":
            self.out.unread("a receipt that a thought was noted")
            return
        call_id = self._calls.pop(_key(event.get("cause")), None) or text(_metadata(event).get("tool_call_id"))
        content = image_parts(text(event.get("content")), extras.get("image_urls"))
        if kind == "error" and not call_id and "cause" in event:
            self.trace.note("error", text(event.get("content")) or text(event.get("message")))
            return
        if not call_id and event.get("cause") is not None:  # what a person ran is no call of the model
            self.say({"role": "user", "content": content}, at, line, "environment")
            return
        if kind == "user_rejected":
            self.result(_tool(content, call_id, event), at, line, ok=None, decision="rejected")
            return
        failed = kind == "error" or extras.get("error") is True or event.get("success") is False
        self.result(_tool(content, call_id, event), at, line, ok=False if failed else exit_ok(extras, event))

    def _own(self, event: Mapping[str, Any]) -> None:
        """An event of the program itself: nobody said it and no model saw it."""
        extras = mapping(event.get("extras"))
        if reason := STATES.get(text(extras.get("agent_state"))):
            self.trace.outcome(reason, detail=text(extras.get("reason")))
        kind = event.get("action") or event.get("observation")
        self.out.unread(f"an event of the program itself, not of the conversation: {kind}")


# -- what an event holds -------------------------------------------------------------------------------------------


def _args(event: Mapping[str, Any]) -> Mapping[str, Any]:
    args = event.get("args")
    return args if isinstance(args, Mapping) else event


def _metadata(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(event.get("tool_call_metadata"))


def _response_id(event: Mapping[str, Any]) -> str:
    return text(mapping(_metadata(event).get("model_response")).get("id"))


def _answer(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The assistant message of the response that an action comes from."""
    choices = listed(mapping(_metadata(event).get("model_response")).get("choices"))
    return mapping(choices[0].get("message")) if choices else {}


def _key(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else None


def _call_id(event: Mapping[str, Any]) -> str | None:
    """The provider's id; else one of the action's id; None where the file has neither."""
    known = text(_metadata(event).get("tool_call_id"))
    return known or (f"action-{event['id']}" if isinstance(event.get("id"), (int, str)) else None)


def _tool_call(event: Mapping[str, Any]) -> dict[str, Any]:
    """The call in the model's own words where the response is kept, else in those of the action."""
    call_id = _call_id(event)
    for call in listed(_answer(event).get("tool_calls")):
        if call_id is not None and call.get("id") == call_id:
            return dict(call)
    arguments = {key: value for key, value in _args(event).items() if key not in _NO_ARGUMENTS}
    name = text(_metadata(event).get("function_name")) or event["action"]
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


def _tool(content: Any, call_id: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """A tool message. Without an id it is paired by order; the kind of an observation is no tool's name."""
    name = text(_metadata(event).get("function_name"))
    return {"role": "tool", "tool_call_id": call_id or None, "name": name or None, "content": content}
