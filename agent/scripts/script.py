"""A script as it is played: its fake model, its tools, its user, and the loop round them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent.context import ContextBudget
from agent.evidence import Check
from agent.interventions import Intervention
from agent.limits import Limits
from agent.loop import Loop
from agent.messages import Message
from agent.models.base import Model
from agent.models.fake import FakeModel
from agent.models.json_action import JsonActionModel
from agent.policy import CapabilityPolicy
from agent.scripts.answers import Answers
from agent.scripts.turns import AnyTurn, Canned, ScriptChoice, branches
from agent.scripts.user import ScriptedUser
from agent.toolbox import pick, toolbox
from agent.tools import Tool, ToolRegistry

if TYPE_CHECKING:
    from agent.models.replay import Recording

ReplayMode = Literal["strict", "lenient"]


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool that exists only in a script."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    """JSON Schema; offered, not enforced."""
    results: tuple[Canned, ...] = ()
    """What it answers to calls that hold no answer of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A fake model's turns, and the run that they belong to."""

    name: str
    """The name of the scenario, or the stem of the file."""
    title: str
    title_zh: str = ""
    summary: str = ""
    summary_zh: str = ""
    users: tuple[str, ...] = ()
    """The user's messages, one for each turn of the conversation, as far as they do not stand before turns."""
    system: str = ""
    tools: tuple[str, ...] = ()
    """Names of the tools on offer: out of the toolbox, of one's own, or of the script."""
    made: tuple[ToolInfo, ...] = ()
    """The tools that exist only here."""
    own: tuple[Tool, ...] = ()
    """Tools of one's own, which the script may name beside those of the toolbox."""
    turns: tuple[AnyTurn, ...] = ()
    always: ScriptChoice | None = None
    """Rules in place of turns: they answer every model call."""
    seed: int = 0
    max_steps: int | None = 8
    limits: Limits = field(default_factory=Limits)
    policy: CapabilityPolicy | None = None
    context: ContextBudget | None = None
    parallel: bool = True
    protocol: Literal["native", "json_action"] = "native"
    evidence: tuple[Check, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    """Changes to what the model is given."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the model is asked, as far as a request shows it."""
    recorded: Recording | None = None
    """What the recording held that the script was made of."""
    replay: ReplayMode = "strict"
    """How strictly the recording is followed."""
    ignore: tuple[str, ...] = ()
    """What may differ from the recording."""
    warnings: tuple[str, ...] = ()
    """What is allowed but probably not meant, one sentence each: a call of a tool that is not offered."""

    @property
    def opening(self) -> tuple[Message, ...]:
        """The messages that the first turn begins with."""
        before = self.turns[0].before if self.turns else None
        return (*(Message("user", text) for text in self.users[:1]), *(before or ()))

    @property
    def task(self) -> str:
        """The user's first message."""
        return next((message.text for message in self.opening if message.role == "user"), "")

    @property
    def rules(self) -> bool:
        """Whether some turn depends on what the request holds: behaviour that is written by hand."""
        return self.always is not None or any(isinstance(turn, ScriptChoice) for turn in self.turns)

    @property
    def answered(self) -> frozenset[str]:
        """The tools whose answers, or some of them, stand in the script."""
        turns = (self.always,) if self.always else self.turns
        said = (branch for turn in turns for branch in branches(turn))
        beside = {
            call.name
            for turn in said
            for call, canned in zip(turn.calls, turn.results, strict=False)
            if canned is not None
        }
        return frozenset(beside.union(info.name for info in self.made))

    def make_model(self, pace: float = 1, *, seed: int | None = None, replay: ReplayMode | None = None) -> Model:
        """The fake model; for the JSON-action protocol inside the adapter that speaks it.

        Args:
            pace: multiplies the latencies of the turns; 0 answers at once.
            seed: for the chances of rules; None: that of the script.
            replay: how strictly a recording is followed; None: as the script says. Without one it says nothing.
        """
        said: Any = self.always.at_pace(pace) if self.always else [turn.at_pace(pace) for turn in self.turns]
        model: Model = FakeModel(said, seed=self.seed if seed is None else seed, options=self.options)
        if self.recorded is not None:
            from agent.models.replay import ReplayModel  # most scripts are no recordings

            model = ReplayModel(model, self.recorded, mode=replay or self.replay, ignore=self.ignore)
        return JsonActionModel(model) if self.protocol == "json_action" else model

    def make_tools(
        self,
        root: Path | None = None,
        *,
        names: Sequence[str] | None = None,
        own: Sequence[Tool] | None = None,
        real: bool = False,
        pace: float = 1,
    ) -> ToolRegistry:
        """The tools of the script, fresh ones each time.

        Args:
            root: the one folder that file tools may read; None: the sample folder.
            names: which of them; None: those on offer.
            own: tools of one's own to take in place of the script's.
            real: let tools of the toolbox and one's own run also where the script holds their answers.
            pace: multiplies how long written answers take; 0 answers at once.

        Raises:
            InputError: ``root`` is not a folder, or there is no tool of some name.
        """
        names = self.tools if names is None else names
        own = self.own if own is None else own
        made = {info.name: info for info in self.made}
        answers = self._answers(pace)
        known = {*toolbox(root), *(tool.name for tool in own)} if real else set()
        there = pick((name for name in names if name not in made or name in known), root, own)
        meant = {tool.name for spelt in answers.names if not real and (tool := there.resolve(spelt)) is not None}
        taken = {tool.name: answers.before(tool) if tool.name in meant else tool for tool in there}
        tools = (
            taken.get(name) or answers.tool(name, made[name].description, made[name].parameters)
            for name in dict.fromkeys(names)
        )
        return ToolRegistry(tools, otherwise=answers.otherwise)

    def _answers(self, pace: float) -> Answers:
        lists = {info.name: info.results for info in self.made}
        return Answers(self.turns, lists, always=self.always, pace=pace)

    def make_user(self) -> ScriptedUser | None:
        """Who speaks after the first words; None where nobody does."""
        speaks = len(self.users) > 1 or any(turn.before is not None for turn in self.turns[1:])
        return ScriptedUser(self.users, self.turns) if speaks else None

    def loop(
        self,
        *,
        model: Model | None = None,
        root: Path | None = None,
        pace: float = 1,
        seed: int | None = None,
        replay: ReplayMode | None = None,
        **overrides: Any,
    ) -> Loop:
        """A loop that plays the script: give it ``start(script.opening)``, then ``advance()`` while there is ``more``.

        Args:
            model: another model to put in the fake one's place.
            root: the one folder that file tools may read; None: the sample folder.
            pace: multiplies the latencies of the fake model and of written answers; 0 answers at once.
            seed: as for :meth:`make_model`.
            replay: as for :meth:`make_model`.
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
            "parallel": self.parallel,
            "evidence": self.evidence,
            "interventions": self.interventions,
            "user": self.make_user(),
            "title": self.title,
        }
        tools = self.make_tools(root, pace=pace) if "tools" not in overrides else overrides.pop("tools")
        model = model or self.make_model(pace, seed=seed, replay=replay)
        return Loop(model, tools, **{**options, **overrides})


def play(loop: Loop, script: Script) -> None:
    """Play a script to its end. Where a person would be asked, nobody is there: the call is denied."""
    loop.start(script.opening)
    loop.finish()
    while loop.more:
        loop.advance()
        loop.finish()
