"""The first wall: a learner's program compiled by RestrictedPython and run among harmless names."""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from types import FunctionType, SimpleNamespace
from typing import Any

from RestrictedPython.compile import compile_restricted_exec
from RestrictedPython.Guards import (
    full_write_guard,
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safer_getattr_raise,
)

from agent.errors import ToolFailure
from traces.lessons.exercises.remark import Remark, remark
from traces.lessons.exercises.sandbox.reading import ENUMS, Key, Program, read_program

FILE = "<your program>"
"""The name of the program in tracebacks."""
MOST_PRINTED = 5_000
"""Characters of what it prints that are kept."""

_BUILTINS: tuple[Any, ...] = (
    *(abs, all, any, bool, chr, dict, divmod, enumerate, filter, float, frozenset, int, isinstance, len, list, map),
    *(max, min, ord, pow, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, zip),
    *(Exception, ArithmeticError, AttributeError, IndexError, KeyError, LookupError, NotImplementedError),
    *(OverflowError, PermissionError, RuntimeError, StopIteration, TimeoutError, TypeError, ValueError),
    ZeroDivisionError,
)
_MATH = (
    "ceil",
    "floor",
    "sqrt",
    "fabs",
    "isclose",
    "isfinite",
    "isnan",
    "log",
    "log2",
    "log10",
    "exp",
    "pi",
    "e",
    "inf",
)
_TYPING = ("Literal", "Optional", "Union")

_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}


class ProgramError(Exception):
    """A learner's program cannot be read, or failed; it carries what is to be said about it."""

    def __init__(self, remarks: list[Remark]) -> None:
        super().__init__(remarks)
        self.remarks = remarks


@dataclass(frozen=True, slots=True)
class MadeTool:
    """A function with ``@tool`` above it, which nothing has been made of yet."""

    func: FunctionType
    name: str | None
    description: str | None
    key: Key
    """Which function of the program it is."""


@dataclass(slots=True)
class Ran:
    """A program that was run."""

    program: Program
    names: dict[str, Any] = field(default_factory=dict)
    """What it made at its top level, beside what was there before."""
    tools: list[MadeTool] = field(default_factory=list)
    enums: dict[str, type[Enum]] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)

    @property
    def output(self) -> str:
        """What it printed, as far as it is kept."""
        return "".join(self.printed)[:MOST_PRINTED]

    def function(self, name: str) -> FunctionType | None:
        """A function of the program by its name."""
        found = self.names.get(name)
        return found if isinstance(found, FunctionType) and found.__code__.co_filename == FILE else None


def run_program(code: str, *, tools: bool) -> Ran:
    """Read, compile and run a program.

    Args:
        code: the program.
        tools: whether it may make tools with ``@tool``.

    Raises:
        ProgramError: it cannot be read, or it fails.
    """
    decorators = ("tool",) if tools else ()
    known = {each.__name__ for each in _BUILTINS} | {"print", *ENUMS, *_TYPING, "tool", "ToolFailure", "math"}
    program = read_program(code, known, decorators)
    if program.problems:
        raise ProgramError(program.problems)
    try:
        compiled = compile_restricted_exec(program.tree, filename=FILE)
    except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
        raise ProgramError([remark(f"This cannot be used here: {error}", f"这里不能使用：{error}")]) from error
    if compiled.code is None:
        raise ProgramError([_refused(error) for error in compiled.errors])
    ran = Ran(program)
    space = _namespace(ran)
    before = set(space)
    with explained():
        exec(compiled.code, space)
    ran.names = {name: value for name, value in space.items() if name not in before or name in known}
    return ran


@contextmanager
def explained() -> Iterator[None]:
    """Turn what a program raises into sentences.

    Raises:
        ProgramError: it raised something.
    """
    try:
        yield
    except ProgramError:
        raise
    except BaseException as error:
        raise ProgramError([_failed(error)]) from error


def line_of(error: BaseException) -> int | None:
    """The last line of the program that led to an error."""
    line, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == FILE:
            line = at.tb_lineno
        at = at.tb_next
    return line


def _failed(error: BaseException) -> Remark:
    line = line_of(error)
    if isinstance(error, MemoryError):
        return remark("The program needs too much memory.", "程序用了太多内存。", line)
    if isinstance(error, RecursionError):
        return remark(
            "The program calls itself without end: the recursion never stops.",
            "程序在无止境地调用自己：递归没有终点。",
            line,
        )
    words = _words(error)
    return remark(f"The program stops with an error: {words}", f"程序出错停下：{words}", line)


def _words(error: BaseException) -> str:
    try:
        text = str(error)[:500]
    except BaseException:
        text = ""
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def _refused(error: str) -> Remark:
    """What RestrictedPython says, which begins with ``Line 3: ``."""
    head, _, words = error.partition(": ")
    number = head.removeprefix("Line ")
    line = int(number) if number.isdigit() else None
    said = words if line is not None else error
    return remark(f"This cannot be used here: {said}", f"这里不能这样写：{said}", line)


# ---- what a program can name ----


def _namespace(ran: Ran) -> dict[str, Any]:
    record = _recorder(ran)
    modules = {
        "agent": SimpleNamespace(tool=record, ToolFailure=ToolFailure),
        "enum": SimpleNamespace(**{name: _Word() for name in ENUMS}),
        "typing": SimpleNamespace(**{name: _Word() for name in _TYPING}),
        "math": SimpleNamespace(**{name: getattr(math, name) for name in _MATH}),
    }
    builtins = {each.__name__: each for each in _BUILTINS}
    builtins |= {"__build_class__": __build_class__, "__import__": _importer(modules)}
    printer = SimpleNamespace(_call_print=_printer(ran))
    return {
        "__builtins__": builtins,
        "__name__": "exercise",
        "__metaclass__": _enum_maker(ran, {getattr(modules["enum"], name): getattr(enum, name) for name in ENUMS}),
        "_getattr_": _attribute,
        "_getitem_": operator.getitem,
        "_getiter_": iter,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_write_": full_write_guard,
        "_inplacevar_": _in_place,
        "_apply_": _apply,
        "_print_": lambda _: printer,
        "tool": record,
        "ToolFailure": ToolFailure,
        **vars(modules["enum"]),
        **vars(modules["typing"]),
    }


class _Word:
    """A name that means something where it is read, in a hint or above a class, and is good for nothing when run.

    The real ``Enum`` could be called, and would make classes with methods of any name.
    """


def _attribute(value: Any, name: str) -> Any:
    if name in ("mro", "with_traceback", "obj") or isinstance(value, FunctionType):
        raise AttributeError(f"{name} cannot be used here")
    return safer_getattr_raise(value, name)  # type: ignore[no-untyped-call]


def _in_place(how: str, left: Any, right: Any) -> Any:
    if how not in _IN_PLACE:
        raise NotImplementedError(f"{how} cannot be used here")
    return _IN_PLACE[how](left, right)


def _apply(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)


def _importer(modules: Mapping[str, Any]) -> Callable[..., Any]:
    def load(name: str, _globals: Any = None, _locals: Any = None, names: Any = (), level: int = 0) -> Any:
        if level or name not in modules:
            raise ImportError(f"{name} cannot be imported here")
        for wanted in names or ():
            if not hasattr(modules[name], wanted):
                raise ImportError(f"there is no {wanted} in {name} here")
        return modules[name]

    return load


def _printer(ran: Ran) -> Callable[..., None]:
    left = [MOST_PRINTED]

    def write(*values: Any, sep: Any = " ", end: Any = "\n") -> None:
        text = str(sep).join(map(str, values)) + str(end)
        if left[0] > 0:
            ran.printed.append(text[: left[0]])
            left[0] -= len(text)

    return write


def _enum_maker(ran: Ran, kinds: Mapping[Any, Any]) -> Callable[..., Any]:
    """Stands where the metaclass of a class would: it makes an enum of fixed values, whatever else the body holds.

    Args:
        ran: notes the enum.
        kinds: what ``Enum`` is for a program -> what it is for us.
    """

    def make(name: str, bases: tuple[Any, ...], body: dict[str, Any]) -> Any:
        kind = next((kinds[base] for base in bases if type(base) is _Word and base in kinds), None)
        members = {key: value for key, value in body.items() if not key.startswith("_")}
        plain = all(type(value) in (str, int, float) for value in members.values())
        if kind is None or not members or not plain:
            raise TypeError("the only classes here are enums with fixed values")
        mixed = next((base for base in bases if base is str or base is int), None)
        made: type[Enum] = kind(name, members, type=mixed) if mixed else kind(name, members)
        ran.enums[name] = made
        return made

    return make


def _recorder(ran: Ran) -> Callable[..., Any]:
    """What ``tool`` is for a program: it notes the function. The real one is applied later, out of its reach."""

    def tool(func: Any = None, /, *, name: Any = None, description: Any = None) -> Any:
        for given in (name, description):
            if given is not None and type(given) is not str:
                raise TypeError("the name and the description of a tool are texts")

        def note(func: Any) -> Any:
            if type(func) is not FunctionType or func.__code__.co_filename != FILE:
                raise TypeError("@tool stands above a function of your own")
            key = (func.__name__, func.__code__.co_firstlineno)
            ran.tools.append(MadeTool(func, name, description, key))
            return func

        return note if func is None else note(func)

    return tool
