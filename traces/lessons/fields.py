"""The keys of a lesson's file, checked by pydantic. ``FORMAT.md`` tells them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from agent.events import AgentState, Maker, Phase
from agent.nearest import nearest
from agent.scripts.strict import MAPPING, TEXT, Misplaced, Strict, text_or_mapping
from agent.stops import StopReason
from traces.lessons.lesson import AskKind, System

Words = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z0-9_]+$")]


def _one_of(*known: str) -> AfterValidator:
    def check(value: str) -> str:
        if value not in known:
            raise ValueError(f"expected one of {', '.join(known)}, found {value!r}")
        return value

    return AfterValidator(check)


def _rule(value: str) -> str:
    from traces.lint import RULES  # with pandas, which most lessons have no need of

    if value not in RULES:
        raise ValueError(f"there is no rule {value!r}{nearest(value, list(RULES))}")
    return value


END = "end"
"""The place where a run is over."""
PhaseName = Annotated[str, _one_of(*Phase, END)]
Count = Annotated[int, Field(ge=0)]


class TextFields(Strict):
    """The same words in both languages."""

    en: Words
    zh: Words


class PlaceFields(Strict):
    """Where a run stands: before a phase of a step, or at its end."""

    step: Annotated[int, Field(ge=1)] = 1
    phase: PhaseName


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
    variant: str = ""

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
    variant: str = ""


def _one_or_both(value: Any) -> str | None:
    return MAPPING if isinstance(value, TextFields) else text_or_mapping(value)


Said = Annotated[
    Annotated[str, Tag(TEXT)] | Annotated[TextFields, Tag(MAPPING)],
    Discriminator(_one_or_both),
]
"""Words of a run: the same in both languages, or in each its own."""
Rule = Annotated[str, AfterValidator(_rule)]
Role = Annotated[str, _one_of("system", "user", "assistant", "tool")]


class ThatFields(Strict):
    """What holds of a run, in a form that :mod:`traces.lessons.shows` can check."""

    reason: Annotated[str, _one_of(*StopReason, "none")] = ""
    steps: Count = 0
    messages: Count = 0
    roles: list[Role] = []
    makers: list[Annotated[str, _one_of(*Maker)]] = []
    calls: list[str] = []
    results: list[Said] = []
    final: Said = ""
    final_contains: Said = ""
    sent_roles: list[Role] = []
    request_contains: Said = ""
    request_lacks: Said = ""
    errors: Count = 0
    denied: Count = 0
    mocked: Count = 0
    verified: bool | None = None
    flagged: list[Rule] = []
    not_flagged: list[Rule] = []
    events: list[str] = []
    states: list[Annotated[str, _one_of(*AgentState)]] = []
    phase: PhaseName = ""
    first_finished: str = ""
    tokens: Count = 0
    tokens_from: Count = 0
    more_tokens_than: str = ""
    more_steps_than: str = ""
    same_messages_as: str = ""
    noted: Said = ""

    @model_validator(mode="after")
    def _says_something(self) -> ThatFields:
        if not self.model_fields_set:
            raise ValueError("a claim names at least one thing that must hold")
        return self


class ShownFields(Strict):
    """A claim about the run."""

    text: TextFields
    that: ThatFields
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
    stop: bool = False


class LessonFields(Strict):
    """A whole lesson."""

    title: TextFields
    system: Annotated[str, _one_of(*System)]
    chapter: TextFields | None = None
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
        of_one: dict[str, Sequence[AskFields | NoticeFields | ShownFields]]
        of_one = {"asks": self.asks, "notices": self.notices, "shows": self.shows}
        for key, told in of_one.items():
            for number, each in enumerate(told):
                _known(each.variant, names, [key, number, "variant"])
        for number, shown in enumerate(self.shows):
            for key in _OTHERS:
                _known(getattr(shown.that, key), names, ["shows", number, "that", key])
        for number, ask in enumerate(self.asks):
            if any(_together(ask, other) for other in self.asks[:number]):
                raise Misplaced(["asks", number], "there is already a question of this kind at this place")
        return self


_OTHERS = ("more_tokens_than", "more_steps_than", "same_messages_as")
"""What compares a run with that of another variant."""


def _known(variant: str, names: Sequence[str], place: Sequence[str | int]) -> None:
    if variant and variant not in names:
        raise Misplaced(place, f"there is no variant {variant!r}{nearest(variant, names)}")


def _together(ask: AskFields, other: AskFields) -> bool:
    """Whether some variant asks both, so that they could not be told apart."""
    same = (ask.at.step, ask.at.phase, ask.kind) == (other.at.step, other.at.phase, other.kind)
    return same and (not ask.variant or not other.variant or ask.variant == other.variant)
