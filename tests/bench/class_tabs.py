"""What the tabs of a class do: open a page, press its button every few seconds, begin anew where a run has ended."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from streamlit.proto.Element_pb2 import Element

from tests.bench.class_client import Seen, Tab


def new_row(now: Element, before: Element | None) -> bool:
    """The message table has changed: a row more, or the mark of what the last phase added elsewhere."""
    if now.WhichOneof("type") != "dataframe":
        return False
    return before is None or before.dataframe.arrow_data.data != now.dataframe.arrow_data.data


def new_words(now: Element, before: Element | None) -> bool:
    """A line of the status has changed: those who follow see by it that the run has gone on."""
    return now.WhichOneof("type") == "markdown" and before is not None and before.markdown.body != now.markdown.body


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
    first: str = ""
    """How the key of a button begins that is pressed before, where there is one: the answer to a question."""
    seen: Seen = new_row
    """Says by which element a person sees what a press did."""


PAGES = {
    page.name: page
    for page in (
        Page("empty", "/", seen=new_text),
        Page("run", "/"),
        Page("lesson", "/learn?lesson=two_sums", first="answer-"),
        Page("follow", "/?scenario=noop&steps=50&guards=off", seen=new_words),
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
        await _still(tab)
        if not tab.can_press(self.page.step) and tab.can_press(self.page.anew):
            await tab.press(self.page.anew)
        if self.page.first and (key := tab.key_of(self.page.first)) is not None:
            await tab.press(key)
        answer = await tab.press(self.page.step, self.page.seen)
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


async def _still(tab: Tab, timeout_s: float = 60.0) -> None:
    """Wait until the run of a tab rests, as a person does: a step that is asked for in its last phase has no phase."""
    async with asyncio.timeout(timeout_s):
        while tab.can_press("pause"):
            await asyncio.sleep(0.02)


class Followers(Group):
    """A class that looks at the run of its teacher: the first tab steps, all others show the run live.

    Args:
        server: its address.
        page: where the teacher steps.
        tabs: how many, the teacher's among them.
        every_s: seconds between two presses.
        view_of: gives the link of a run for looking alone, from its id.
    """

    def __init__(self, server: str, page: Page, tabs: int, every_s: float, view_of: Callable[[str], str]) -> None:
        super().__init__(server, page, tabs, every_s)
        self._view_of = view_of

    async def open(self) -> None:
        """Open the teacher's tab, begin its run, and open the others by its link."""
        teacher, *others = self.tabs
        await teacher.open()
        await self._press(teacher, Round(0))
        for tab in others:
            tab.path = self._view_of(teacher.parameters["run"])
        for at in range(0, len(others), 4):
            await asyncio.gather(*(tab.open() for tab in others[at : at + 4]))

    async def press(self, seconds: float) -> Round:
        """Step for so long. Seen is what the others see, and when; what one of them does not see in time is told."""
        teacher, *others = self.tabs
        took, before, end = Round(seconds), sum(tab.received for tab in self.tabs), time.monotonic() + seconds
        while (due := time.monotonic()) < end:
            for tab in others:
                tab.watch(self.page.seen)
            began = time.perf_counter()
            own = Round(0)
            await self._press(teacher, own)
            took.finished += own.finished
            await asyncio.sleep(max(0.0, due + self._every_s - time.monotonic()))
            took.seen += [tab.seen_at - began for tab in others if tab.seen_at is not None]
            if blind := sum(tab.seen_at is None for tab in others):
                self._failed.append(f"follow: {blind} of {len(others)} did not see a step within {self._every_s:g} s")
        took.received = sum(tab.received for tab in self.tabs) - before
        return took
