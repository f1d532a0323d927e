"""A class on one machine: many tabs that each step a run of their own, as ratios to an empty app under the same tabs.

    python tests/bench/bench_class.py [--tabs N] [--seconds N] [--every S] [--rounds N] [--page run|lesson|follow]

Each tab is a real websocket client in this process, which is not that of the server. It presses Step every two seconds,
Reset where its run has ended, and lets fragments draw themselves again as a browser does. The empty app is a page with
one button and one text. Both servers run all the time; the tabs of one press while those of the other rest, in turn.

Measured for each press: until the page is drawn to its end, and until what the press did is there to see (a row of the
message table; the text of the empty app). In the end every press must be found in the run on disk: a run has come by as
many phases as its button was pressed. With ``--page follow`` one tab steps and all others look at its run: "seen" is
how long after the press each of them shows what it did, and the server's CPU is that of all of them for one press.

Targets, for 40 tabs on two processors: the 90th percentile of a press under 1 s; no press fails or is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pages.parts.view_links import view_id
from tests.bench.class_tabs import PAGES, Followers, Group, Round
from tests.serving import ROOT, Served, phases_on_disk, served

CLASS = ("--server.address", "0.0.0.0", "--server.allowedHosts", "127.0.0.1")
"""As the server of a class is started: others can reach it, so each tab is shown its own runs alone."""

EMPTY = """
import streamlit as st

st.session_state.setdefault("count", 0)

def step():
    st.session_state["count"] += 1

st.button("Step", key="step", on_click=step)
st.text(f"Pressed {st.session_state['count']} times")
"""
TARGET_S = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """What one round of one app gave."""

    presses: int
    finished: Sequence[float]
    seen: Sequence[float]
    cpu_ms: float
    """Of the server, for each press."""
    load: float
    """Of the server: processors in use on average."""
    kilobytes: float
    """Sent for each press."""

    @classmethod
    def of(cls, took: Round, cpu_s: float) -> Line:
        """What the tabs met, and what the server needed for it."""
        count = max(1, len(took.finished))
        return cls(
            presses=len(took.finished),
            finished=took.finished,
            seen=took.seen,
            cpu_ms=cpu_s / count * 1000,
            load=cpu_s / took.seconds,
            kilobytes=took.received / count / 1000,
        )

    def __str__(self) -> str:
        drawn, seen = (_percentiles(each) for each in (self.finished, self.seen))
        return (
            f"{self.presses:5} presses   drawn p50 {drawn[0]:5.0f} p90 {drawn[1]:5.0f} p99 {drawn[2]:5.0f} ms"
            f"   seen p50 {seen[0]:5.0f} p90 {seen[1]:5.0f} p99 {seen[2]:5.0f} ms"
            f"   server {self.cpu_ms:5.1f} ms of CPU and {self.kilobytes:5.1f} kB a press, load {self.load:4.2f}"
        )


def _percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    """The 50th, 90th and 99th in milliseconds."""
    if len(seconds) < 2:
        return (seconds[0] * 1000,) * 3 if seconds else (float("nan"),) * 3
    cuts = statistics.quantiles([each * 1000 for each in seconds], n=100, method="inclusive")
    return cuts[49], cuts[89], cuts[98]


async def measure(server: Served, group: Group, seconds: float) -> Line:
    """One round: the tabs press for so long."""
    before = server.cpu_s()
    took = await group.press(seconds)
    return Line.of(took, server.cpu_s() - before)


async def compare(options: argparse.Namespace, empty: Served, ours: Served, data: Path) -> list[str]:
    """Measure and print; gives what went wrong, in sentences."""
    page = PAGES[options.page]
    own = (ours.url, page, options.tabs, options.every)
    groups = [
        Group(empty.url, PAGES["empty"], options.tabs, options.every),
        Followers(*own, _view_of) if options.page == "follow" else Group(*own),
    ]
    for group, server in zip(groups, (empty, ours), strict=True):
        before = server.cpu_s()
        await group.open()
        each_ms = (server.cpu_s() - before) * 1000 / options.tabs
        print(f"{group.page.name:>7}: opened {options.tabs} tabs, {each_ms:.0f} ms of CPU each")
    lines: list[list[Line]] = [[], []]
    for _ in range(options.rounds):
        for at, (group, server) in enumerate(zip(groups, (empty, ours), strict=True)):
            lines[at].append(await measure(server, group, options.seconds / options.rounds))
            print(f"{group.page.name:>7}: {lines[at][-1]}", flush=True)
    _ratios(lines)
    mb, bare_mb = ours.rss_mb(), empty.rss_mb()
    print(f"memory of the server {mb:.0f} MB, {mb / bare_mb:.2f}x of the empty app's; {ours.threads()} threads")
    print(f"presses that came late, since the one before was not drawn yet: {sum(group.late for group in groups)}")
    wrong = [problem for group in groups for problem in group.problems()]
    wrong += _lost(groups[1], data)
    for group in groups:
        await group.close()
    return wrong


def _view_of(run: str) -> str:
    """Where a run can be looked at; the key of such links lies in the data folder."""
    return f"/follow?view={view_id(run)}"


def _ratios(lines: list[list[Line]]) -> None:
    """Medians of the rounds, ours to the empty app's."""
    figures = {
        "drawn p50": lambda line: _percentiles(line.finished)[0],
        "drawn p90": lambda line: _percentiles(line.finished)[1],
        "drawn p99": lambda line: _percentiles(line.finished)[2],
        "seen p90": lambda line: _percentiles(line.seen)[1],
        "CPU a press": lambda line: line.cpu_ms,
    }
    for name, figure in figures.items():
        low, high = (statistics.median([figure(line) for line in column]) for column in lines)
        print(f"{name:<12} empty {low:7.1f} ms   ours {high:7.1f} ms   {high / low:6.2f}x")
    worst = max(_percentiles(line.finished)[1] for line in lines[1]) / 1000
    print(f"worst p90 of a round {worst:.2f} s (target {TARGET_S} s)")


def _lost(group: Group, data: Path) -> list[str]:
    """Runs that have come by fewer or more phases than their button was pressed."""
    pressed = group.pressed()
    found = {run: phases_on_disk(data, run) for run in pressed}
    there = sum(count or 0 for count in found.values())
    print(f"{sum(pressed.values())} steps pressed in {len(pressed)} runs, {there} phases on disk")
    return [
        f"run {run}: {pressed[run]} presses, {found[run]} phases on disk"
        for run in pressed
        if pressed[run] != found[run]
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; gives the exit code: 1 where a press failed or was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tabs", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=120, help="of pressing, for each of the two apps")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two presses of a tab")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--page", choices=[name for name in PAGES if name != "empty"], default="run")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        data, bare = Path(folder) / "data", Path(folder) / "empty"
        os.environ["AGENT_LAB_DATA"] = str(data)
        bare.mkdir()
        (bare / "empty.py").write_text(EMPTY)
        with (
            served(bare / "empty.py", bare, options=CLASS) as empty,
            served(ROOT / "app.py", data, options=CLASS) as ours,
        ):
            wrong = asyncio.run(compare(options, empty, ours, data))
            if "Traceback" in (told := ours.log.read_text()):
                wrong.append(f"the server said: {told}")
    for problem in wrong:
        print(problem)
    print("nothing failed, nothing was lost" if not wrong else f"{len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
