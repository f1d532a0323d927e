"""The scripts that come with the project."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent.scripts import source

SCENARIOS = Path(__file__).parent.parent / "scenarios"
"""The folder that they lie in."""


@dataclass(frozen=True, slots=True)
class ScenarioInfo:
    """A script that comes with the project, in the few words of a list."""

    name: str
    """The name under which :func:`~agent.scripts.load_script` and the command line know it."""
    title: str
    summary: str
    """One sentence: what there is to see."""
    path: Path
    title_zh: str = ""
    summary_zh: str = ""


def scenarios() -> list[ScenarioInfo]:
    """All of them, by name."""
    return list(_scenarios())


@cache
def _scenarios() -> tuple[ScenarioInfo, ...]:
    infos = []
    for path in sorted(SCENARIOS.glob("*.yaml")):
        data = source.read(source.text_of(path), path.name)
        words = {key: data.get(key, "") for key in ("title", "summary", "title_zh", "summary_zh")}
        infos.append(ScenarioInfo(name=path.stem, path=path, **words))
    return tuple(infos)
