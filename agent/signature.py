"""From a function to a tool: its parameters as JSON Schema, and the way to call it with a model's arguments.

The signature is read once. The same resolved types give the schema that the model sees and the conversion that a call
goes through, so the two cannot disagree.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from agent import jsontext, schema
from agent.errors import ArgumentError, ToolDefinitionError
from agent.events import Emit, ignore
from agent.tool_result import plain

Convert = Callable[[dict[str, Any]], dict[str, Any]]
"""From checked JSON arguments to the values of the parameters, by name; raises ArgumentError."""
_SKIPPED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(slots=True)
class RunContext:
    """What a tool may know about the run it works for.

    A function asks for it with a parameter annotated ``RunContext``, of any name. The model does not see that parameter
    and cannot set it.
    """

    trace_id: str = ""
    step: int = 0
    """The step that asked for the call, from 1."""
    tool_call_id: str = ""
    emit: Emit = ignore
    """Tell something while the tool works: ``emit("tool.progress", {"done": 3, "of": 10})``. The listeners of the run
    are called in the thread of the tool, and for tools that run side by side in several at the same time: what they
    share needs a lock. After the tool's time is up, or the run was stopped, nothing is told any more."""
    model_call: int = 0
    """Which model call of the run asked for it, from 0. A scripted tool answers by it."""
    earlier: Callable[[], Sequence[dict[str, Any]]] = tuple
    """Gives the arguments of the calls of this tool before this one, in order, edited ones as they were edited."""


class CallPlan(NamedTuple):
    """How one function takes its arguments."""

    positional: tuple[inspect.Parameter, ...] = ()
    """Parameters that can only be passed by position."""
    contexts: tuple[str, ...] = ()
    """Parameters that receive the :class:`RunContext`; one as a rule."""
    signature: inspect.Signature | None = None
    """None for a function that Python cannot look into."""
    asynchronous: bool = False
    """Whether a call gives something to be awaited."""

    @property
    def simple(self) -> bool:
        """Whether everything is passed by name and nothing is added."""
        return not self.positional and not self.contexts

    def bind(self, values: dict[str, Any], context: RunContext) -> tuple[list[Any], dict[str, Any]]:
        """Values by name as ``(args, kwargs)``, the context among them; ``values`` is used up."""
        values.update(dict.fromkeys(self.contexts, context))
        args: list[Any] = []
        given = [i for i, parameter in enumerate(self.positional) if parameter.name in values]
        for parameter in self.positional[: given[-1] + 1 if given else 0]:
            args.append(values.pop(parameter.name, parameter.default))
        return args, values

    def mismatch(self, args: list[Any], kwargs: dict[str, Any]) -> str | None:
        """Why the function cannot be called like this, or None where it can."""
        if self.signature is None:
            return None
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return str(error)
        return None


class Described(NamedTuple):
    """A function as a tool sees it."""

    parameters: dict[str, Any]
    """JSON Schema of the arguments."""
    convert: Convert
    plan: CallPlan


def plan_of(func: Callable[..., Any]) -> CallPlan:
    """How to call a function whose schema was written by hand; nothing is demanded of its hints."""
    try:
        signature = inspect.signature(func)
    except (TypeError, ValueError):
        return CallPlan()
    free = [p for p in signature.parameters.values() if p.kind not in _SKIPPED]
    names = _Names(func)
    contexts = tuple(p.name for p in free if _is_context(names.try_resolve(p.annotation)))
    positional = tuple(p for p in free if p.kind is inspect.Parameter.POSITIONAL_ONLY)
    return CallPlan(positional, contexts, signature, _is_async(func))


def read_signature(func: Callable[..., Any], words: Mapping[str, str], *, receiver: bool = False) -> Described:
    """Read a function's signature.

    Every parameter with a name of its own becomes an argument; ``*args`` and ``**kwargs`` are left out and stay empty,
    and an argument that the function does not name is refused. A parameter without a hint takes anything. Names with a
    leading underscore are parameters like all others. A default that JSON cannot express is left out of the schema and
    still applies.

    Args:
        words: descriptions by parameter; text in ``Annotated`` wins over them.
        receiver: the first parameter is ``self`` or ``cls`` and is filled later.

    Raises:
        ToolDefinitionError: a hint cannot be resolved or has no JSON Schema; the text names the parameter.
    """
    signature = _signature(func)
    free = [p for p in signature.parameters.values() if p.kind not in _SKIPPED][receiver:]
    bound = func.keywords if isinstance(func, functools.partial) else {}
    names, contexts, hints = _Names(func), [], {}
    for parameter in free:
        if parameter.name in bound:
            continue
        hint = names.resolve(parameter)
        if _is_context(hint):
            contexts.append(parameter.name)
        else:
            hints[parameter.name] = _described_hint(parameter, _with_members(hint), words.get(parameter.name))
    positional = tuple(p for p in free if p.kind is inspect.Parameter.POSITIONAL_ONLY)
    parameters, convert = _compile(hints)
    plan = CallPlan(positional, tuple(contexts), None if receiver else signature, _is_async(func))
    return Described(parameters, convert, plan)


def _is_async(func: Any) -> bool:
    while isinstance(func, functools.partial):
        func = func.func
    return inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(getattr(func, "__call__", None))  # noqa: B004


def _signature(func: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(func)
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(
            f"the signature of {func!r} cannot be read; wrap it in a function with typed parameters"
        ) from error


class _Names:
    """Resolves hints, which may be strings, where the function was written."""

    def __init__(self, func: Callable[..., Any]) -> None:
        source = _written_function(func)
        self._globals = {"RunContext": RunContext, **getattr(source, "__globals__", {})}
        self._locals = _closure(source)

    def resolve(self, parameter: inspect.Parameter) -> Any:
        """The hint of one parameter; ``Any`` where it has none."""
        if parameter.annotation is inspect.Parameter.empty:
            return Any
        holder = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
        try:
            return get_type_hints(holder, self._globals, self._locals, include_extras=True)[parameter.name]
        except Exception as error:
            raise ToolDefinitionError(
                f"parameter {parameter.name!r}: the hint {parameter.annotation!r} cannot be resolved ({error}); it "
                f"must be known in the function's module when the program runs"
            ) from error

    def try_resolve(self, annotation: Any) -> Any:
        """The hint, or None where it means nothing to us."""
        if isinstance(annotation, str) and "RunContext" not in annotation:
            return None
        try:
            return self.resolve(inspect.Parameter("hint", inspect.Parameter.KEYWORD_ONLY, annotation=annotation))
        except ToolDefinitionError:
            return None


def _closure(func: Any) -> dict[str, Any]:
    """The local names of an outer function that ``func`` can see; a name without a value yet is left out."""
    seen = {}
    if inspect.isfunction(func):
        for name, cell in zip(func.__code__.co_freevars, func.__closure__ or (), strict=True):
            with suppress(ValueError):
                seen[name] = cell.cell_contents
    return seen


def _written_function(func: Any) -> Any:
    """The function whose text holds the hints: under partials, wrappers, methods and callable objects."""
    while True:
        if isinstance(func, functools.partial):
            func = func.func
        elif inspect.ismethod(func):
            func = func.__func__
        elif hasattr(func, "__wrapped__") and not hasattr(func, "__signature__"):
            func = func.__wrapped__
        elif not inspect.isroutine(func) and not inspect.isclass(func) and callable(func):
            func = type(func).__call__
        else:
            return func.__init__ if inspect.isclass(func) else func


def _is_context(hint: Any) -> bool:
    if isinstance(hint, type):
        return issubclass(hint, RunContext)
    return get_origin(hint) is not None and any(_is_context(part) for part in get_args(hint))


def _described_hint(parameter: inspect.Parameter, hint: Any, words: str | None) -> Any:
    """The hint with description and default, and marked when the argument may be left out."""
    from pydantic import Field
    from pydantic.fields import FieldInfo
    from typing_extensions import NotRequired  # noqa: UP035 - what pydantic reads on every Python

    if isinstance(parameter.default, FieldInfo):
        raise ToolDefinitionError(f"parameter {parameter.name!r}: write Annotated[..., Field(...)] and a plain default")
    notes = getattr(hint, "__metadata__", ())
    own = next((note for note in notes if isinstance(note, str)), None)
    if any(isinstance(note, FieldInfo) and note.description for note in notes):
        words = None
    about: dict[str, Any] = {"description": own or words} if own or words else {}
    if (default := _json_default(parameter.default)) is not _NO_DEFAULT:
        about["json_schema_extra"] = {"default": default}
    hint = Annotated[hint, Field(**about)] if about else hint
    return hint if parameter.default is inspect.Parameter.empty else NotRequired[hint]


def _with_members(hint: Any) -> Any:
    """The hint where ``Literal[Color.RED]`` takes the member's value and gives the member, as ``Color`` itself does.

    Left to pydantic such a literal would take only the member, which JSON cannot hold.
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        members = [value for value in args if isinstance(value, Enum)]
        return _by_value(hint, members) if members else hint
    inner = tuple(map(_with_members, args))
    if all(map(operator.is_, inner, args)):
        return hint
    if origin in (Union, UnionType):
        return functools.reduce(operator.or_, inner)
    return Annotated[inner] if origin is Annotated else origin[inner]


def _by_value(hint: Any, members: list[Enum]) -> Any:
    from pydantic import BeforeValidator

    def member_of(value: Any) -> Any:
        for member in members:
            if value == plain(member.value) and isinstance(value, bool) == isinstance(member.value, bool):
                return member
        return value

    return Annotated[hint, BeforeValidator(member_of)]


_NO_DEFAULT = object()


def _json_default(default: Any) -> Any:
    """A default as it may stand in a schema: a JSON value or the value of an enum member."""
    value = getattr(default, "value", None) if hasattr(type(default), "__members__") else default
    if value is inspect.Parameter.empty or not _is_json(value):
        return _NO_DEFAULT
    return plain(value)


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, float):
        return value - value == 0
    return value is None or type(value) in (str, int, bool)


def _compile(hints: dict[str, Any]) -> tuple[dict[str, Any], Convert]:
    """Schema and conversion of the parameters together, as one typed dict: there no name is special."""
    import pydantic
    from typing_extensions import TypedDict

    try:
        adapter = _adapter(TypedDict("Arguments", hints))  # type: ignore[operator]
        raw = adapter.json_schema()
        jsontext.dumps(raw)
    except Exception as error:
        raise ToolDefinitionError(_blame(hints, error)) from error
    validate = adapter.validator.validate_json

    def convert(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return validate(jsontext.dump_bytes(arguments))  # type: ignore[no-any-return]
        except pydantic.ValidationError as error:
            raise ArgumentError(_explain(error, parameters)) from error

    parameters = {"type": "object", "properties": {}} | schema.portable(raw)
    return parameters, convert


def _adapter(kind: Any) -> Any:
    import pydantic

    kind.__pydantic_config__ = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    adapter = pydantic.TypeAdapter(kind)
    if (member := _lost_member(adapter.core_schema)) is not None:
        enum = type(member).__name__
        raise TypeError(f"Literal[{member}] inside a class takes no JSON value; write {enum} or strings")
    return adapter


def _lost_member(node: Any) -> Enum | None:
    """A member in a ``Literal`` that no JSON value turns into: :func:`_with_members` does not look into classes."""
    if isinstance(node, dict):
        kind = node.get("type")
        if kind in _CONVERTED:
            return None
        if kind == "literal":
            members = (value for value in node.get("expected", ()) if isinstance(value, Enum))
            return next((member for member in members if not isinstance(member, (str, int))), None)
        node = [inner for key, inner in node.items() if key not in _NO_SCHEMAS]
    if isinstance(node, (list, tuple)):
        return next((member for inner in node if (member := _lost_member(inner)) is not None), None)
    return None


_CONVERTED = ("function-before", "function-wrap", "function-plain")
"""Where a validator comes first that may well turn values into members."""
_NO_SCHEMAS = ("default", "metadata", "config")
"""Keys of pydantic's schemas under which values of the user's own stand."""


def _blame(hints: dict[str, Any], error: Exception) -> str:
    """Which parameter cannot be described; found by trying each alone, for the error does not say."""
    from typing_extensions import TypedDict

    for name, hint in hints.items():
        try:
            jsontext.dumps(_adapter(TypedDict("Arguments", {name: hint})).json_schema())  # type: ignore[operator]
        except Exception as alone:
            words = next(iter(str(alone).splitlines()), type(alone).__name__)
            return f"parameter {name!r} cannot be described to a model ({words}); give it a JSON-like type or bind it"
    return f"the parameters together cannot be described to a model: {error}"


def _explain(error: Any, parameters: dict[str, Any]) -> str:
    """What did not convert, in the form of :meth:`ArgumentSchema.check`."""
    said = [
        f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}{schema.takes(parameters, detail['loc'])}"
        for detail in error.errors(include_url=False, include_context=False, include_input=False)[:5]
    ]
    return "wrong arguments: " + "; ".join(said)
