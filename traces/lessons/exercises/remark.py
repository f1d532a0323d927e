"""Remark: what a check has to say about a learner's work: what is wrong, where, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from traces.lessons.lesson import Text

_LONGEST = 2_000
"""Characters of a text that comes from a learner's program."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to put right. It may quote a learner or a trace, so it is plain text."""

    text: Text
    place: Text | None = None
    """Where, in a few words."""
    why: Text | None = None
    """The rule behind it, in a sentence."""
    line: int | None = None
    """Of what was written, from 1."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data: the text and the line, which is all that a program in another process has to say."""
        return {"en": self.text.en, "zh": self.text.zh, "line": self.line}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Remark:
        """Read what :meth:`to_dict` wrote; what is no text becomes one."""
        line = data.get("line")
        en, zh = (str(data.get(key) or "")[:_LONGEST] for key in ("en", "zh"))
        return cls(Text(en, zh or en), line=line if isinstance(line, int) else None)


def remark(en: str, zh: str, line: int | None = None) -> Remark:
    """A remark in few letters."""
    return Remark(Text(en, zh), line=line)


def remarks_in(answer: Mapping[str, Any]) -> tuple[Remark, ...]:
    """The remarks in what another process answered."""
    listed = answer.get("remarks")
    return (
        tuple(Remark.from_dict(each) for each in listed if isinstance(each, Mapping))
        if isinstance(listed, list)
        else ()
    )


UNREADABLE = remark(
    "What the program left behind cannot be read. Run it once more.", "程序留下的结果无法读取。请再运行一次。"
)
