"""The fields of a turn: what the fake model says, what is said to it before, what the tools answer, what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from agent.errors import InputError, ModelErrorKind
from agent.faults import FAULTS, Fault
from agent.nearest import nearest
from agent.scripts.strict import MAPPING, TEXT, Misplaced, Strict, found, short_for, text_or_mapping
from agent.scripts.when_fields import WhenFields

Count = Annotated[int, Field(ge=0)]
Milliseconds = Annotated[float, Field(ge=0, le=86_400_000)]
"""A day at most."""
_AFTER_A_REPLY = ("tool", "message", "switch")
"""The groups of faults that can strike after a reply; the others change it, and can be written into it as they are."""


class ResultFields(Strict):
    """What a tool answers: a value, or an error."""

    result: Any = None
    """A text, which is answered as it is, or any JSON value."""
    error: str | None = None
    ok: bool | None = None
    """False: the result is a failure, in words of its own."""
    retryable: bool | None = None
    """Of a failure: whether another call may succeed."""
    took_ms: Milliseconds = 0

    @model_validator(mode="after")
    def _answers_once(self) -> ResultFields:
        if self.error is not None and "result" in self.model_fields_set:
            raise Misplaced(["error"], "a tool answers with a result or with an error, not with both")
        if self.error is not None and self.ok:
            raise Misplaced(["ok"], "an error is never ok: leave out one of the two")
        beside = [name for name in ("ok", "retryable", "took_ms") if getattr(self, name) not in (None, 0)]
        if beside and not self.answers:
            raise Misplaced(beside[:1], f"{beside[0]} belongs to a written answer: add a result or an error")
        if self.retryable is not None and self.error is None and self.ok is not False:
            raise Misplaced(["retryable"], "only a failure can be retryable: give an error, or ok: false")
        return self

    @property
    def answers(self) -> bool:
        """Whether there is an answer at all."""
        return self.error is not None or "result" in self.model_fields_set


class ListedFields(ResultFields):
    """One answer in the list of a tool."""

    arguments: dict[str, Any] | None = None
    """The arguments that it answers; without: any."""

    @model_validator(mode="after")
    def _answers(self) -> ListedFields:
        if not self.answers:
            raise ValueError("an answer of a tool needs a result or an error")
        return self


Listed = Annotated[ListedFields, short_for("result")]
"""A plain text is the result."""


class ToolFields(Strict):
    """A tool that exists only in this script."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    description: str = ""
    parameters: dict[str, Any] = {}
    """JSON Schema of the arguments; it is offered to the model and not enforced."""
    results: list[Listed] = []


AnyTool = Annotated[
    Annotated[str, Tag(TEXT)] | Annotated[ToolFields, Tag(MAPPING)],
    Discriminator(text_or_mapping),
]


class CallFields(ResultFields):
    """One tool call that the fake model makes; and what the tool answers, where that is written down."""

    name: Annotated[str, Field(min_length=1)]
    arguments: Annotated[
        Annotated[str, Tag(TEXT)] | Annotated[dict[str, Any], Tag(MAPPING)],
        Discriminator(text_or_mapping),
    ] = {}
    """An object; or a text, sent as it is, to show what becomes of arguments that are not valid JSON."""
    id: str | None = None
    """Empty: the provider sent none."""


class UsageFields(Strict):
    """What the fake model reports to have used, in tokens."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    total_tokens: Count | None = None
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    estimated: bool = False


class ErrorFields(Strict):
    """A model call that fails for good."""

    text: str
    kind: ModelErrorKind = "provider"
    status: Annotated[int, Field(ge=100, le=599)] | None = None


class AnyFaultFields(Strict):
    """Something that goes wrong on purpose."""

    kinds: ClassVar[Sequence[str]] = tuple(FAULTS)
    """Those that make sense here."""
    elsewhere: ClassVar[str] = ""
    """What to do about another one."""
    kind: str
    params: dict[str, Any] = {}

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.kind not in FAULTS:
            raise Misplaced(["kind"], f"there is no fault {self.kind!r}{nearest(self.kind, self.kinds)}")
        if self.kind not in self.kinds:
            raise Misplaced(["kind"], f"{self.kind} {self.elsewhere}")
        try:
            Fault(self.kind, dict(self.params))
        except InputError as error:
            raise Misplaced(["params"], str(error)) from error
        return self


class FaultFields(AnyFaultFields):
    """Something that goes wrong on purpose after the reply."""

    kinds = tuple(kind for kind, about in FAULTS.items() if about.group in _AFTER_A_REPLY)
    elsewhere = "cannot strike after a reply: write the turn as it should come"


def _content(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, list)):
        raise ValueError(f"expected a text or a list of parts, found {found(value)}")
    return value


class MessageFields(Strict):
    """A whole message as the message list holds it, in OpenAI Chat form; keys that are not named here are kept."""

    model_config = Strict.model_config | {"extra": "allow"}
    content: Annotated[Any, AfterValidator(_content)] = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class OutsideFields(MessageFields):
    """A message that is said to the model from outside."""

    role: Literal["system", "developer", "user", "assistant", "tool"]


class WholeFields(MessageFields):
    """A message of the model."""

    role: Literal["assistant"] = "assistant"


class QuoteFields(Strict):
    """A part of a text that follows what the results say."""

    word: Annotated[str, Field(min_length=1)]
    after: str = ""
    before: str = ""
    otherwise: str = ""


class SaidFields(Strict):
    """One reply of the fake model."""

    text: str | None = None
    calls: list[CallFields] = []
    reasoning: str | None = None
    message: WholeFields | None = None
    """The whole message as the message list holds it, in place of text, calls and reasoning."""
    raw: dict[str, Any] | None = None
    """The message as a provider sends it, in OpenAI Chat form; it is read as the reply of a live model is."""
    quotes: list[QuoteFields] = []
    """Parts of the text that follow what the results of the request say."""
    error: Annotated[ErrorFields, short_for("text")] | None = None
    """A plain text is what the provider says."""
    usage: UsageFields | None = None
    latency_ms: Milliseconds = 0
    first_token_ms: Milliseconds | None = None
    finish_reason: str | None = None
    model: str | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    warnings: list[str] = []
    results: list[Listed | None] = []
    """Beside ``message`` or ``raw``: what the tools answer to its calls, in their order."""
    faults: list[Annotated[FaultFields, short_for("kind")]] = []

    @model_validator(mode="after")
    def _says_one_thing(self) -> SaidFields:
        whole = [name for name in ("message", "raw", "error") if getattr(self, name) is not None]
        plain = [name for name in ("text", "calls", "reasoning") if name in self.model_fields_set]
        if len(whole) > 1 or (whole and plain):
            other = [*whole, *plain][1]
            raise Misplaced([other], f"{whole[0]} is the whole turn and cannot stand beside {other}")
        if self.error is not None and self.faults:
            raise Misplaced(["faults"], "a call that fails gives no reply that a fault could strike after")
        if not whole and not self._is_empty and self.text is None and not self.calls:
            raise ValueError("a turn needs a text or calls; for an empty answer write text: ''")
        return self

    @model_validator(mode="after")
    def _quotes_what_it_says(self) -> SaidFields:
        for at, quote in enumerate(self.quotes):
            if quote.word not in (self.text or ""):
                raise Misplaced(["quotes", at, "word"], f"the text does not hold {quote.word!r}")
        return self

    @property
    def _is_empty(self) -> bool:
        """Whether it is no reply of its own."""
        return False

    @model_validator(mode="after")
    def _has_own_ids(self) -> SaidFields:
        seen: set[str] = set()
        for number, call in enumerate(self.calls):
            if call.id in seen:
                raise Misplaced(["calls", number, "id"], f"the id {call.id!r} stands twice in this turn")
            if call.id:
                seen.add(call.id)
        return self

    @model_validator(mode="after")
    def _is_of_the_model(self) -> SaidFields:
        role = (self.raw or {}).get("role", "assistant")
        if role != "assistant":
            raise Misplaced(["raw", "role"], f"expected 'assistant', found {found(role)}")
        return self

    @model_validator(mode="after")
    def _answers_its_calls(self) -> SaidFields:
        if self.results and self.message is None and self.raw is None:
            raise Misplaced(["results"], "results stand beside message or raw; of calls each one holds its own result")
        count = len(self._whole_calls())
        if len(self.results) > count:
            calls = "1 call" if count == 1 else f"{count} calls"
            raise Misplaced(["results", count], f"there are {len(self.results)} results for {calls}")
        return self

    def holds_calls(self) -> list[str]:
        """The keys under which calls stand; empty where there are none."""
        if self.calls:
            return ["calls"]
        return ["raw" if self.raw else "message", "tool_calls"] if self._whole_calls() else []

    def _whole_calls(self) -> list[Any]:
        """The calls of a message that is given whole."""
        whole: dict[str, Any] = self.raw or (self.message.model_dump() if self.message else {})
        calls = whole.get("tool_calls") or whole.get("function_call") or []
        return calls if isinstance(calls, list) else [calls]


class RuleFields(SaidFields):
    """What is said where a condition holds."""

    when: WhenFields


Said = Annotated[SaidFields, short_for("text")]
"""A plain text is what the model says."""
Before = list[Annotated[OutsideFields, short_for("content", role="user")]]
"""A plain text is the user's."""


class TurnFields(SaidFields):
    """One turn: a reply, or rules that choose one."""

    before: Before | None = None
    """What is said to the model from outside before this turn; empty: it is asked again without a word."""
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many times in a row it is said."""
    rules: Annotated[list[RuleFields], Field(min_length=1)] | None = None
    """The first whose condition holds is said."""
    default: Said | None = None
    """What is said where none holds."""

    @property
    def _is_empty(self) -> bool:
        return self.rules is not None or self.default is not None

    @model_validator(mode="after")
    def _chooses_or_says(self) -> TurnFields:
        check_choice(self.rules, self.default)
        own = self.model_fields_set & set(SaidFields.model_fields)
        if self.rules is not None and own:
            name = min(own)
            raise Misplaced([name], f"a turn with rules says nothing itself: put {name} into a rule or the default")
        return self


def check_choice(rules: list[RuleFields] | None, default: SaidFields | None) -> None:
    """Rules need a default, and a default rules; and a written answer belongs to one of them.

    Raises:
        Misplaced: one of them is missing, or the same call under the same id is answered in two ways.
    """
    if rules is not None and default is None:
        raise Misplaced(["rules"], "rules need a default beside them: what is said where none of them holds")
    if rules is None and default is not None:
        raise Misplaced(["default"], "a default needs rules beside it")
    if rules is not None and default is not None:
        choice: list[tuple[list[str | int], SaidFields]] = [(["rules", at], rule) for at, rule in enumerate(rules)]
        _check_answers([*choice, (["default"], default)])


def _check_answers(choice: list[tuple[list[str | int], SaidFields]]) -> None:
    """A tool knows a call by its id and its arguments, and not which rule spoke."""
    known: dict[str, list[CallFields]] = {}
    for place, said in choice:
        for number, call in enumerate(said.calls):
            above = known.setdefault(call.id, []) if call.id else []
            alike = (other for other in above if (call.name, call.arguments) == (other.name, other.arguments))
            if any(call != other for other in alike):
                words = f"the same call with the id {call.id!r} has another answer in a rule above: give it another id"
                raise Misplaced([*place, "calls", number, "id"], words)
            above.append(call)
