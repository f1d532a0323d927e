"""Events of the OpenHands SDK (version 1): each says by ``kind`` what it is.

Source: OpenHands software-agent-sdk, ``openhands/sdk/event``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from traces.builder import TraceBuilder
from traces.importing import ImportBuilder
from traces.readers.fields import amount, text
from traces.readers.openhands_turns import STATES, Turns, exit_ok, image_parts, time_of_event
from traces.repair import as_text
from traces.reply import Reply
from traces.wire import litellm
from traces.wire.parts import count, listed, mapping


def is_event(value: Mapping[str, Any]) -> bool:
    """Whether an object is such an event."""
    return text(value.get("kind")) in _TELL and not {"id", "source"}.isdisjoint(value)


class Story(Turns):
    """A conversation as its events tell it."""

    def __init__(
        self, trace: TraceBuilder, out: ImportBuilder, metrics: Mapping[str, Any], events: list[Mapping[str, Any]]
    ) -> None:
        stats = [found for event in events if (found := _stats_of(event))]
        self._metrics = {**(metrics_of(stats[-1]) if stats else {}), **metrics}
        super().__init__(trace, out, self._metrics)
        self._together: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for event in events:
            if event.get("kind") == "ActionEvent" and (response_id := text(event.get("llm_response_id"))):
                self._together[response_id].append(event)
        self._told: set[str] = set()

    def add(self, event: Mapping[str, Any], line: int | None) -> None:
        """The next event."""
        self.times.append(time_of_event(event))
        tell = _TELL.get(text(event.get("kind")))
        if tell is None:
            self.out.unread(f"an event of the program itself, not of the conversation: {event.get('kind')}"[:200])
        else:
            tell(self, event, time_of_event(event), line)

    def end(self) -> None:
        """State the totals of the conversation, those of its condenser and other helpers included."""
        super().end()
        usage = litellm.read_usage(self._metrics.get("accumulated_token_usage"))
        self.trace.reported(usage=usage, cost=amount(self._metrics.get("accumulated_cost")))

    def _system(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        tools = [tool for tool in listed(event.get("tools")) if isinstance(tool, dict)]
        self.trace.tools([tool if "function" in tool else {"type": "function", "function": tool} for tool in tools])
        prompt = event.get("system_prompt")
        self.say({"role": "system", "content": text(prompt) or text(mapping(prompt).get("text"))}, at, line)

    def _message(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        said = mapping(event.get("llm_message"))
        content = _content([*_parts(said.get("content")), *_parts(event.get("extended_content"))])
        if (text(said.get("role")) or event.get("source")) not in ("assistant", "agent"):
            maker = None if event.get("source") == "user" else "environment"
            self.say({"role": "user", "content": content}, at, line, maker)
            return
        message = {"role": "assistant", "content": content, "reasoning_content": said.get("reasoning_content")}
        self.trace.message(message, at=at, line=line)
        self.numbers(at, Reply(), text(event.get("llm_response_id")), event.get("metrics"))
        self.trace.outcome(final=content if isinstance(content, str) else None)

    def _action(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        self.started[text(event.get("tool_call_id"))] = at
        response_id = text(event.get("llm_response_id"))
        if response_id in self._told:
            return
        if response_id:
            self._told.add(response_id)
        together = self._together.get(response_id) or [event]
        message = {
            "role": "assistant",
            "content": next((words for action in together if (words := _content(_parts(action.get("thought"))))), None),
            "reasoning_content": next((r for action in together if (r := text(action.get("reasoning_content")))), None),
            "tool_calls": [_tool_call(action) for action in together],
        }
        self.trace.message(message, at=at, line=line)
        metrics = [action["metrics"] for action in together if isinstance(action.get("metrics"), Mapping)]
        self.numbers(at, Reply(), response_id, metrics[-1] if metrics else None)
        for action in together:
            if action.get("tool_name") == "finish":
                self.trace.outcome("final", final=text(mapping(action.get("action")).get("message")))

    def _observation(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        seen = mapping(event.get("observation"))
        ok = False if seen.get("is_error") is True or seen.get("error") else exit_ok(seen)
        self.result(_tool(event, _seen(seen)), at, line, ok=ok)

    def _rejection(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        self.result(_tool(event, text(event.get("rejection_reason"))), at, line, ok=None, decision="rejected")

    def _error(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        if event.get("tool_call_id"):
            self.result(_tool(event, text(event.get("error"))), at, line, ok=False)
        else:
            self.say({"role": "user", "content": text(event.get("error"))}, at, line, "environment")

    def _failure(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        words = text(event.get("detail")) or text(event.get("code"))
        self.trace.note("error", words)
        self.trace.outcome("error", detail=words)

    def _condensation(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        self.trace.note("compaction", text(event.get("summary")) or "older events were left out of the prompt")

    def _pause(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        self.trace.note("pause", "the user paused the agent")

    def _state(self, event: Mapping[str, Any], at: str | None, line: int | None) -> None:
        value = event.get("value")
        status = text(value) if event.get("key") != "full_state" else text(mapping(value).get("execution_status"))
        if reason := STATES.get(status):
            self.trace.outcome(reason)
        self.trace.model(model_of(mapping(value)))
        self.out.unread("an event of the program itself, not of the conversation: ConversationStateUpdateEvent")


_TELL: Mapping[str, Callable[[Story, Mapping[str, Any], str | None, int | None], None]] = {
    "SystemPromptEvent": Story._system,
    "MessageEvent": Story._message,
    "ActionEvent": Story._action,
    "ObservationEvent": Story._observation,
    "UserRejectObservation": Story._rejection,
    "AgentErrorEvent": Story._error,
    "ConversationErrorEvent": Story._failure,
    "Condensation": Story._condensation,
    "PauseEvent": Story._pause,
    "ConversationStateUpdateEvent": Story._state,
}


def metrics_of(stats: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens and cost of a conversation: those of the agent and of its helpers, which its state keeps apart."""
    each = [metrics for metrics in mapping(stats.get("usage_to_metrics")).values() if isinstance(metrics, Mapping)]
    totals = [mapping(metrics.get("accumulated_token_usage")) for metrics in each]
    costs = [cost for metrics in each if (cost := amount(metrics.get("accumulated_cost"))) is not None]
    merged: dict[str, Any] = {}
    for key in ("token_usages", "response_latencies"):
        if rows := [row for metrics in each for row in listed(metrics.get(key))]:
            merged[key] = rows
    if any(totals):
        summed = {name: count(*(total.get(name) for total in totals)) for name in _COUNTS}
        merged["accumulated_token_usage"] = {name: value for name, value in summed.items() if value is not None}
    return merged | ({"accumulated_cost": sum(costs)} if costs else {})


_COUNTS = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


def model_of(state: Mapping[str, Any]) -> Any:
    """The model of the agent, where the state of a conversation says it."""
    return mapping(mapping(state.get("agent")).get("llm")).get("model")


def _stats_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    if event.get("kind") != "ConversationStateUpdateEvent":
        return {}
    value = mapping(event.get("value"))
    return value if event.get("key") == "stats" else mapping(value.get("stats"))


def _parts(value: Any) -> list[Mapping[str, Any]]:
    return [{"text": value}] if isinstance(value, str) else listed(value)


def _content(parts: list[Mapping[str, Any]]) -> str | list[dict[str, Any]]:
    """Text alone as text; with images as content parts."""
    words = "\n".join(said for part in parts if (said := text(part.get("text"))))
    urls = [url for part in parts if isinstance(found := part.get("image_urls"), list) for url in found]
    return image_parts(words, urls)


def _seen(seen: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    """What a tool showed: its content, else its output, else everything it holds."""
    said = _parts(seen.get("content"))
    if (content := _content(said)) or said:
        return content  # a command may print nothing
    for key in ("output", "text", "error", "content"):
        if isinstance(value := seen.get(key), str):
            return value
    rest = {key: value for key, value in seen.items() if key not in ("kind", "content", "is_error")}
    return as_text(rest) if rest else ""


def _tool_call(event: Mapping[str, Any]) -> dict[str, Any]:
    call = mapping(event.get("tool_call"))
    function = mapping(call.get("function"))
    arguments = function.get("arguments", call.get("arguments"))
    if arguments is None:
        arguments = {key: value for key, value in mapping(event.get("action")).items() if key != "kind"}
    name = text(event.get("tool_name")) or text(function.get("name")) or text(call.get("name"))
    return {"id": text(event.get("tool_call_id")) or call.get("id"), "function": {"name": name, "arguments": arguments}}


def _tool(event: Mapping[str, Any], content: Any) -> dict[str, Any]:
    call_id, name = text(event.get("tool_call_id")), text(event.get("tool_name"))
    return {"role": "tool", "tool_call_id": call_id or None, "name": name or None, "content": content}
