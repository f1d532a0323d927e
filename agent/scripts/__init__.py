"""Scripts: what a fake model will say, and the run that it says it in, as one YAML or JSON file.

    title: Two sums
    task: 请计算 (2+3)*4
    tools: [add, multiply]
    turns:
      - calls: [{name: add, arguments: {a: 2, b: 3}, id: c1}]
        usage: {prompt_tokens: 61, completion_tokens: 18}
        latency_ms: 120
      - calls: [{name: multiply, arguments: {a: 5, b: 4}}]
      - 计算结果是 20。

A turn that is a text is a final answer; ``repeat: 20`` says a turn that many times. A script that is only a list of
turns is the short form. The scenarios that come with the project are scripts in ``agent/scenarios``; their names are
the names of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent.context import ContextBudget
from agent.errors import InputError
from agent.evidence import AnswerContains, Check, ToolSucceeded
from agent.limits import Limits
from agent.loop import Loop
from agent.messages import Message, ToolCall
from agent.models.base import Model, ModelReply
from agent.models.fake import FakeModel, FakeTurn
from agent.models.json_action import JsonActionModel
from agent.policy import CapabilityPolicy
from agent.scripts import source
from agent.toolbox import nearest, pick, toolbox
from agent.tools import Tool, ToolRegistry
from agent.usage import Usage

if TYPE_CHECKING:
    from agent.scripts.fields import CallFields, EvidenceFields, ScriptFields, TurnFields

SCENARIOS = Path(__file__).parent.parent / "scenarios"
"""The folder of the scripts that come with the project."""
_TASK = "Please begin."
"""The user's words in a script that gives none."""


@dataclass(frozen=True, slots=True)
class ScenarioInfo:
    """A script that comes with the project, in the few words of a list."""

    name: str
    """The name under which :func:`load_script` and the command line know it."""
    title: str
    summary: str
    """One sentence: what there is to see."""
    path: Path
    title_zh: str = ""
    summary_zh: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A fake model's turns, and the run that they belong to."""

    name: str
    """The name of the scenario, or the stem of the file."""
    title: str
    title_zh: str = ""
    summary: str = ""
    summary_zh: str = ""
    users: tuple[str, ...] = (_TASK,)
    """The user's messages, one for each turn of the conversation."""
    system: str = ""
    tools: tuple[str, ...] = ()
    """Names of tools out of the toolbox, or of one's own."""
    own: tuple[Tool, ...] = ()
    """Tools of one's own, which the script may name beside those of the toolbox."""
    turns: tuple[FakeTurn, ...] = ()
    max_steps: int | None = 8
    limits: Limits = field(default_factory=Limits)
    policy: CapabilityPolicy | None = None
    context: ContextBudget | None = None
    protocol: Literal["native", "json_action"] = "native"
    evidence: tuple[Check, ...] = ()
    warnings: tuple[str, ...] = ()
    """What is allowed but probably not meant, one sentence each: a call of a tool that is not offered."""

    @property
    def task(self) -> str:
        """The user's first message."""
        return self.users[0]

    def make_model(self, pace: float = 1) -> Model:
        """The fake model; for the JSON-action protocol inside the adapter that speaks it.

        Args:
            pace: multiplies the latencies of the turns; 0 answers at once.
        """
        model = FakeModel([replace(turn, latency_ms=turn.latency_ms * pace) for turn in self.turns])
        return JsonActionModel(model) if self.protocol == "json_action" else model

    def make_tools(self, root: Path | None = None) -> ToolRegistry:
        """The tools of the script, fresh ones each time.

        Args:
            root: the one folder that file tools may read; None: the sample folder.

        Raises:
            InputError: ``root`` is not a folder.
        """
        return pick(self.tools, root, self.own)

    def loop(self, *, model: Model | None = None, root: Path | None = None, pace: float = 1, **overrides: Any) -> Loop:
        """A loop that plays the script; give it ``start(script.task)`` or ``events(script.task)``.

        Args:
            model: another model to put in the fake one's place.
            root: the one folder that file tools may read; None: the sample folder.
            pace: multiplies the latencies of the fake model; 0 answers at once.
            overrides: any options of :class:`~agent.loop.Loop`, in place of what the script says.

        Raises:
            InputError: ``root`` is not a folder.
        """
        options: dict[str, Any] = {
            "system": self.system,
            "max_steps": self.max_steps,
            "limits": self.limits,
            "policy": self.policy,
            "context": self.context,
            "evidence": self.evidence,
            "title": self.title,
        }
        tools = self.make_tools(root) if "tools" not in overrides else overrides.pop("tools")
        return Loop(model or self.make_model(pace), tools, **{**options, **overrides})


def load_script(path_or_name: str | Path, own: Iterable[Tool] = ()) -> Script:
    """Load a script from a file, or a scenario by its name.

    Args:
        path_or_name: the file, or the name of a scenario.
        own: tools of one's own, which it may name beside those of the toolbox.

    Raises:
        InputError: there is neither, or the script is wrong; the text says where and what was expected.
    """
    if not str(path_or_name).strip():
        raise InputError("the name of the script is empty: give a file or a scenario")
    path = _find(path_or_name)
    return parse_script(_text_of(path), path.name, own)


def parse_script(text: str, name: str = "script.yaml", own: Iterable[Tool] = ()) -> Script:
    """Read a script from its text.

    Args:
        text: YAML, or JSON.
        name: the file name: what errors call the text; its stem becomes the name of the script.
        own: as for :func:`load_script`.

    Raises:
        InputError: the script is wrong; the text says where and what was expected.
    """
    from agent.scripts import fields

    checked = fields.check(source.read(text, name), text, name)
    own = tuple(own)
    tools = _tools_of(checked, text, name, own)
    return Script(
        name=Path(name).stem,
        title=checked.title or Path(name).stem,
        title_zh=checked.title_zh,
        summary=checked.summary,
        summary_zh=checked.summary_zh,
        users=tuple(checked.user or [checked.task or _TASK]),
        system=checked.system,
        tools=tools,
        own=own,
        turns=tuple(_said(checked.turns)),
        max_steps=checked.max_steps,
        limits=Limits.from_dict(checked.limits.model_dump()) if checked.limits else Limits(),
        policy=CapabilityPolicy.from_dict(checked.policy.model_dump()) if checked.policy else None,
        context=ContextBudget.from_dict(checked.context.model_dump()) if checked.context else None,
        protocol=checked.protocol,
        evidence=tuple(_check(evidence) for evidence in checked.evidence),
        warnings=_warnings(checked, tools),
    )


def _said(turns: Sequence[TurnFields]) -> Iterator[FakeTurn]:
    """All turns one by one, repeated ones too; the ids of calls go by the number of the turn that is written."""
    for number, turn in enumerate(turns, 1):
        yield from [_turn(turn, number)] * turn.repeat


def scenarios() -> list[ScenarioInfo]:
    """The scripts that come with the project, by name."""
    return list(_scenarios())


@cache
def _scenarios() -> tuple[ScenarioInfo, ...]:
    infos = []
    for path in sorted(SCENARIOS.glob("*.yaml")):
        data = source.read(_text_of(path), path.name)
        words = {key: data.get(key, "") for key in ("title", "summary", "title_zh", "summary_zh")}
        infos.append(ScenarioInfo(name=path.stem, path=path, **words))
    return tuple(infos)


def _find(path_or_name: str | Path) -> Path:
    path, name = Path(path_or_name), str(path_or_name)
    known = {info.name: info.path for info in scenarios()}
    with suppress(OSError):
        if path.is_file() or (path.exists() and name not in known):
            return path
    if name in known:
        return known[name]
    shown = name if len(name) <= 200 else f"{name[:200]}…"
    raise InputError(f"there is no file or scenario {shown!r}{nearest(name, known)}")


def _text_of(path: Path) -> str:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for, a device has no end
            raise InputError(f"{str(path)!r} cannot be read: it is not a regular file")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: a script must be UTF-8 text, and this file is not") from error
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def _tools_of(script: ScriptFields, text: str, name: str, own: Iterable[Tool]) -> tuple[str, ...]:
    """The tools on offer. Left out, they are the tools that the turns call, as far as these are known."""
    known = [*toolbox(), *(tool.name for tool in own)]
    if script.tools is None:
        return tuple(dict.fromkeys(call.name for _, call in _calls(script) if call.name in known))
    for number, tool in enumerate(script.tools):
        if tool not in known:
            at = source.where(name, text, ("tools", number))
            raise InputError(f"{at}: there is no tool {tool!r} in the toolbox{nearest(tool, known)}")
    return tuple(dict.fromkeys(script.tools))


def _warnings(script: ScriptFields, offered: tuple[str, ...]) -> tuple[str, ...]:
    """A model may call what is not there, and a policy may name it; in a script it is probably a slip of the pen."""
    named = [(place, call.name) for place, call in _calls(script)]
    if script.policy:
        rules = {"allow": script.policy.allow or [], "deny": script.policy.deny, "ask": script.policy.ask}
        named += [(f"policy.{rule}", tool) for rule, tools in rules.items() for tool in tools]
    return tuple(
        f"{place}: no tool {tool!r} is offered{nearest(tool, offered)}" for place, tool in named if tool not in offered
    )


def _calls(script: ScriptFields) -> list[tuple[str, CallFields]]:
    """Every call of the script with its place in words."""
    return [
        (f"turns[{number}].calls[{position}].name", call)
        for number, turn in enumerate(script.turns)
        for position, call in enumerate(turn.calls)
    ]


def _turn(turn: TurnFields, number: int) -> FakeTurn:
    calls = tuple(_call(call.model_dump(), f"c{number}_{at}") for at, call in enumerate(turn.calls, 1))
    extra = {"reasoning_content": turn.reasoning} if turn.reasoning else {}
    message = Message("assistant", turn.text, tool_calls=calls, extra=extra)
    usage = Usage.from_dict(turn.usage.model_dump()) if turn.usage else None
    finish = turn.finish_reason or ("tool_calls" if calls else "stop")
    return FakeTurn(ModelReply(message, usage=usage, finish_reason=finish), latency_ms=turn.latency_ms)


def _call(call: Mapping[str, Any], call_id: str) -> ToolCall:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return ToolCall.from_dict({"id": call["id"] or call_id, "function": function})


def _check(evidence: EvidenceFields) -> Check:
    if evidence.tool_succeeded is not None:
        return ToolSucceeded(evidence.tool_succeeded.name, evidence.tool_succeeded.arguments)
    return AnswerContains(evidence.answer_contains or "")
