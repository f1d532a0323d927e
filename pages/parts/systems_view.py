"""The five systems side by side: one task, five ways to run it, and which lines of our loop are which idea."""

from __future__ import annotations


def systems_view() -> None:
    """Draw them."""
