"""Which tests run: those that need something a clone does not have are taken out unless it is there."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("any machine")

_NEEDS = {"samples": "AGENT_LAB_SAMPLES", "live": "OPENAI_BASE_URL"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect opt-in tests whose environment variable is not set."""
    missing = {marker for marker, variable in _NEEDS.items() if not os.environ.get(variable)}
    left_out = [item for item in items if missing & {marker.name for marker in item.iter_markers()}]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
