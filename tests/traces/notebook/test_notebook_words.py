"""Every text of notebooks has its Chinese, and none is left over or said twice."""

from __future__ import annotations

import ast
import string
from pathlib import Path

from traces.export.words import table
from traces.notebook.words import FOLDER, say_in


def said() -> set[str]:
    found = set()
    for path in Path(FOLDER).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("say", "self._say"):
                assert isinstance(node.args[0], ast.Constant), "texts are written out where they are used"
                found.add(node.args[0].value)
    return found


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_text_has_its_chinese_and_none_is_left_over() -> None:
    own, shared = table("zh", FOLDER), table("zh")
    assert not set(own) & set(shared)
    assert said() - set(shared) == set(own)
    assert [text for text, chinese in own.items() if fields(text) != fields(chinese)] == []


def test_a_text_is_said_in_both_languages_wherever_its_chinese_stands() -> None:
    assert (say_in("en")("My note on message {n}", n=3), say_in("zh")("step {n}", n=3)) == (
        "My note on message 3",
        "第 3 步",
    )
