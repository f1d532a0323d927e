"""The notebook page."""

from __future__ import annotations

from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.tabs import tabs


def page() -> None:
    """Draw the page."""
    tabs().show(None)
    notices()


ensure_menu()
page()
