"""The first look at a learner's program: on its syntax tree, before anything of it is compiled or run.

What RestrictedPython would refuse in its own words is said here in ours. Hints of parameters are taken out of the tree
and made into types by :mod:`.hints`, so that no hint is ever evaluated as Python.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from traces.lessons.exercises.remark import Remark, remark
from traces.lessons.exercises.sandbox.hints import hint_problem

MODULES = ("agent", "enum", "typing", "math")
"""What may be imported, each as a few names and no more."""
ENUMS = ("Enum", "StrEnum", "IntEnum")
_BASES = (*ENUMS, "str", "int")

_NOT_HERE: dict[type[ast.AST], tuple[str, str]] = {
    ast.AsyncFunctionDef: ("async functions", "async 函数"),
    ast.Await: ("await", "await"),
    ast.AsyncFor: ("async for", "async for"),
    ast.AsyncWith: ("async with", "async with"),
    ast.With: ("with blocks", "with 语句块"),
    ast.Match: ("match", "match"),
    ast.TryStar: ("except*", "except*"),
    ast.Nonlocal: ("nonlocal", "nonlocal"),
    ast.Global: ("global", "global"),
}


Key = tuple[str, int]
"""The name of a function and its first line, decorators included: how the code of a function can be told again."""


@dataclass(slots=True)
class Program:
    """A program that was looked at."""

    tree: ast.Module
    """Without hints."""
    hints: dict[Key, dict[str, ast.expr]] = field(default_factory=dict)
    """The hints of the parameters of each function."""
    docs: dict[Key, str | None] = field(default_factory=dict)
    """Their docstrings, which stand no longer first in a function once RestrictedPython has seen a ``print`` in it."""
    problems: list[Remark] = field(default_factory=list)


def read_program(code: str, known: Collection[str], decorators: Collection[str]) -> Program:
    """Parse and check a program.

    Args:
        code: the program.
        known: the names that it may use without defining them.
        decorators: those that may stand above a function.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        said = remark(f"This is no valid Python: {error.msg}.", f"这不是有效的 Python：{error.msg}。", error.lineno)
        return Program(ast.Module([], []), problems=[said])
    except (ValueError, RecursionError, MemoryError):
        said = remark("This is no valid Python, or too deeply nested.", "这不是有效的 Python，或者嵌套得太深。")
        return Program(ast.Module([], []), problems=[said])
    program = Program(tree)
    own = {name for node in ast.walk(tree) for name in _names_made(node)}
    enums = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        program.problems += _problems(node, own, known, decorators, enums)
    program.problems.sort(key=lambda each: each.line or 0)
    _take_words(program)
    return program


def _names_made(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or node.name
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _problems(
    node: ast.AST, own: Collection[str], known: Collection[str], decorators: Collection[str], enums: Collection[str]
) -> Iterator[Remark]:
    line = getattr(node, "lineno", None)
    if (words := _NOT_HERE.get(type(node))) is not None:
        yield remark(f"{words[0]} cannot be used here.", f"这里不能使用 {words[1]}。", line)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from _import_problems(node)
    elif isinstance(node, ast.Name):
        yield from _name_problems(node, own, known)
    elif isinstance(node, ast.Attribute):
        yield from _attribute_problems(node)
    elif isinstance(node, ast.ClassDef):
        yield from _class_problems(node)
    elif isinstance(node, ast.FunctionDef):
        yield from _function_problems(node, decorators, enums)


def _import_problems(node: ast.Import | ast.ImportFrom) -> Iterator[Remark]:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
    for name in names:
        if name not in MODULES:
            allowed = ", ".join(MODULES)
            yield remark(
                f"{name} cannot be imported here. What there is: {allowed}.",
                f"这里不能导入 {name}。可以导入的有：{allowed}。",
                node.lineno,
            )


def _name_problems(node: ast.Name, own: Collection[str], known: Collection[str]) -> Iterator[Remark]:
    name = node.id
    if name.startswith("_") and name != "_":
        yield _underscore(name, node.lineno)
    elif isinstance(node.ctx, ast.Load) and name not in own and name not in known and hasattr(builtins, name):
        yield remark(f"{name} cannot be used here.", f"这里不能使用 {name}。", node.lineno)


def _attribute_problems(node: ast.Attribute) -> Iterator[Remark]:
    if node.attr.startswith("_"):
        yield _underscore(node.attr, node.lineno)
    elif node.attr in ("format", "format_map"):
        yield remark(
            'The format of texts cannot be used here; write an f-string: f"{value}".',
            '这里不能使用字符串的 format；请写 f-string：f"{value}"。',
            node.lineno,
        )
    elif isinstance(node.ctx, (ast.Store, ast.Del)):
        yield remark(
            "Attributes cannot be set here; keep what you need in a variable or a dict.",
            "这里不能设置属性；请用变量或字典保存需要的内容。",
            node.lineno,
        )


def _underscore(name: str, line: int) -> Remark:
    return remark(
        f"{name[:80]} cannot be used here: names that begin with _ belong to Python itself.",
        f"这里不能使用 {name[:80]}：以 _ 开头的名字属于 Python 内部。",
        line,
    )


def _class_problems(node: ast.ClassDef) -> Iterator[Remark]:
    bases = [base.id if isinstance(base, ast.Name) else "" for base in node.bases]
    plain = all(_is_member(part) or _is_words(part) for part in node.body)
    plain = plain and any(_is_member(part) for part in node.body)
    of_enum = any(base in ENUMS for base in bases) and all(base in _BASES for base in bases)
    if not of_enum or not plain or node.keywords or node.decorator_list:
        yield remark(
            f"The class {node.name} cannot be written here. The only classes are enums with fixed values, such as "
            'class Speed(Enum): FAST = "fast".',
            f'这里不能定义类 {node.name}。只能定义带固定值的枚举，例如 class Speed(Enum): FAST = "fast"。',
            node.lineno,
        )


def _is_member(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, (str, int, float))
        and all(isinstance(target, ast.Name) for target in node.targets)
    )


def _is_words(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )


def _function_problems(node: ast.FunctionDef, decorators: Collection[str], enums: Collection[str]) -> Iterator[Remark]:
    for decorator in node.decorator_list:
        if not _is_decorator(decorator, decorators):
            only = " / ".join(f"@{name}" for name in decorators)
            yield remark(
                f"Only {only} may stand above a function here, with a name or a description as fixed texts."
                if only
                else "Nothing with @ may stand above a function here.",
                f"函数上面只能写 {only}，名称和说明要写成固定的文字。" if only else "这里函数上面不能写 @。",
                decorator.lineno,
            )
    for parameter in _parameters(node):
        if parameter.annotation is not None and (words := hint_problem(parameter.annotation, enums)) is not None:
            yield remark(
                f"The hint of {parameter.arg} cannot be used here: {words.en}",
                f"{parameter.arg} 的类型标注在这里不能用：{words.zh}",
                parameter.annotation.lineno,
            )


def _is_decorator(node: ast.expr, decorators: Collection[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in decorators
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in decorators
        and not node.args
        and all(
            keyword.arg in ("name", "description")
            and isinstance(keyword.value, ast.Constant)
            and isinstance(keyword.value.value, str)
            for keyword in node.keywords
        )
    )


def _parameters(node: ast.FunctionDef) -> list[ast.arg]:
    told = node.args
    more = [arg for arg in (told.vararg, told.kwarg) if arg is not None]
    return [*told.posonlyargs, *told.args, *told.kwonlyargs, *more]


def _take_words(program: Program) -> None:
    """Move the hints out of the tree and note the docstrings; a variable with a hint becomes one without."""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            hints = program.hints.setdefault((node.name, first), {})
            program.docs[node.name, first] = ast.get_docstring(node, clean=False)
            for parameter in _parameters(node):
                if parameter.annotation is not None:
                    hints[parameter.arg] = parameter.annotation
                parameter.annotation = None
            node.returns = None
    program.tree = ast.fix_missing_locations(_NoHints().visit(program.tree))


class _NoHints(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """``x: int = 3`` as ``x = 3``; without a value it says nothing."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)
