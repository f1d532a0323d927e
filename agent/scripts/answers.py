"""The tools of a script: what they answer is written down beside the calls, or in a list of the tool's own.

They keep no state: which answer is meant follows from the model call that asked, the id of the call and how many calls
of the tool there were before. So a run that is resumed, forked or replayed gets the same answers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

from agent import jsontext
from agent.messages import ToolCall
from agent.schema import ArgumentSchema
from agent.scripts.turns import AnyTurn, Canned, branches
from agent.tool_result import ToolResult
from agent.tools import RunContext, Tool

_ANYTHING = {"type": "object"}


class _Recorded(NamedTuple):
    turn: int
    """From 0; -1 where every turn may be the one."""
    call: ToolCall
    canned: Canned | None
    """What stands beside the call; None: nothing."""


class Answers:
    """All answers of one script.

    Args:
        turns: its turns, or the one choice that answers every call.
        lists: by the name of a tool, the answers of its own list.
        pace: multiplies how long the answers take; 0 answers at once.
    """

    def __init__(
        self,
        turns: Sequence[AnyTurn],
        lists: Mapping[str, Sequence[Canned]],
        *,
        always: AnyTurn | None = None,
        pace: float = 1,
    ) -> None:
        self._lists = lists
        self._pace = pace
        self._by_id: dict[tuple[int, str], _Recorded] = {}
        self._alike: dict[tuple[str, str], list[_Recorded]] = {}
        self.names: set[str] = set()
        """The tools that some call with an answer names, in the words of the call."""
        numbered = [(-1, always)] if always is not None else list(enumerate(turns))
        for number, turn in numbered:
            for branch in branches(turn):
                for call, canned in zip_longest(branch.calls, branch.results[: len(branch.calls)]):
                    self._keep(_Recorded(number, call, canned))

    def _keep(self, recorded: _Recorded) -> None:
        call = recorded.call
        self._by_id.setdefault((recorded.turn, call.id), recorded)
        if recorded.canned is not None:
            self.names.add(call.name)
            if call.problem is None:  # what cannot be read is like no other call
                self._alike.setdefault((call.name, _key(call.arguments)), []).append(recorded)

    def find(self, name: str, arguments: Mapping[str, Any], context: RunContext) -> Canned | None:
        """The answer to a call, or None.

        First that of the call with this id in the turn that asked. To a call that the turn does not hold, that of an
        equal one, the nearest. Then the tool's own list.
        """
        for turn in (context.model_call, -1):
            recorded = self._by_id.get((turn, context.tool_call_id))
            if recorded is not None and recorded.call.arguments == arguments:
                return recorded.canned or self._listed(name, arguments, context)
        alike = self._alike.get((name, _key(arguments)))
        if alike:
            return min(alike, key=lambda recorded: abs(recorded.turn - context.model_call)).canned
        return self._listed(name, arguments, context)

    def _listed(self, name: str, arguments: Mapping[str, Any], context: RunContext) -> Canned | None:
        """Answers for the same arguments are used up in order, else those for any; the last one stays."""
        listed = self._lists.get(name, ())
        exact = [canned for canned in listed if canned.arguments == arguments]
        chosen = exact or [canned for canned in listed if canned.arguments is None]
        if not chosen:
            return None
        named = [canned.arguments for canned in listed if canned.arguments is not None]
        earlier = context.earlier() if len(chosen) > 1 else ()
        used = sum(before == arguments if exact else before not in named for before in earlier)
        return chosen[min(used, len(chosen) - 1)]

    def otherwise(self, call: ToolCall, context: RunContext) -> ToolResult | None:
        """What was answered to a call that no tool can take: of an unknown tool, or with unreadable arguments."""
        for turn in (context.model_call, -1):
            recorded = self._by_id.get((turn, call.id))
            if recorded is None or recorded.canned is None:
                continue
            if _asks_the_same(recorded.call, call):
                return self._given(recorded.canned)
        return None

    def tool(self, name: str, description: str = "", parameters: dict[str, Any] | None = None) -> Tool:
        """A tool that exists only in this script. Its schema is offered and never enforced: answers are written down.

        Raises:
            ToolDefinitionError: the name would be refused by providers.
        """

        def answer(_run_: RunContext, **arguments: Any) -> Any:
            canned = self.find(name, arguments, _run_)
            if canned is None:
                words = f"the script holds no result for {name}({jsontext.dumps(arguments)})"
                return ToolResult.failed(words, retryable=False)
            return self._given(canned)

        open_to_all = ArgumentSchema(_ANYTHING)
        return Tool(name, description, parameters or {}, answer, checked=open_to_all)

    def before(self, tool: Tool) -> Tool:
        """A tool from elsewhere that is asked only where the script holds no answer."""

        def answer(_run_: RunContext, **arguments: Any) -> Any:
            canned = self.find(tool.name, arguments, _run_)
            return self._given(canned) if canned is not None else tool.run(arguments, _run_)

        open_to_all = ArgumentSchema(_ANYTHING)
        return replace(tool, func=answer, convert=None, plan=None, checked=open_to_all)

    def _given(self, canned: Canned) -> ToolResult:
        if wait := canned.took_ms * self._pace:
            time.sleep(wait / 1000)
        return canned.result


def _asks_the_same(recorded: ToolCall, call: ToolCall) -> bool:
    """Whether name and arguments are the same. How arguments that can be read are spelt is lost when a run is saved."""
    if recorded.problem is None and call.problem is None:
        return (recorded.name, recorded.arguments) == (call.name, call.arguments)
    return (recorded.name, recorded.text) == (call.name, call.text)


def _key(arguments: Mapping[str, Any]) -> str:
    return jsontext.canonical(dict(arguments))
