"""Tools that exist to show something about the loop."""

from __future__ import annotations

from agent.errors import ToolFailure
from agent.tools import Tool, tool

_FACTS = {
    1: "The pump in hall 3 was replaced; its new serial number is P-7741.",
    2: "The alarm at 04:12 was a test, ordered by R. Okafor.",
    3: "The next inspection is on 14 December.",
}
_LINES_A_DAY = 120


@tool
def noop() -> str:
    """Do nothing."""
    return "ok"


@tool
def read_log(day: int) -> str:
    """Read the log of one day. It is very long and holds one fact that matters.

    Args:
        day: the day, 1 to 3
    """
    if day not in _FACTS:
        raise ToolFailure(f"there is no log of day {day}: days 1 to 3 are kept")
    lines = [
        f"day {day} {n // 5:02}:{n % 5 * 12:02} reading {n + 1:03}: 20.{n % 10} C, normal" for n in range(_LINES_A_DAY)
    ]
    lines.insert(_LINES_A_DAY // 2, f"NOTE {_FACTS[day]}")
    return "\n".join(lines)


TOOLS: tuple[Tool, ...] = (noop, read_log)
