"""The class benchmark itself, with a few tabs for a few seconds: it runs, and nothing fails or is lost."""

from __future__ import annotations

import pytest

from tests.bench import bench_class


@pytest.mark.parametrize("name", ["run", "lesson", "follow"])
def test_a_small_class(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_LAB_DATA", "")  # put back afterwards
    options = ["--tabs", "3", "--seconds", "4", "--every", "1", "--rounds", "1", "--page", name]
    assert bench_class.main(options) == 0
    told = capsys.readouterr().out
    assert "nothing failed, nothing was lost" in told
    assert "CPU a press" in told
