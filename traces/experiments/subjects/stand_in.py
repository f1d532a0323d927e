"""Stand-in: a fake model made of a trace that reacts to what is taken away from it. Its rules are ours.

They follow what a small real model did. It says again what was recorded while the calls and results are there that this
came after. It asks again for what it cannot see any more. It believes a result that was changed. It invents what a
result does not say any more. It says what is missing where a call has no result, or a tool is not on offer.

It counts the calls that it sees, tool by tool: where a context budget leaves some out it asks for them again, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from agent import jsontext
from agent.cutting import head
from agent.interventions.results import REMOVED
from agent.models.replies import visible_text
from agent.scripts import Script, parse_script
from agent.trace import Trace
from traces.experiments.subjects.quoting import quotes_in
from traces.experiments.subjects.talk import Said, Talk, seen_before, talks_of
from traces.scripting.conduct import settings_data, tools_data
from traces.scripting.plan import plan_of
from traces.scripting.replies import turn_data

INVENTED = "QUUXBERRY"
"""What the stand-in says where a real model would make something up: nobody else says it."""
SUMMARY = (
    "Made of a recording. It reacts to what is taken away from it by rules of this program, written by hand after a "
    "small real model: no model answers here."
)
SUMMARY_ZH = (
    "由一次记录制成。它按本程序手写的规则对被拿走的内容作出反应，规则照着一个真实小模型写成：这里没有模型在回答。"
)
_SAID_AGAIN = frozenset(("text", "calls", "reasoning", "message", "raw", "results", "finish_reason"))
"""What of a recorded turn is said again. Tokens are counted anew: they depend on what was taken away."""
_TITLE, _LOOKED_FOR = 70, 60
"""Characters: of a title, and of words by which a rule knows that they were said."""
_NO_WORDS = "Please begin."
_ALWAYS = {"turn": {"at_least": 1}}
"""A script without turns needs at least one rule."""

Rule = dict[str, Any]


def stand_in(trace: Trace, step: int = 1) -> Script:
    """The stand-in of a trace of any format.

    Args:
        trace: never changed.
        step: the step from which it is to answer, from 1. It matters where a client had shortened the history by then.

    Raises:
        InputError: the trace keeps what no script can hold; the text says what.
    """
    return parse_script(jsontext.dumps(stand_in_data(trace, step)), f"{trace.trace_id}.json")


def stand_in_data(trace: Trace, step: int = 1) -> dict[str, Any]:
    """The same as the data of a script, for :func:`traces.scripting.script_text`. It shares parts with the trace.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    plan, talks = plan_of(trace), talks_of(trace)
    title = head(" ".join((trace.title or trace.task).split()), _TITLE) or trace.trace_id
    data: dict[str, Any] = {"title": f"Stand-in: {title}", "title_zh": f"替身：{title}"}
    data |= {"summary": SUMMARY, "summary_zh": SUMMARY_ZH}
    if plan.system:
        data["system"] = trace.messages[0].text
    data["user"] = [talk.words or _NO_WORDS for talk in talks]
    data |= {"tools": tools_data(trace), **settings_data(plan)}
    data.pop("protocol", None)  # the calls stand in the messages, whatever way they were spoken
    *rules, default = _Rules(trace, talks, step)
    return data | {"rules": rules or [{"when": _ALWAYS, **default}], "default": default}


class _Rules:
    """The rules of a stand-in in their order, and what is said where none of them holds."""

    def __init__(self, trace: Trace, talks: list[Talk], step: int) -> None:
        self._trace, self._talks = trace, talks
        self._offered = {tool["name"] for tool in tools_data(trace)}
        self._first, self._held = seen_before(trace, step)

    def __iter__(self) -> Iterator[Rule]:
        names = dict.fromkeys(name for talk in self._talks for said in talk.rounds for name in said.names)
        for name in names:
            text = f"I called {name} and got nothing back, so I cannot go on."
            yield {"when": {"tool": name, "result": "missing"}, "text": text}
        groups: list[list[Rule]] = []
        for number, talk in enumerate(self._talks):
            when = self._begun(number) if number else {}
            if when is None:
                self._count(talk)
            else:
                groups.append([self._with(when, rule) for rule in self._of(talk)])
        for group in reversed(groups):
            yield from group

    def _begun(self, number: int) -> Rule | None:
        """The condition that the user has begun this turn; None: nothing tells it."""
        talk, before = self._talks[number], self._talks[number - 1]
        answer = "" if before.answer is None else visible_text(before.answer.message)
        told = [message.text for message in self._trace.messages[: before.begins]]
        earlier = "\n".join(told)
        for words in (talk.words, answer):
            for text in (head(words, _LOOKED_FOR), words):
                if text.strip() and text not in earlier:
                    return {"request_contains": text}
        return None

    def _of(self, talk: Talk) -> Iterator[Rule]:
        """The rules of one turn of the user. The last one always holds."""
        rounds = [said for said in talk.rounds if said.call.step >= self._first]
        needed = self._held + sum((said.names for said in rounds), Counter[str]())
        for name in dict.fromkeys(name for said in rounds for name in said.names if name in self._offered):
            hidden = {"hidden": name, "tool": name, "calls": {"at_most": needed[name] - 1}}
            yield {"when": hidden, "text": f"I have no tool {name}, so I cannot go on."}
        for said in rounds:
            self._held = self._held + said.names
            yield {"when": self._not_yet(said), **self._again(said)}
        yield from self._closing(talk)

    def _count(self, talk: Talk) -> None:
        """The calls of a turn of the user that has no rules are there all the same."""
        self._held = sum((said.names for said in talk.rounds), self._held)

    def _not_yet(self, said: Said) -> Rule:
        """Whether the request does not hold the calls of a reply. They may be told in words of the user."""
        few = [{"tool": name, "calls": {"at_most": self._held[name] - 1}} for name in said.names]
        when: Rule = few[0] if len(few) == 1 else {"any": few}
        told = next(
            (
                f"Result of {call.name}: {head(result, _LOOKED_FOR)}"
                for call, result in zip(said.message.tool_calls, said.results, strict=False)
                if result
            ),
            None,
        )
        return {**when, "not": {"request_contains": told}} if told else when

    def _again(self, said: Said) -> Rule:
        """What was recorded, without the ids, which repeat where it is said more than once."""
        data = {
            key: value
            for key, value in turn_data(self._trace, said.call, json_action=False).items()
            if key in _SAID_AGAIN
        }
        if "calls" in data:
            data["calls"] = [{key: value for key, value in call.items() if key != "id"} for call in data["calls"]]
        return data

    def _closing(self, talk: Talk) -> Iterator[Rule]:
        """What is said when all calls are there: the answer, or where none was recorded the last calls once more."""
        if talk.answer is None:
            yield self._again(talk.rounds[-1]) if talk.rounds else {"text": "The recording holds no answer."}
            return
        text = visible_text(talk.answer.message)
        before = self._trace.messages[: talk.answer.sent]
        quotes = quotes_in(text, before, INVENTED)
        if quotes:
            yield {"text": text, "quotes": [asdict(quote) for quote in quotes]}
            return
        if talk.rounds and not _is_empty(talk.rounds[-1]):
            gone = [{"result": "blank"}, {"contains": REMOVED}]
            yield {"when": {"any": gone}, "text": f"The answer is {INVENTED}."}
        yield self._again(talk.answer)

    @staticmethod
    def _with(begun: Rule, rule: Rule) -> Rule:
        """A rule that holds in one turn of the user alone."""
        when = rule.get("when", {})
        if not begun:
            return rule
        return {"when": {**when, **begun}, **{key: value for key, value in rule.items() if key != "when"}}


def _is_empty(said: Said) -> bool:
    """Whether a result of the recording says nothing already."""
    return any(result is None or not result.strip() or REMOVED in result for result in said.results)
