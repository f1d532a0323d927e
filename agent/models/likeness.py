"""When two requests are the same: they say the same, however it is spelt.

Role, name, words, reasoning and calls count. The order of keys, blanks between arguments, the ids of calls, which are
minted anew in every run, and the order of the tools on offer do not.
"""

from __future__ import annotations

import operator
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from agent import jsontext
from agent.errors import InputError
from agent.messages import Message, ToolCall
from agent.nearest import nearest

REASONING, TOOLS, OPTIONS = "reasoning", "tools", "options"
ROLES = ("system", "user", "assistant", "tool")
_SAME_ROLE = {"developer": "system", "function": "tool"}
_OPTION = f"{OPTIONS}."
_NO_CALL = "none"
_NOTHING_TO_PASS: tuple[Any, ...] = (None, {}, {"type": "object"}, {"type": "object", "properties": {}})
"""The ways to say that a tool takes no parameters."""


class Fingerprint(NamedTuple):
    """What is left of a message for comparing. Two messages with the same one say the same at the same place."""

    role: str
    digest: str
    """Of everything but the reasoning: twelve hex digits."""
    reasoning: str = ""
    """Of the reasoning; empty where there is none."""


class Pairing:
    """Tells which call each tool message answers, without the ids. Takes the messages of one request in order.

    The place of a call is told from the tool message backwards, not counted from the start of the request: so it is the
    same in a request that leaves older calls out. Where ids repeat, the newest call counts, and the calls of one
    message that share an id are answered in their order.
    """

    def __init__(self) -> None:
        self._blocks = 0
        self._calls: dict[str, tuple[int, deque[int]]] = {}

    def place(self, message: Message) -> str:
        """The call that the next message answers: ``0.1`` is the second call of the last message with calls.

        Empty for a message that is no tool result.
        """
        if message.tool_calls:
            self._blocks += 1
            block: dict[str, deque[int]] = {}
            for number, call in enumerate(message.tool_calls):
                block.setdefault(call.id, deque()).append(number)
            self._calls.update((call_id, (self._blocks, numbers)) for call_id, numbers in block.items())
            return ""
        if group(message.role) != "tool":
            return ""
        found = self._calls.get(message.tool_call_id or "")
        if found is None:
            return _NO_CALL
        block_of_call, numbers = found
        number = numbers.popleft() if len(numbers) > 1 else numbers[0]
        return f"{self._blocks - block_of_call}.{number}"


def fingerprint(message: Message, place: str) -> Fingerprint:
    """The fingerprint of a message that answers the call at this place (:meth:`Pairing.place`)."""
    reasoning = message.reasoning
    return Fingerprint(message.role, _digest(canonical(message, place)), _digest(reasoning) if reasoning else "")


def canonical(message: Message, place: str) -> str:
    """What a message says beside its reasoning, in one text: the same text, the same message.

    Args:
        message: of a tool message only the text and its call count.
        place: the call that it answers, as :meth:`Pairing.place` tells it.
    """
    calls = [[call.name, arguments_of(call)] for call in message.tool_calls]
    if group(message.role) == "tool":
        return jsontext.canonical([message.role, "", message.text, calls, place])
    return jsontext.canonical([message.role, message.name or "", message.content or "", calls, place])


def words_of(message: Message) -> str:
    """What a message says, for a person to read: its text, then its calls, one a line."""
    if not message.tool_calls:
        return message.text
    calls = [f"calls {call.name}({arguments_of(call)})" for call in message.tool_calls]
    return "\n".join([message.text, *calls] if message.text else calls)


def arguments_of(call: ToolCall) -> str:
    """The arguments with their keys in order; what could not be read stands as it came."""
    return jsontext.canonical(call.arguments) if call.problem is None else call.text or ""


def tools_of(schemas: Iterable[Any]) -> dict[str, str]:
    """A digest of each tool on offer, by its name, in the order of the names.

    Args:
        schemas: in OpenAI form; name, description and parameters count. What is no schema is passed over.
    """
    functions = [schema.get("function") for schema in schemas if isinstance(schema, Mapping)]
    digests = {str(known.get("name")): _tool_digest(known) for known in functions if isinstance(known, Mapping)}
    return dict(sorted(digests.items()))


def options_of(asked_with: Any) -> dict[str, Any]:
    """The options that a model is asked with, out of what it says of itself (``asked_with``)."""
    parts = [asked_with.get(key) for key in ("tool_options", "options")] if isinstance(asked_with, Mapping) else []
    return {name: value for part in parts if isinstance(part, Mapping) for name, value in part.items()}


def group(role: str) -> str:
    """The role under whose name a message is ignored: ``developer`` goes with ``system``."""
    return _SAME_ROLE.get(role, role)


@dataclass(frozen=True, slots=True)
class Ignored:
    """What may differ between two requests that count as the same."""

    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[str]) -> Ignored:
        """Check the names: a role, ``reasoning``, ``tools``, ``options``, or one option as ``options.temperature``.

        Raises:
            InputError: there is nothing of such a name to ignore.
        """
        known = (*ROLES, REASONING, TOOLS, OPTIONS)
        for name in (given := tuple(names)):
            if name not in known and not (name.startswith(_OPTION) and name != _OPTION):
                raise InputError(f"replay: there is no {name!r} to ignore{nearest(name, known)}")
        return cls(frozenset(given))

    def key(self, of: Fingerprint) -> str:
        """What must be equal in two messages. A message whose role is ignored need only be there."""
        if group(of.role) in self.names:
            return group(of.role)
        return of.digest if REASONING in self.names else f"{of.digest} {of.reasoning}"

    @property
    def tools(self) -> bool:
        """Whether the tools on offer may differ."""
        return TOOLS in self.names

    def option(self, name: str) -> bool:
        """Whether this option may differ."""
        return OPTIONS in self.names or f"{_OPTION}{name}" in self.names


class Fingerprints:
    """The messages of request after request. What one has in common with the one before is not read again.

    The history of a run only grows, so a request begins with the very messages of the one before; any other request is
    read as a whole. May be used from several threads.

    Args:
        ignored: what may differ.
    """

    def __init__(self, ignored: Ignored) -> None:
        self._ignored = ignored
        self._lock = threading.Lock()
        self._seen: Sequence[Message] = ()
        self._pairing = Pairing()
        self._made: tuple[list[Fingerprint], list[str]] = [], []

    def of(self, messages: Sequence[Message]) -> tuple[list[Fingerprint], list[str]]:
        """One fingerprint for each message of a request, and one key: what must be equal."""
        given = messages[:]
        with self._lock:
            if len(self._seen) > len(given) or not all(map(operator.is_, self._seen, given)):
                self._seen, self._pairing, self._made = (), Pairing(), ([], [])
            made, keys = self._made
            new = [fingerprint(message, self._pairing.place(message)) for message in given[len(self._seen) :]]
            made += new
            keys += map(self._ignored.key, new)
            self._seen = given
            return made[:], keys[:]


def _tool_digest(function: Mapping[str, Any]) -> str:
    parameters = function.get("parameters")
    said: list[Any] = [function.get("description") or "", {} if parameters in _NOTHING_TO_PASS else parameters]
    return _digest(jsontext.canonical(said))


def _digest(text: str) -> str:
    return blake2b(jsontext.clean(text).encode(), digest_size=6).hexdigest()
