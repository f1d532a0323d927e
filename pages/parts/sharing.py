"""The two links of a run: one to look at it, one to move it."""

from __future__ import annotations

from pages.parts.runs import OpenRun


def share_menu(run: OpenRun) -> None:
    """Draw the menu with both links.

    Args:
        run: the open run.
    """
