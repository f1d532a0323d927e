"""With what something was made: the versions that a bundle and an experiment name."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib import metadata


def versions(packages: Iterable[str]) -> dict[str, str | None]:
    """Python, the system and these packages; None for one that is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    found["system"] = f"{platform.system()} {platform.machine()}"
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found
