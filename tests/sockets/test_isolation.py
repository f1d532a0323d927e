"""Many tabs of one server, over its own protocol: what each gets, what they leave behind, and what nothing can lose.

No browser draws here: what a server sends is read as it was on the wire.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.bench.bench_class import CLASS
from tests.bench.class_client import Tab
from tests.bench.class_tabs import PAGES, Group
from tests.bench.class_upload import upload
from tests.serving import ROOT, Served, phases_on_disk, served

PATHS = ("/", "/learn", "/traces", "/list", "/scripts", "/ablate", "/replay", "/compare", "/follow", "/classroom")
OFTEN = 40
MOST_MB, MOST_FILES, MOST_THREADS = 12.0, 12, 6
"""Room for noise after so many tabs; each of them took 3 files, and 200 kB of memory, while it was there."""


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Served]:
    """A server that others can reach, as that of a class."""
    with served(ROOT / "app.py", tmp_path, options=(*CLASS, "--server.disconnectedSessionTTL", "1")) as server:
        yield server


async def typed(tab: Tab, kind: str, key: str, text: str) -> None:
    field = next(each for each in tab.elements(kind) if each.id.endswith(f"-{key}"))
    await tab.change(WidgetState(id=field.id, string_value=text))


async def begun(server: str, steps: int = 1, path: str = "/") -> Tab:
    """A tab with a run of its own that has come by so many phases."""
    tab = await Tab(server, path).open()
    for _ in range(steps):
        await moved(tab)
    return tab


async def moved(tab: Tab) -> None:
    await tab.press("step")
    await until(lambda: tab.can_press("step") and not tab.can_press("pause"))
    await tab.rest()


async def until(holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not holds():
            await asyncio.sleep(0.02)


def on_the_wire(tabs: list[Tab]) -> bytes:
    return b"".join(frame for tab in tabs for frame in tab.frames)


def test_no_tab_is_sent_what_another_one_typed_uploaded_or_began(public: Served) -> None:
    key, task, system = "sk-planted-0123456789abcdef", "a planted task", "a planted system text"
    name, words = "planted-file.json", "planted words of an upload"
    file = json.dumps({"messages": [{"role": "user", "content": words}, {"role": "assistant", "content": "yes"}]})

    async def scenario() -> tuple[list[Tab], list[Tab], list[bytes]]:
        others = [await Tab(public.url, path, keep_frames=True).open() for path in PATHS]
        writer = await Tab(public.url, "/?scenario=own", keep_frames=True).open()
        for kind, field, text in (
            ("text_area", "task", task),
            ("text_area", "system", system),
            ("text_input", "model_name", "planted-model"),
            ("text_input", "base_url", "http://127.0.0.1:9/planted"),
            ("text_input", "api_key", key),
        ):
            await typed(writer, kind, field, text)
        await moved(writer)
        sender = await Tab(public.url, "/traces", keep_frames=True).open()
        await upload(sender, name, file.encode())
        own = [writer, sender]
        others += [await Tab(public.url, path, keep_frames=True).open() for path in PATHS]
        others += [await tab.reload() for tab in others[:3]]
        run = writer.parameters["run"]
        others.append(await Tab(public.url, f"/follow?view={run}", keep_frames=True).open())
        secrets = [key, task, system, "planted-model", "/planted", name, words]
        for tab in (*own, *others):
            await tab.close()
        return own, others, [each.encode() for each in secrets] + [run.encode(), sender.parameters["trace"].encode()]

    own, others, secrets = asyncio.run(scenario())
    assert [error for tab in (*own, *others) for error in tab.errors] == []
    seen, leaked = on_the_wire(own), on_the_wire([tab for tab in others if "view=" not in tab.path])
    assert [secret for secret in secrets[1:] if secret not in seen] == []
    assert [secret for secret in secrets if secret in leaked] == []
    assert not any(secret in on_the_wire(others[-1:]) for secret in secrets[:-2])
    assert key not in public.log.read_text()


def test_tabs_that_have_left_leave_nothing_behind(public: Served) -> None:
    async def come_and_go(count: int) -> None:
        for at in range(0, count, 5):
            tabs = await asyncio.gather(*(Tab(public.url, path).open() for path in PATHS[: min(5, count - at)]))
            await asyncio.gather(*(tab.close() for tab in tabs))
        await asyncio.sleep(1.5)  # how long the server waits for them
        await (await Tab(public.url).open()).close()  # it lets go of old ones when there is a new one
        await asyncio.sleep(1.5)

    asyncio.run(come_and_go(OFTEN))
    before = (public.files(), public.threads(), public.rss_mb())
    asyncio.run(come_and_go(OFTEN))
    files, threads, mb = public.files(), public.threads(), public.rss_mb()
    assert files <= before[0] + MOST_FILES
    assert threads <= before[1] + MOST_THREADS
    assert mb <= before[2] + MOST_MB


def test_a_socket_lost_in_a_run_finds_it_again_by_itself_and_by_f5(public: Served) -> None:
    async def scenario() -> None:
        tab = await begun(public.url, 3)
        run, session = tab.parameters["run"], tab.session
        await tab.drop()
        await tab.open()
        assert (tab.session, tab.parameters["run"]) == (session, run)
        await moved(tab)
        await tab.press("walk")
        await tab.drop()
        fresh = await tab.reload()
        assert fresh.session != session
        assert fresh.parameters["run"] == run
        await until(lambda: fresh.can_press("pause") or fresh.can_press("reset"))
        assert fresh.elements("dataframe")
        await fresh.close()
        assert tab.errors + fresh.errors == []

    asyncio.run(scenario())


def test_killed_under_load_every_run_comes_back_with_all_its_phases(tmp_path: Path) -> None:
    async def load(server: Served) -> Group:
        group = Group(server.url, PAGES["run"], 6, 0.4)
        await group.open()
        pressing = asyncio.create_task(group.press(60))
        await asyncio.sleep(4)
        server.process.kill()
        await asyncio.sleep(0.5)
        pressing.cancel()
        return group

    async def again(server: Served, runs: list[str]) -> dict[str, Any]:
        tabs = {run: await Tab(server.url, f"/?run={run}").open() for run in runs}
        for tab in tabs.values():
            await tab.close()
        return {run: (tab.parameters.get("run"), tab.errors) for run, tab in tabs.items()}

    with served(ROOT / "app.py", tmp_path, options=CLASS) as server:
        group = asyncio.run(load(server))
    pressed = group.pressed()
    assert len(pressed) >= 6
    found = {run: phases_on_disk(tmp_path, run) for run in pressed}
    assert {run: found[run] for run in pressed if found[run] not in (pressed[run], pressed[run] + 1)} == {}
    with served(ROOT / "app.py", tmp_path, options=CLASS) as server:
        assert asyncio.run(again(server, list(pressed))) == {run: (run, []) for run in pressed}
    assert {run: phases_on_disk(tmp_path, run) for run in pressed} == found


def test_what_was_asked_of_an_earlier_drawing_asks_nothing_of_a_new_one(public: Served) -> None:
    async def scenario() -> None:
        tab = await begun(public.url)
        await tab.press("walk")
        await until(lambda: bool(tab._timers))
        (fragment,) = tab._timers
        await tab.press("pause")
        await until(lambda: not tab.can_press("pause"))
        await asyncio.sleep(0.5)
        before = tab.received
        await tab._ask(fragment=fragment)
        await asyncio.sleep(0.5)
        assert tab.received == before
        await moved(tab)
        await tab.close()

    asyncio.run(scenario())
