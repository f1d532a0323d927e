"""The keys of a lesson's file, checked by pydantic. ``FORMAT.md`` tells them all."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from agent.events import Phase
from agent.scripts.strict import Misplaced, Strict
from traces.lessons.lesson import AskKind, System

Words = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z0-9_]+$")]


def _system(value: str) -> str:
    if value not in [*System]:
        raise ValueError(f"expected one of {', '.join(System)}, found {value!r}")
    return value


class TextFields(Strict):
    """The same words in both languages."""

    en: Words
    zh: Words


def _phase(value: str) -> str:
    if value not in [*Phase, "end"]:
        raise ValueError(f"expected one of {', '.join(Phase)} or end, found {value!r}")
    return value


class PlaceFields(Strict):
    """Where a run stands: before a phase of a step, or at its end."""

    step: Annotated[int, Field(ge=1)] = 1
    phase: Annotated[str, AfterValidator(_phase)]


class OptionFields(Strict):
    """One answer to choose from."""

    text: TextFields
    right: bool = False
    why: TextFields | None = None


class AskFields(Strict):
    """A question before the run goes on."""

    at: PlaceFields
    kind: AskKind
    text: TextFields | None = None
    options: list[OptionFields] = []
    why: TextFields | None = None

    @model_validator(mode="after")
    def _is_a_question(self) -> AskFields:
        if self.kind != "choice":
            if self.text or self.options:
                raise ValueError(f"a question of kind {self.kind} has no text and no options; the run answers it")
            return self
        if self.text is None:
            raise Misplaced(["text"], "a question of kind choice needs a text")
        if not 2 <= len(self.options) <= 6:
            raise Misplaced(["options"], f"a question has 2 to 6 options, this one has {len(self.options)}")
        if sum(option.right for option in self.options) != 1:
            raise Misplaced(["options"], "exactly one of the options is right: true")
        return self


class NoticeFields(Strict):
    """Something to see at a place."""

    at: PlaceFields
    text: TextFields


class ShownFields(Strict):
    """A claim about the run."""

    text: TextFields
    that: Annotated[dict[str, Any], Field(min_length=1)]
    variant: str = ""


class VariantFields(Strict):
    """One way to run the script."""

    name: Name
    title: TextFields
    changes: dict[str, Any] = {}
    asks: bool = True


class HandFields(Strict):
    """What the person is to decide about a call that waits."""

    action: Literal["run", "mock", "reject"] = "run"
    result: str = ""


class LessonFields(Strict):
    """A whole lesson."""

    title: TextFields
    system: Annotated[str, AfterValidator(_system)]
    idea: TextFields
    question: TextFields
    script: str | dict[str, Any]
    variants: Annotated[list[VariantFields], Field(min_length=1)] | None = None
    asks: list[AskFields] = []
    notices: list[NoticeFields] = []
    shows: list[ShownFields] = []
    until: PlaceFields | None = None
    hand: HandFields = HandFields()
    task: TextFields | None = None
    answer: TextFields | None = None
    takeaway: TextFields | None = None
    exercise: str = ""
    ablation: str = ""

    @model_validator(mode="after")
    def _names_each_once(self) -> LessonFields:
        names = [variant.name for variant in self.variants or ()]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise Misplaced(["variants", number, "name"], f"there is already a variant called {name!r}")
        for number, shown in enumerate(self.shows):
            if shown.variant and shown.variant not in names:
                raise Misplaced(["shows", number, "variant"], f"there is no variant {shown.variant!r}")
        asked = [(ask.at.step, ask.at.phase, ask.kind) for ask in self.asks]
        for number, ask in enumerate(asked):
            if ask in asked[:number]:
                raise Misplaced(["asks", number], "there is already a question of this kind at this place")
        return self
