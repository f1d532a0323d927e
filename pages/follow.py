"""The follow page: a run that somebody else moves, live and read-only. Its address does not lead to the run itself."""

from __future__ import annotations

import streamlit as st

from pages.parts import address_follow
from pages.parts.classes import class_line
from pages.parts.follow_head import follow_head
from pages.parts.follow_view import follow_view
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.tabs import tabs
from pages.parts.view_links import find_viewed
from pages.parts.words import t


def page() -> None:
    """Draw the run of the view that the address names."""
    view = address_follow.view()
    run = find_viewed(view) if view else None
    tabs().show(run.id if run is not None else None)
    class_line(joins=False)
    notices()
    if run is not None:
        follow_head(run)
        follow_view(run)
    elif view:
        st.info(t("There is no run to see here any more, or the link is not whole. Ask for a new one."))
    else:
        st.info(t("This page shows a run that somebody else moves. It needs a link that was made under Share."))


ensure_menu()
page()
