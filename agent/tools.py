"""Tools: what a model may ask for, checked before it runs, with every outcome as a result.

A tool is made by hand from a JSON Schema and a function (:class:`Tool`) or from a typed function alone (:func:`tool`).
Either way the arguments of a call are checked against the schema that the model was shown, under the one rule of
conversion in :mod:`agent.schema`, before the function sees a copy of them.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from types import MethodType
from typing import Any, overload

from agent import clock, docstrings, jsontext, signature
from agent.errors import ArgumentError, ToolDefinitionError
from agent.execution import Job, execute, wait_for
from agent.messages import ToolCall
from agent.schema import ArgumentSchema
from agent.signature import CallPlan, Convert, RunContext
from agent.tool_result import ToolResult

__all__ = ["RunContext", "Tool", "ToolRegistry", "tool"]

_NAME = r"[a-zA-Z0-9_-]{1,64}"
"""What the OpenAI API and those modelled on it accept; one bad name makes them refuse all tools."""
DEFAULT_TIMEOUT_S = 60.0
"""Time limit that the app and the command line set on tools that come without one."""
_SHOWN = 200
"""Characters of unreadable arguments that the model is shown."""


@dataclass(slots=True, eq=False)
class Tool:
    """Something that a model may ask for."""

    name: str
    """Letters, digits, ``_`` and ``-``, at most 64."""
    description: str
    """What the model reads about it."""
    parameters: dict[str, Any]
    """JSON Schema of the arguments, of type object. ``{}`` means that there are none."""
    func: Callable[..., Any]
    """Called with the arguments by name. It may be async. What it returns is the result; an exception is a failure.
    A :class:`ToolResult` is taken as it is."""
    timeout: float | None = None
    """Seconds that a call may take; None: as long as it takes."""
    idempotent: bool = True
    """False: equal calls in one step run once."""
    receiver: bool = field(default=False, repr=False)
    """True while a decorated method waits for its instance or class."""
    convert: Convert | None = field(default=None, repr=False)
    """From checked arguments to parameter values, where the schema comes from a signature."""
    plan: CallPlan | None = field(default=None, repr=False)
    """How the function is called; found out when it is first needed."""
    checked: ArgumentSchema | None = field(default=None, repr=False)
    """The compiled schema; made when the tool is registered or first runs."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(_NAME, self.name):
            raise ToolDefinitionError(
                f"the tool name {self.name!r} would be refused by model providers: use 1 to 64 letters a-z, A-Z, "
                f"digits, _ and -, for example {_suggest(self.name)!r}"
            )
        if not callable(self.func) and not self.receiver:
            raise ToolDefinitionError(f"the tool {self.name!r} needs a function, not {type(self.func).__name__}")
        seconds = self.timeout
        number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        if seconds is not None and not (number and 0 < seconds <= threading.TIMEOUT_MAX):
            raise ToolDefinitionError(
                f"the timeout of the tool {self.name!r} must be a number of seconds above 0, or None for no limit, "
                f"not {seconds!r}"
            )
        if self.parameters == {}:
            self.parameters = {"type": "object", "properties": {}}

    def schema(self) -> dict[str, Any]:
        """The tool in OpenAI form: ``{"type": "function", "function": {"name", "description", "parameters"}}``."""
        about = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": about}

    def compile(self) -> None:
        """Compile what a call needs, so that a broken tool is found before a model is told about it.

        Raises:
            ToolDefinitionError: the schema is broken, or the tool is a method without its instance.
        """
        if self.receiver:
            raise ToolDefinitionError(
                f"the tool {self.name!r} is a method: take it from an instance, as in Class().{self.name}"
            )
        if self.plan is None:
            self.plan = signature.plan_of(self.func)
        if self.checked is None:
            try:
                self.checked = ArgumentSchema(self.parameters, formats=self.convert is not None)
            except ToolDefinitionError as error:
                raise ToolDefinitionError(f"the tool {self.name!r}: {error}") from error

    @property
    def needs_thread(self) -> bool:
        """Whether a call must not run in the thread that waits for it."""
        if self.plan is None:
            self.plan = signature.plan_of(self.func)
        return self.timeout is not None or self.plan.asynchronous

    @property
    def wants_context(self) -> bool:
        """Whether a parameter takes the :class:`RunContext`."""
        if self.plan is None:
            self.plan = signature.plan_of(self.func)
        return bool(self.plan.contexts)

    def run(self, arguments: dict[str, Any], context: RunContext | None = None) -> ToolResult:
        """Check the arguments, call the function in this thread and give its outcome as a result.

        The function gets a copy of the arguments. No time limit applies here; :func:`agent.execution.execute` keeps it.

        Raises:
            KeyboardInterrupt, SystemExit, GeneratorExit: the function raised it. Everything else is a result.
        """
        start = clock.monotonic()
        try:
            value = self._invoke(arguments, context)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            return ToolResult.of_exception(error, clock.since_ms(start))
        if value.__class__ is ToolResult:
            return value._replace(latency_ms=clock.since_ms(start))
        return ToolResult.of(value, clock.since_ms(start))

    def _invoke(self, arguments: dict[str, Any], context: RunContext | None) -> Any:
        checked, plan = self.checked, self.plan
        if checked is None or plan is None:
            self.compile()
            return self._invoke(arguments, context)
        if plan.contexts and isinstance(arguments, dict):
            arguments = {name: value for name, value in arguments.items() if name not in plan.contexts}
        arguments = checked.check(arguments)
        values = jsontext.copy_json(arguments) if self.convert is None else self.convert(arguments)
        args: list[Any] = []
        if not plan.simple:
            args, values = plan.bind(values, context or RunContext())
        try:
            value = self.func(*args, **values)
        except TypeError as error:
            if why := plan.mismatch(args, values):
                raise ArgumentError(f"wrong arguments: {why}") from error
            raise
        return wait_for(value) if hasattr(type(value), "__await__") else value

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, unchecked: a decorated function stays a function."""
        return self.func(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Tool:
        """As a class attribute, a decorated method becomes the tool of one instance (or class)."""
        bound = self.func.__get__(instance, owner) if self.receiver else self.func
        return self if bound is self.func else replace(self, func=bound, receiver=False)


def _suggest(name: Any) -> str:
    cleaned = re.sub(r"[^a-zA-Z0-9_-]+", "_", str(name)).strip("_")[:64]
    return cleaned or "my_tool"


@overload
def tool(func: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *, name: str | None = None, description: str | None = None, timeout: float | None = None, idempotent: bool = True
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    func: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    idempotent: bool = True,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function: ``@tool`` or ``@tool(name=..., description=..., timeout=..., idempotent=...)``.

    The signature gives the schema, the docstring the descriptions. Functions, async functions, methods, class and
    static methods, partials, wrapped functions and callable objects will do. The tool can still be called like the
    function.

    Raises:
        ToolDefinitionError: a parameter cannot be described, or the name would be refused.
    """

    def make(func: Callable[..., Any]) -> Tool:
        return _from_function(func, name, description, timeout, idempotent)

    return make if func is None else make(func)


def _from_function(
    func: Any, name: str | None, description: str | None, timeout: float | None, idempotent: bool
) -> Tool:
    if isinstance(func, staticmethod):
        func = func.__func__
    inner = func.__func__ if isinstance(func, classmethod) else func
    source = inner.func if isinstance(inner, partial) else inner
    own_name = getattr(source, "__name__", None) or type(source).__name__
    receiver = isinstance(func, classmethod) or _is_method(inner)
    doc = docstrings.read_doc(source)
    try:
        described = signature.read_signature(inner, doc.parameters, receiver=receiver)
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"the function {own_name!r} cannot be a tool: {error}") from error
    return Tool(
        name=name or own_name,
        description=doc.summary if description is None else description,
        parameters=described.parameters,
        func=func,
        timeout=timeout,
        idempotent=idempotent,
        receiver=receiver,
        convert=described.convert,
        plan=described.plan,
    )


def _is_method(func: Any) -> bool:
    """Whether a function was written in the body of a class and starts with its receiver."""
    owner = getattr(func, "__qualname__", "").rpartition(".")[0]
    if not inspect.isfunction(func) or not owner or owner.endswith("<locals>"):
        return False
    return next(iter(inspect.signature(func).parameters), "") in ("self", "cls")


ToolLike = Tool | Callable[..., Any]
"""A tool, or a function that :func:`tool` makes one of."""


Otherwise = Callable[[ToolCall, RunContext], ToolResult | None]
"""Answers a call that no tool can take; None where it has no answer either."""


class ToolRegistry:
    """The tools of a run, by name.

    Args:
        tools: what it begins with.
        otherwise: asked about calls of unknown tools and about unreadable arguments, which else are failures.
    """

    def __init__(self, tools: Iterable[ToolLike] = (), *, otherwise: Otherwise | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        self._otherwise = otherwise
        self._schemas: list[dict[str, Any]] | None = None
        for item in tools:
            self.add(item)

    @classmethod
    def of(cls, tools: ToolRegistry | Iterable[ToolLike] | None) -> ToolRegistry:
        """A registry of what was given, which may be one already."""
        return tools if isinstance(tools, cls) else cls(tools or ())

    def with_timeout(self, seconds: float | None = None) -> ToolRegistry:
        """The same tools, those without a time limit with this one; None: :data:`DEFAULT_TIMEOUT_S`."""
        limit = DEFAULT_TIMEOUT_S if seconds is None else seconds
        limited = (tool if tool.timeout else replace(tool, timeout=limit) for tool in self)
        return ToolRegistry(limited, otherwise=self._otherwise)

    def without(self, names: Collection[str]) -> ToolRegistry:
        """The tools but for these; calls of one of them are calls of an unknown tool. The same object without any."""
        if not names:
            return self
        otherwise = self._otherwise

        def answer(call: ToolCall, context: RunContext) -> ToolResult | None:
            hidden = self.resolve(call.name)
            if otherwise is None or call.name in names or (hidden is not None and hidden.name in names):
                return None
            return otherwise(call, context)

        return ToolRegistry((tool for tool in self if tool.name not in names), otherwise=answer)

    def add(self, item: ToolLike) -> Tool:
        """Register a tool, or a function after making it one, and give the tool.

        Raises:
            ToolDefinitionError: the tool cannot be called or described, or the name is taken.
        """
        if isinstance(item, MethodType) and isinstance(item.__func__, Tool):
            item = item.__func__.__get__(item.__self__)
        new = item if isinstance(item, Tool) else tool(item)
        if new.name in self._tools:
            raise ToolDefinitionError(f"there is already a tool called {new.name!r}; give one of them another name")
        new.compile()
        self._tools[new.name] = new
        self._schemas = None
        return new

    @property
    def names(self) -> tuple[str, ...]:
        """The registered names, in order of registration."""
        return tuple(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """All tools in OpenAI form. The list is made once and shared: copy it before you change it."""
        if self._schemas is None:
            self._schemas = [item.schema() for item in self._tools.values()]
        return self._schemas

    def resolve(self, name: str) -> Tool | None:
        """The tool that a model means by a name, or None.

        The exact name first; then without what servers are known to leave on it (blanks, ``functions.``, a
        ``<|channel|>`` mark and what follows, ``:0``, a glued ``json``), and only if that is a registered name.
        """
        found = self._tools.get(name)
        if found is not None:
            return found
        return next((self._tools[spelt] for spelt in _spellings(name) if spelt in self._tools), None)

    def run(self, call: ToolCall, context: RunContext | None = None) -> ToolResult:
        """Run one call, within the tool's time limit. An unknown tool and unreadable arguments are failures too."""
        found = self.resolve(call.name)
        if (found is None or call.problem is not None) and self._otherwise is not None:
            answer = self._otherwise(call, context or RunContext(tool_call_id=call.id))
            if answer is not None:
                return answer
        if found is None:
            known = ", ".join(self._tools) or "none"
            return ToolResult.failed(f"unknown tool {call.name!r}; available: {known}", retryable=False)
        if call.problem is not None:
            arrived = f"; received: {call.text[:_SHOWN]}" if call.text else ""
            return ToolResult.failed(f"wrong arguments: {call.problem}{arrived}", retryable=True)
        job = Job(0, call, found, call.arguments, context or RunContext(tool_call_id=call.id))
        return next(execute((job,)))[1]

    def call(self, tool_call: ToolCall) -> str:
        """Run one call and give the text for the model. Every failure is ``{"error": ..., "retryable": ...}``."""
        return self.run(tool_call).text

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools


def _spellings(name: str) -> Iterator[str]:
    """What may be left of a name when the markup of a server is taken off, one piece after the other."""
    name = name.strip()
    yield name
    name = name.split("<|", 1)[0].strip()
    yield name
    name = re.sub(r":\d+$", "", re.sub(r"^(?:functions?|tools?)[.:]", "", name))
    yield name
    yield name.removesuffix("json")
