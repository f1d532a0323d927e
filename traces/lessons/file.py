"""A lesson as a file that teachers write: YAML or JSON, read strictly. ``FORMAT.md`` tells every key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.events import Phase
from agent.scripts import source
from agent.scripts.source import Lines, SourceError
from agent.scripts.strict import found
from traces.lessons.lesson import (
    LANGUAGES,
    Ask,
    Hand,
    Lesson,
    Notice,
    Option,
    Place,
    Shown,
    System,
    Text,
    Variant,
)
from traces.lessons.scripts import script_data

if TYPE_CHECKING:
    from agent.scripts.problems import Mistakes, Problem, Problems
    from traces.lessons.fields import LessonFields, PlaceFields, TextFields

_WHAT = "lesson"
_NUMBER = re.compile(r"^\d+[_-]")
_ONLY = (Variant("only", Text("As it is", "原样")),)


def read_lesson(path: Path, *, own: bool = False) -> Lesson:
    """Read a lesson from its file.

    Args:
        path: the file; its name is that of the lesson, without a number in front that says where it stands.
        own: it was added by a teacher.

    Raises:
        InputError: it cannot be read, or is wrong: file, line, place, what was expected.
    """
    return parse_lesson(source.text_of(path, _WHAT), path.name, own=own)


def parse_lesson(text: str, name: str = "lesson.yaml", *, own: bool = False) -> Lesson:
    """Read a lesson from its text.

    Args:
        text: YAML, or JSON.
        name: the file name.
        own: as for :func:`read_lesson`.

    Raises:
        InputError: it is wrong: file, line, place, what was expected.
    """
    fields, problems = _looked_at(text, name)
    if problems.told or fields is None:
        raise problems.error(name)
    return _lesson(fields, lesson_name(name), own)


def lesson_problems(text: str, name: str = "lesson.yaml") -> list[Problem]:
    """Everything that is wrong with a lesson, in the order of the text; nothing where it can be taught."""
    return _looked_at(text, name)[1].listed


def lesson_name(file: str) -> str:
    """``01_one_call.yaml`` is the lesson ``one_call``; what an address could not carry becomes ``_``."""
    return re.sub(r"[^a-z0-9_]+", "_", _NUMBER.sub("", Path(file).stem).lower())


def _looked_at(text: str, name: str) -> tuple[LessonFields | None, Problems]:
    from agent.scripts.problems import Problems, check_fields
    from traces.lessons.fields import LessonFields

    try:
        data = source.read(text, name, _WHAT)
    except SourceError as error:
        return None, Problems.whole(error.sentence, error.line)
    if not isinstance(data, Mapping):
        return None, Problems.whole(f"a lesson is a mapping with the keys title, idea, script; found {found(data)}")
    fields, mistakes = check_fields(data, LessonFields, "at the top of a lesson, beside title")
    if fields is not None:
        mistakes = _of_scripts(fields)
    return fields, Problems.at(mistakes, Lines(text, name))


def _of_scripts(fields: LessonFields) -> Mistakes:
    """What is wrong with the script, as it is in each variant and language."""
    from agent.scripts.checking import of_tools
    from agent.scripts.fields import ScriptFields
    from agent.scripts.problems import NO_MISTAKES, Mistakes, check_fields

    changed = [variant.changes for variant in fields.variants or ()] or [{}]
    for at, changes in enumerate(changed):
        for language in LANGUAGES:
            try:
                data = script_data(fields.script, changes, language)
            except LookupError as error:
                return Mistakes([(["script"], str(error.args[0]))], 1)
            checked, mistakes = check_fields(data, ScriptFields, "at the top of a script")
            if checked is not None:
                mistakes = of_tools(checked, ())
            if mistakes.told:
                return mistakes._replace(told=[(_placed(place, changes, at), words) for place, words in mistakes.told])
    return NO_MISTAKES


def _placed(place: list[str | int], changes: Mapping[str, Any], variant: int) -> list[str | int]:
    """Where a place of the script stands in the lesson: in the changes of a variant, or in the script itself."""
    changed = bool(place) and place[0] in changes
    return ["variants", variant, "changes", *place] if changed else ["script", *place]


def _text(fields: TextFields) -> Text:
    return Text(fields.en, fields.zh)


def _maybe(fields: TextFields | None) -> Text | None:
    return None if fields is None else _text(fields)


def _place(fields: PlaceFields) -> Place:
    return Place(fields.step, None if fields.phase == "end" else Phase(fields.phase))


def _lesson(fields: LessonFields, name: str, own: bool) -> Lesson:
    variants = tuple(Variant(each.name, _text(each.title), each.changes, each.asks) for each in fields.variants or ())
    return Lesson(
        name=name,
        title=_text(fields.title),
        system=System(fields.system),
        idea=_text(fields.idea),
        question=_text(fields.question),
        script=fields.script,
        variants=variants or _ONLY,
        asks=tuple(
            Ask(
                _place(ask.at),
                ask.kind,
                _maybe(ask.text),
                tuple(Option(_text(each.text), each.right, _maybe(each.why)) for each in ask.options),
                _maybe(ask.why),
                ask.variant,
            )
            for ask in fields.asks
        ),
        notices=tuple(Notice(_place(each.at), _text(each.text), each.variant) for each in fields.notices),
        shows=tuple(
            Shown(_text(each.text), each.that.model_dump(exclude_unset=True), each.variant) for each in fields.shows
        ),
        until=None if fields.until is None else _place(fields.until),
        hand=Hand(fields.hand.action, fields.hand.result, fields.hand.stop),
        chapter=_maybe(fields.chapter),
        task=_maybe(fields.task),
        answer=_maybe(fields.answer),
        takeaway=_maybe(fields.takeaway),
        exercise=fields.exercise,
        ablation=fields.ablation,
        own=own,
    )
