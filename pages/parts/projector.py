"""The projector mode: large type and strong contrast, chosen in the side bar, kept in the URL."""

from __future__ import annotations


def projector_switch() -> None:
    """Draw the switch in the side bar, and what it changes."""
