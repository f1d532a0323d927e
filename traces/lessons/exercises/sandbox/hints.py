"""The hints of parameters: a small language of its own, read from the syntax tree and never evaluated."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any, Literal

from traces.lessons.lesson import Text

_PLAIN: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}
_WITH_PARTS = ("list", "dict", "Optional", "Union", "Literal")
_DEEPEST = 8
"""Hints inside hints."""


def hint_problem(node: ast.expr, enums: Collection[str], depth: int = 0) -> Text | None:
    """What is wrong with a hint; None: it can be used.

    Args:
        node: the hint.
        enums: the names of the enum classes of the program.
        depth: in how many other hints it stands.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Text("write it without quotation marks.", "请去掉引号。")
    if depth > _DEEPEST:
        return Text("it is nested too deeply.", "嵌套得太深。")
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.Name) and (node.id in _PLAIN or node.id in enums):
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return hint_problem(node.left, enums, depth + 1) or hint_problem(node.right, enums, depth + 1)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in _WITH_PARTS:
        return _parts_problem(node.value.id, _parts(node), enums, depth)
    return Text(
        "use str, int, float, bool, list[...], dict[str, ...], Literal[...], Optional[...], | or an Enum of your own.",
        "请使用 str、int、float、bool、list[...]、dict[str, ...]、Literal[...]、Optional[...]、| 或你自己的 Enum。",
    )


def _parts_problem(name: str, parts: list[ast.expr], enums: Collection[str], depth: int) -> Text | None:
    if name == "Literal":
        if all(_is_literal(part) for part in parts):
            return None
        return Text("Literal takes fixed texts and numbers.", "Literal 里只能写固定的文字和数字。")
    counts = {"list": 1, "dict": 2, "Optional": 1}
    if name in counts and len(parts) != counts[name]:
        return Text(f"{name} takes {counts[name]} in its brackets.", f"{name} 的方括号里应有 {counts[name]} 项。")
    if name == "dict" and not (isinstance(parts[0], ast.Name) and parts[0].id == "str"):
        return Text("the keys of a dict are str, as in JSON.", "字典的键是 str，与 JSON 一样。")
    return next((words for part in parts if (words := hint_problem(part, enums, depth + 1)) is not None), None)


def hint_of(node: ast.expr, enums: Mapping[str, type[Enum]]) -> Any:
    """The type that a hint means, after :func:`hint_problem` found nothing.

    Args:
        node: the hint.
        enums: the enum classes that the program made, by name.
    """
    if isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.Name):
        return enums[node.id] if node.id in enums else _PLAIN[node.id]
    if isinstance(node, ast.BinOp):
        return _either([hint_of(node.left, enums), hint_of(node.right, enums)])
    assert isinstance(node, ast.Subscript)
    assert isinstance(node.value, ast.Name)
    name, parts = node.value.id, _parts(node)
    if name == "Literal":
        return Literal[tuple(ast.literal_eval(part) for part in parts)]
    inner = [hint_of(part, enums) for part in parts]
    if name in ("Optional", "Union"):
        return _either([*inner, *([None] if name == "Optional" else [])])
    return _PLAIN[name][tuple(inner) if name == "dict" else inner[0]]


def _either(hints: list[Any]) -> Any:
    return functools.reduce(operator.or_, (type(None) if hint is None else hint for hint in hints))


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and type(node.operand.value) is int
    return isinstance(node, ast.Constant) and type(node.value) in (str, int, bool)
