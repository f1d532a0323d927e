"""The fields of a script, and the sentence for everything that is wrong with one.

This module imports pydantic; :mod:`agent.scripts` imports it when the first script is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import ErrorDetails

from agent.errors import InputError
from agent.limits import Limits
from agent.scripts import source
from agent.toolbox import nearest

Count = Annotated[int, Field(ge=0)]


def _said(turn: Any) -> Any:
    """A turn may be a plain text."""
    return {"text": turn} if isinstance(turn, str) else turn


def _named(tool: Any) -> Any:
    """A tool may be named without its arguments."""
    return {"name": tool} if isinstance(tool, str) else tool


class Strict(BaseModel):
    """A group of keys. An unknown key is an error, and ``"3"`` is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CallFields(Strict):
    """One tool call that the fake model makes."""

    name: Annotated[str, Field(min_length=1)]
    arguments: Annotated[dict[str, Any] | str, Field(union_mode="left_to_right")] = {}
    """An object; or a text, sent as it is, to show what becomes of arguments that are not valid JSON."""
    id: str | None = None


class UsageFields(Strict):
    """What the fake model reports to have used, in tokens."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    total_tokens: Count | None = None
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class TurnFields(Strict):
    """One reply of the fake model."""

    text: str | None = None
    calls: list[CallFields] = []
    usage: UsageFields | None = None
    latency_ms: Annotated[float, Field(ge=0, le=600_000)] = 0
    finish_reason: str | None = None
    reasoning: str | None = None
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many times in a row it is said."""

    @model_validator(mode="after")
    def _says_something(self) -> TurnFields:
        if self.text is None and not self.calls:
            raise ValueError("a turn needs a text or calls; for an empty answer write text: ''")
        return self


class PolicyFields(Strict):
    """Names of tools that may run, may not, or only when a person agrees."""

    allow: list[str] | None = None
    deny: list[str] = []
    ask: list[str] = []


class SucceededFields(Strict):
    """A tool that must have given a result, and with which arguments."""

    name: str
    arguments: dict[str, Any] | None = None


class EvidenceFields(Strict):
    """One outside check: exactly one of its keys."""

    answer_contains: str | None = None
    tool_succeeded: Annotated[SucceededFields | None, BeforeValidator(_named)] = None

    @model_validator(mode="after")
    def _is_one_check(self) -> EvidenceFields:
        if (self.answer_contains is None) == (self.tool_succeeded is None):
            raise ValueError(f"a check needs exactly one of the keys {', '.join(type(self).model_fields)}")
        return self


def _limit_fields() -> type[Strict]:
    """The limits as a group of keys: whatever :class:`Limits` has, under the rules that it keeps itself."""
    hints = get_type_hints(Limits)
    options: dict[str, Any] = {
        field.name: (Annotated[hints[field.name], AfterValidator(partial(_as_limit, field.name))], field.default)
        for field in dataclasses.fields(Limits)
        if field.name != "cosmetic"
    }
    return create_model("LimitsFields", __base__=Strict, **options)


def _as_limit(name: str, value: Any) -> Any:
    try:
        Limits(**{name: value})
    except InputError as error:
        raise ValueError(str(error)) from error
    return value


LimitsFields = _limit_fields()


class ContextFields(Strict):
    """How long a request may be, as in :class:`agent.context.ContextBudget`."""

    max_tokens: Annotated[int, Field(ge=1)]
    max_result_tokens: Annotated[int, Field(ge=1)] | None = None
    summarise: bool = True


class ScriptFields(Strict):
    """A whole script."""

    title: str = ""
    title_zh: str = ""
    summary: str = ""
    summary_zh: str = ""
    task: str | None = None
    user: Annotated[list[str], Field(min_length=1)] | None = None
    system: str = ""
    tools: list[str] | None = None
    turns: Annotated[list[Annotated[TurnFields, BeforeValidator(_said)]], Field(min_length=1)]
    max_steps: Annotated[int, Field(ge=1)] | None = 8
    limits: LimitsFields | None = None  # type: ignore[valid-type]
    policy: PolicyFields | None = None
    context: ContextFields | None = None
    protocol: Literal["native", "json_action"] = "native"
    evidence: list[EvidenceFields] = []

    @model_validator(mode="after")
    def _has_one_user(self) -> ScriptFields:
        if self.task is not None and self.user is not None:
            raise ValueError("give the user's words as task (one message) or as user (several), not as both")
        return self

    @model_validator(mode="after")
    def _keeps_to_its_protocol(self) -> ScriptFields:
        for number, turn in enumerate(self.turns):
            if self.protocol == "json_action" and turn.calls:
                raise ValueError(f"turns[{number}].calls: under json_action a call is written in the text of the turn")
        return self


def check(data: Any, text: str, name: str) -> ScriptFields:
    """The fields of a script, checked.

    Args:
        data: what :func:`agent.scripts.source.read` gave.
        text: the text it was read from, to find lines.
        name: what the text is called in errors.

    Raises:
        InputError: the first thing that is wrong: file, line, place, what was expected.
    """
    short = isinstance(data, list)
    if short:
        data = {"turns": data}
    if not isinstance(data, Mapping):
        raise InputError(f"{name}: a script is a mapping with the key turns, or a list of turns; found {_kind(data)}")
    try:
        return ScriptFields.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = [part for part in first["loc"] if part not in ("str", "dict[str,any]")]
        shown = place[1:] if short else place
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise InputError(f"{source.where(name, text, shown)}: {_sentence(first, place)}{more}") from error


def _sentence(error: ErrorDetails, place: list[str | int]) -> str:
    """What is wrong, in words."""
    kind, found = error["type"], _kind(error["input"])
    if kind == "extra_forbidden":
        keys = _keys_at(place[:-1])
        return f"unknown key {place[-1]!r}{nearest(str(place[-1]), keys)}"
    if kind == "missing":
        return f"the key {place[-1]!r} is missing"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    expected = _EXPECTED.get(kind)
    if expected:
        return f"expected {expected}, found {found}"
    message = error["msg"]
    return f"{message[0].lower()}{message[1:]}, found {found}"


_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    shown = repr(value) if not isinstance(value, bool) else str(value).lower()
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


def _keys_at(place: list[str | int]) -> list[str]:
    """The keys that a script knows at this place."""
    group: type[BaseModel] = ScriptFields
    for part in place:
        if isinstance(part, str):
            group = _group_in(group.model_fields[part].annotation) or group
    return list(group.model_fields)


def _group_in(annotation: Any) -> type[BaseModel] | None:
    """The group of keys inside an annotation such as ``list[TurnFields] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_group_in, get_args(annotation))), None)
