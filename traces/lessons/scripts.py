"""The script of a lesson, in one of its variants and one language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent import jsontext
from agent.scripts import Script, parse_script, scenarios, source
from agent.tools import Tool
from traces.lessons.lesson import LANGUAGES, Lesson, Text, Variant


def lesson_script(lesson: Lesson, variant: str, language: str, own: Iterable[Tool] = ()) -> Script:
    """The script that a lesson plays.

    Args:
        lesson: the lesson.
        variant: the name of one of its variants; any other means the first.
        language: ``en`` or ``zh``.
        own: tools of one's own, which it may name.
    """
    chosen = lesson.variant(variant)
    data = script_data(lesson.script, chosen.changes, language)
    title = Text(_titled(lesson, chosen, "en", ": "), _titled(lesson, chosen, "zh", "："))
    titles = {"title": title.of(language), "title_zh": title.zh}  # a trace keeps the first, in the language of its run
    return parse_script(jsontext.dumps({**data, **titles}), f"{lesson.name}.json", own)


def _titled(lesson: Lesson, variant: Variant, language: str, colon: str) -> str:
    """The title of a run: in a list of traces those of several variants are told apart."""
    title = lesson.title.of(language)
    return f"{title}{colon}{variant.title.of(language)}" if len(lesson.variants) > 1 else title


def script_data(script: str | Mapping[str, Any], changes: Mapping[str, Any], language: str) -> dict[str, Any]:
    """The keys of a script with those that a variant changes, in one language.

    Args:
        script: the name of a scenario, or keys.
        changes: keys that take the place of those.
        language: ``en`` or ``zh``.

    Raises:
        LookupError: there is no scenario of that name.
    """
    base = _scenario(script) if isinstance(script, str) else script
    told: dict[str, Any] = in_language({**base, **changes}, language)
    return told


def in_language(value: Any, language: str) -> Any:
    """The same data with the words of one language wherever both stand."""
    if isinstance(value, Mapping):
        if set(value) == set(LANGUAGES):
            return in_language(value[language], language)
        return {key: in_language(each, language) for key, each in value.items()}
    if isinstance(value, list):
        return [in_language(each, language) for each in value]
    return value


def _scenario(name: str) -> Mapping[str, Any]:
    for info in scenarios():
        if info.name == name:
            data: Mapping[str, Any] = source.read(source.text_of(info.path), info.path.name)
            return data
    raise LookupError(f"there is no scenario {name!r}")
