"""The menu: the pages of the app in their order."""

from __future__ import annotations

import zlib
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from pages.parts import address, address_learn
from pages.parts.projector import projector_look
from pages.parts.words import t

_TRACES = ("traces", "list")
"""The two addresses of the Traces page."""
_SPOKEN = {"en": "en", "zh": "zh-CN"}
"""How a browser names the languages of the app."""


def page_settings() -> None:
    """Name the app. Before anything else, or the browser would fetch the icon of a page from elsewhere for its tab."""
    st.set_page_config(page_title="Agent Loop Lab", page_icon="🔁", layout="wide", initial_sidebar_state=276)


def menu() -> Page:
    """Draw the menu and give the page that the address names."""
    address.note_menu()
    address.show_runs_of("")  # a lesson says so itself, when it is drawn
    st.html(Path(__file__).with_name("page.css"))
    projector_look()
    page = st.navigation(
        [
            *_learn(),
            *_run(),
            *_traces(),
            st.Page("pages/scripts.py", title=t("Scripts"), icon=":material/theaters:", url_path="scripts"),
            st.Page("pages/ablate.py", title=t("Ablate"), icon=":material/science:", url_path="ablate"),
            _beside("replay", t("Replay"), ":material/movie:"),
            _beside("compare", t("Compare"), ":material/compare_arrows:"),
            _beside("follow", t("Follow"), ":material/visibility:"),
            _beside("notebook", t("Notebook"), ":material/book_2:"),
            _beside("classroom", t("Class"), ":material/groups:"),
        ],
        position="top",
    )
    if page.url_path in _TRACES and address.what_is_read():
        st.html(Path(__file__).with_name("reading.css"))
    return page


def _beside(name: str, title: str, icon: str) -> Page:
    """A page that no entry of the menu leads to; others link to it."""
    return st.Page(f"pages/{name}.py", title=title, icon=icon, url_path=name, visibility="hidden")


def _learn() -> list[Page]:
    """The Learn page under two addresses, for the same reason as :func:`_traces`: its entry leads to the course."""
    inside = bool(address_learn.what_is_open())
    here = "course" if address.path().endswith("/course") else "learn"
    other = "learn" if here == "course" else "course"
    return [
        st.Page(
            "pages/learn.py",
            title=t("Learn"),
            icon=":material/school:",
            url_path=path,
            visibility="visible" if path == (other if inside else here) else "hidden",
        )
        for path in ("learn", "course")
    ]


def _run() -> list[Page]:
    """The Run page at the root, and under its name for whoever types that; the menu shows the address at hand."""
    named = address.path().endswith("/run")
    return [
        st.Page(
            "pages/run.py",
            title=t("Run"),
            icon=":material/play_circle:",
            url_path=path,
            default=not path,
            visibility="visible" if named == bool(path) else "hidden",
        )
        for path in ("", "run")
    ]


def _traces() -> list[Page]:
    """The Traces page under two addresses, of which the menu shows one.

    A press on the entry of the page that is open keeps its URL, so while something is read the entry is the other
    address: it leads to the list. Streamlit marks only the entry of the page that is open, so a style sheet marks it.
    """
    here = "list" if address.path().endswith("/list") else "traces"
    other = "traces" if here == "list" else "list"
    shown = other if address.what_is_read() else here
    return [
        st.Page(
            "pages/traces.py",
            title=t("Traces"),
            icon=":material/receipt_long:",
            url_path=path,
            visibility="visible" if path == shown else "hidden",
        )
        for path in _TRACES
    ]


def ensure_menu() -> None:
    """First line of every page: begin again with app.py where the page was run without it.

    Streamlit takes each file of a folder named ``pages`` for a page of its own until ``st.navigation`` was called once
    in the server. A link to a page that is the first request after a start would show it bare, without menu and
    language.
    """
    if not address.menu_noted():
        page_settings()
        menu()
        st.rerun()


def let_go_of_fields() -> None:
    """Give the keys back to the buttons after a choice with the mouse: a script of our own, with no data in it."""
    with st.sidebar:  # the last thing there, where its place is not seen
        st.html(Path(__file__).with_name("focus.html"), unsafe_allow_javascript=True)


def tell_language() -> None:
    """Say in which language the page is, so that a screen reader speaks it right: the framework always says English."""
    with st.container(key="spoken"):  # the style sheet gives it no place
        st.html(
            f"<script>\ndocument.documentElement.lang = '{_SPOKEN[address.language()]}';\n</script>",
            unsafe_allow_javascript=True,
        )


def begin_at_top() -> None:
    """Show the page from its top when it comes to show something else; the browser keeps the place of what was before.

    The script is run anew when its text is another one, so the text holds a number for what is shown.
    """
    what = f"{address.path()} {address.what_is_read()} {address_learn.what_is_open()}"
    shown = zlib.crc32(what.encode(errors="replace"))
    script = f"document.querySelector('[data-testid=\"stMain\"]').scrollTop = 0; // {shown}"
    with st.container(key="begin"):  # the style sheet gives it no place
        st.html(f"<script>\n{script}\n</script>", unsafe_allow_javascript=True)
