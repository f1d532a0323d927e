"""What the tabs of a class do: open a page, press its button every few seconds, begin anew where a run has ended."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

from streamlit.proto.Element_pb2 import Element

from tests.bench.class_client import Tab


def new_row(now: Element, before: Element | None) -> bool:
    """The message table has changed: a row more, or the mark of what the last phase added elsewhere."""
    if now.WhichOneof("type") != "dataframe":
        return False
    return before is None or before.dataframe.arrow_data.data != now.dataframe.arrow_data.data


def new_text(now: Element, before: Element | None) -> bool:
    """A text has changed."""
    return now.WhichOneof("type") == "text" and before is not None and before.text.body != now.text.body


@dataclass(frozen=True, slots=True)
class Page:
    """A page that tabs press a button of."""

    name: str
    path: str
    step: str = "step"
    """Key of the button."""
    anew: str = "reset"
    """Key of the button that lets go of a run that has ended."""
    table: bool = True
    """Whether a message table shows what a press did; else a text."""
    watched: bool = False
    """One tab steps and all others look at its run."""


PAGES = {
    page.name: page
    for page in (
        Page("empty", "/", table=False),
        Page("run", "/"),
    )
}


@dataclass(slots=True)
class Round:
    """What the tabs met while they pressed for some seconds."""

    seconds: float
    finished: list[float] = field(default_factory=list)
    """Seconds from each press until the page was drawn to its end."""
    seen: list[float] = field(default_factory=list)
    """Seconds from each press until what it did was there to see, where it was."""
    received: int = 0
    """Bytes."""


class Group:
    """The tabs of one class on one page.

    Args:
        server: its address.
        page: what each of them opens.
        tabs: how many.
        every_s: seconds between two presses of a tab.
    """

    def __init__(self, server: str, page: Page, tabs: int, every_s: float) -> None:
        self.page, self._every_s = page, every_s
        self.tabs = [Tab(server, page.path) for _ in range(tabs)]
        self.late = 0
        """Presses that came late, since the one before was not answered yet."""
        self._pressed: Counter[str] = Counter()
        self._failed: list[str] = []

    async def open(self) -> None:
        """Open all tabs, a few at a time, as a class does."""
        for at in range(0, len(self.tabs), 4):
            await asyncio.gather(*(tab.open() for tab in self.tabs[at : at + 4]))

    async def close(self) -> None:
        """Close all tabs."""
        await asyncio.gather(*(tab.close() for tab in self.tabs))

    async def press(self, seconds: float) -> Round:
        """Press for so long, each tab at its own time of the interval."""
        took, began = Round(seconds), time.monotonic()
        before = sum(tab.received for tab in self.tabs)
        share = self._every_s / len(self.tabs)
        await asyncio.gather(
            *(self._presses(tab, began + at * share, began + seconds, took) for at, tab in enumerate(self.tabs))
        )
        took.received = sum(tab.received for tab in self.tabs) - before
        return took

    async def _presses(self, tab: Tab, due: float, end: float, took: Round) -> None:
        while due < end:
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            elif wait < -0.1:
                self.late += 1
            due = max(due, time.monotonic()) + self._every_s
            try:
                await self._press(tab, took)
            except (LookupError, TimeoutError, OSError) as error:
                self._failed.append(f"{self.page.name}: {type(error).__name__}: {error}")
                return

    async def _press(self, tab: Tab, took: Round) -> None:
        if not tab.can_press(self.page.step) and tab.can_press(self.page.anew):
            await tab.press(self.page.anew)
        answer = await tab.press(self.page.step, new_row if self.page.table else new_text)
        took.finished.append(answer.finished)
        if answer.seen is not None:
            took.seen.append(answer.seen)
        if (run := tab.parameters.get("run")) is not None:
            self._pressed[run] += 1

    def pressed(self) -> dict[str, int]:
        """How many times the button of each run was pressed."""
        return dict(self._pressed)

    def problems(self) -> list[str]:
        """What went wrong up to now, in sentences."""
        return self._failed + [f"{self.page.name}: {error}" for tab in self.tabs for error in tab.errors]
