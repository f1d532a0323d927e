"""Every text of the pages has its Chinese, and the catalogue holds nothing else."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

from pages.parts.words import catalogue, translate

ROOT = Path(__file__).parents[2]


def _literals() -> Iterator[tuple[str, ast.expr]]:
    for path in [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "t":
                yield f"{path.name}:{node.lineno}", node.args[0]


def _fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_text_is_written_out_where_it_is_used() -> None:
    assert [place for place, text in _literals() if not isinstance(text, ast.Constant)] == []


def test_every_text_has_a_chinese_form_and_none_is_left_over() -> None:
    used = {text.value for _, text in _literals() if isinstance(text, ast.Constant)}
    assert used == catalogue().keys()


def test_a_translation_keeps_the_names_that_are_filled_in() -> None:
    assert [english for english, chinese in catalogue().items() if _fields(english) != _fields(chinese)] == []


def test_a_text_is_filled_in_in_both_languages() -> None:
    assert translate("Message {n}", "en", n=3) == "Message 3"
    assert translate("Message {n}", "zh", n=3) == "消息 3"


def test_a_brace_in_a_value_is_only_text() -> None:
    assert translate("line {n}: {why}", "en", n=1, why="{x}") == "line 1: {x}"
