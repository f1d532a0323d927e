"""The fields of a whole script. Those of a turn stand in ``turn_fields.py``, what a rule asks in ``when_fields.py``.

These modules import pydantic; :mod:`agent.scripts` imports them when the first script is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import AfterValidator, Field, create_model, model_validator

from agent.errors import InputError
from agent.interventions import KINDS, Intervention
from agent.limits import Limits
from agent.nearest import nearest
from agent.scripts.strict import Misplaced, Strict, found, short_for
from agent.scripts.turn_fields import AnyTool, CallFields, RuleFields, Said, SaidFields, TurnFields, check_choice

if TYPE_CHECKING:
    from agent.models.recording import Recording


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
    tool_succeeded: Annotated[SucceededFields, short_for("name")] | None = None

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


class InterventionFields(Strict):
    """A change to what the model is given, in every request."""

    kind: str
    params: dict[str, Any] = {}

    @model_validator(mode="after")
    def _is_one(self) -> InterventionFields:
        if self.kind not in KINDS:
            raise Misplaced(["kind"], f"there is no intervention {self.kind!r}{nearest(self.kind, KINDS)}")
        try:
            Intervention(self.kind, dict(self.params))
        except InputError as error:
            raise Misplaced(["params"], str(error)) from error
        return self


def _recording(data: Any) -> Recording | None:
    if data is None:
        return None
    if not isinstance(data, dict):
        raise ValueError(f"expected a mapping, found {found(data)}")
    from agent.models.recording import Recording  # most scripts are no recordings

    try:
        return Recording.from_dict(data)
    except InputError as error:
        raise ValueError(str(error)) from error


def _ignorable(name: str) -> str:
    from agent.models.likeness import Ignored  # most scripts are no recordings

    try:
        Ignored.of([name])
    except InputError as error:
        raise ValueError(str(error)) from error
    return name


class ReplayFields(Strict):
    """How strictly a recording is followed."""

    mode: Literal["strict", "lenient"] = "strict"
    ignore: list[Annotated[str, AfterValidator(_ignorable)]] = []
    """What may differ: see :class:`agent.models.replay.ReplayModel`."""


class ScriptFields(Strict):
    """A whole script."""

    title: str = ""
    title_zh: str = ""
    summary: str = ""
    summary_zh: str = ""
    task: str | None = None
    user: Annotated[list[str], Field(min_length=1)] | None = None
    system: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    tools: list[AnyTool] | None = None
    turns: Annotated[list[Annotated[TurnFields, short_for("text")]], Field(min_length=1)] | None = None
    rules: Annotated[list[RuleFields], Field(min_length=1)] | None = None
    default: Said | None = None
    max_steps: Annotated[int, Field(ge=1)] | None = 8
    limits: LimitsFields | None = None  # type: ignore[valid-type]
    policy: PolicyFields | None = None
    context: ContextFields | None = None
    parallel: bool = True
    protocol: Literal["native", "json_action"] = "native"
    evidence: list[EvidenceFields] = []
    interventions: list[Annotated[InterventionFields, short_for("kind")]] = []
    """Changes to every request; see :data:`agent.interventions.KINDS`."""
    options: dict[str, Any] = {}
    """How the model is asked, as far as a request shows it."""
    recorded: Annotated[Any, AfterValidator(_recording)] = None
    """What the recording held that the script was made of: a :class:`agent.models.replay.Recording`."""
    replay: ReplayFields | None = None

    @model_validator(mode="after")
    def _has_one_user(self) -> ScriptFields:
        if self.task is not None and self.user is not None:
            raise Misplaced(["user"], "give the user's words as task (one message) or as user (several), not as both")
        return self

    @model_validator(mode="after")
    def _has_turns_or_rules(self) -> ScriptFields:
        check_choice(self.rules, self.default)
        if self.turns is None and self.rules is None:
            raise ValueError("the key 'turns' is missing: what the model says, one turn after the other")
        if self.turns is not None and self.rules is not None:
            raise Misplaced(["rules"], "give turns or rules, not both; a turn may hold rules of its own")
        return self

    @model_validator(mode="after")
    def _keeps_to_its_protocol(self) -> ScriptFields:
        for place, said in self.all_said():
            if self.protocol == "json_action" and (name := said.holds_calls()):
                raise Misplaced([*place, *name], "under json_action a call is written in the text of the turn")
        return self

    @model_validator(mode="after")
    def _names_a_tool_once(self) -> ScriptFields:
        seen: set[str] = set()
        for number, tool in enumerate(self.tools or ()):
            name = tool if isinstance(tool, str) else tool.name
            if name in seen:
                rest = [] if isinstance(tool, str) else ["name"]
                raise Misplaced(["tools", number, *rest], f"there is already a tool called {name!r}")
            seen.add(name)
        return self

    def all_said(self) -> Iterator[tuple[list[str | int], SaidFields]]:
        """Everything that the model may say, each with its place."""
        holders: list[tuple[list[str | int], Any]] = [([], self)] if self.rules else []
        for number, turn in enumerate(self.turns or ()):
            if turn.rules is None:
                yield ["turns", number], turn
            else:
                holders.append((["turns", number], turn))
        for place, holder in holders:
            for number, rule in enumerate(holder.rules):
                yield [*place, "rules", number], rule
            yield [*place, "default"], holder.default

    def all_calls(self) -> Iterator[tuple[list[str | int], CallFields]]:
        """Every call of the script, with its place."""
        for place, said in self.all_said():
            for number, call in enumerate(said.calls):
                yield [*place, "calls", number], call
