"""The two links of a run: one to look at it, one to move it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.parts import address, address_class, address_follow, address_learn
from pages.parts.chosen_script import lesson_of
from pages.parts.data import private
from pages.parts.runs import OpenRun
from pages.parts.view_links import view_id
from pages.parts.words import t

_OWN = ("seat", "projector")
"""What stays in the addresses of this browser, and is for nobody else."""


def share_menu(run: OpenRun) -> None:
    """Draw the menu with both links. They lead to the moment that is looked at, also within a lesson.

    Args:
        run: the open run.
    """
    menu = st.popover(t("Share"), icon=":material/share:", type="tertiary", key="share", on_change="rerun")
    if not menu.open:
        return
    at = address.looked_at()
    with menu:
        st.markdown(f":material/visibility: **{t('To look on')}**")
        st.caption(t("Whoever has this link sees the run live and can look around in it, but cannot move it."))
        st.code(full_url("follow", address_follow.view_link(view_id(run.id), at)), language=None, wrap_lines=True)
        st.markdown(f":material/touch_app: **{t('To move the run')}**")
        st.caption(t("Whoever has this link can do everything that you can do here. Give it only to people you trust."))
        st.code(full_url(*_control(run, at)), language=None, wrap_lines=True)
        if private():
            st.caption(t("Only this computer can reach this server. The README says how a class can reach it."))


def _control(run: OpenRun, at: int | None) -> tuple[str, dict[str, str]]:
    """Page and parameters of the link to the run itself: where it belongs to a lesson, to that."""
    named = lesson_of(run.setup.scenario)
    where = address.run_link(run.id) | address_follow.moment_link(at)
    if named is None or not address_learn.lesson():
        return "run", where
    link = address_learn.lesson_link(named[0], named[1]) | where
    return "learn", {key: value for key, value in link.items() if key != address_class.SEAT}


def full_url(page: str, query: Mapping[str, str]) -> str:
    """The full address of a page of this server, as this browser reaches it."""
    here = urlsplit(st.context.url or "")
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    path = f"{base}/{page}" if base else page
    return f"{here.scheme}://{here.netloc}/{path}?{urlencode(query)}"
