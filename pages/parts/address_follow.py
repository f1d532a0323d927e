"""How one looks, in the URL: whose view of a run, the own look where one looks around, and the mode for projectors."""

from __future__ import annotations

import streamlit as st

from pages.parts import address

PROJECTOR = "projector"
"""Key of the switch, and of the URL."""
_PROJECTED = "projected"
_DRAWN = "projected-drawn"
_VIEW = "view"
_OWN = "own"
_AT = "at"


def view() -> str:
    """The view that the URL names; empty for none."""
    return str(st.query_params.get(_VIEW, ""))


def alone() -> bool:
    """Whether the page looks around on its own, and not where the one looks who moves the run."""
    return _OWN in st.query_params or at() is not None


def at() -> int | None:
    """The moment of the own look, from 0; None: how the run stands."""
    return address.looked_at()


def look_alone(at: int | None) -> None:
    """Look around on one's own from now on.

    Args:
        at: the moment, from 0; None: how the run stands.
    """
    _change({_OWN: "1"} if at is None else moment_link(at))


def rejoin() -> None:
    """Look from now on where the one looks who moves the run."""
    _change({})


def view_link(view: str, at: int | None = None) -> dict[str, str]:
    """The parameters of a link to look at a run.

    Args:
        view: its view id.
        at: the moment at which it opens, from 0; None: wherever the one looks who moves it.
    """
    return {_VIEW: view} | moment_link(at)


def moment_link(at: int | None) -> dict[str, str]:
    """The parameter of a link for an earlier moment, from 0; none for how the run stands."""
    return {} if at is None else {_AT: str(at + 1)}


def _change(where: dict[str, str]) -> None:
    """In one go: each change of the URL is a step of the browser's Back."""
    others = {key: value for key, value in st.query_params.to_dict().items() if key not in (_OWN, _AT)}
    st.query_params.from_dict(others | where)


def projected() -> bool:
    """Whether the page is for a projector: chosen in the page, else by the link.

    It is kept apart from the widget, whose state ends whenever a page is drawn without reaching it.
    """
    return bool(st.session_state.setdefault(_PROJECTED, st.query_params.get(PROJECTOR) == "1"))


def choose_projector() -> None:
    """Take over what the switch says."""
    st.session_state[_PROJECTED] = bool(st.session_state[PROJECTOR])


def drawn_projected() -> bool:
    """Whether the drawing before this one was for a projector; from now on this one is the one before."""
    before = bool(st.session_state.get(_DRAWN))
    st.session_state[_DRAWN] = projected()
    return before
