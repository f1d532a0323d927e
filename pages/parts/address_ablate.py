"""The Ablate page in the URL and in the session: the experiment or the design that is open, and where it began.

A design begins from what the URL names (a trace, a scenario, a script) and gets an id of its own, which the URL holds
from then on. The browser's Back may lead to the URL without that id again; the session knows which design began there.
"""

from __future__ import annotations

import streamlit as st

from pages.parts import address
from pages.parts.address_list import LastDeleted, Uploads

PAGE = "pages/ablate.py"
"""The file of the page."""

SOURCES = ("trace", "path", "conversation", "step", "scenario", "script")
"""What of the URL a design can begin from."""

ADD = "ablate-add"
WORKERS = "ablate-workers"
PREVIEW_STEP = "ablate-preview-step"
TABS = "ablate-tabs"
"""Keys of fields."""
TEXT_TAB = "YAML"
"""The tab of a design in which it is text."""

_EXPERIMENT = "experiment"
_DESIGN = "design"
_BEGUN = "ablate-begun"
_SHOWN = "ablate-shown"
_CHOSEN = "ablate-chosen"

DELETED = LastDeleted("ablate-deleted")
UPLOADS = Uploads("ablate-uploads")
"""What the list remembers."""


def experiment_id() -> str | None:
    """The experiment that the URL names. Who opens it has its link, so it is listed from then on."""
    found = st.query_params.get(_EXPERIMENT)
    if found:
        address.opened().add(found)
    return found or None


def open_experiment(experiment: str) -> None:
    """Show this experiment from now on."""
    _go({_EXPERIMENT: experiment})


def design_id() -> str | None:
    """The design that the URL names, or the one that this session began from what it names; None: there is none yet."""
    return st.query_params.get(_DESIGN) or st.session_state.get(_BEGUN, {}).get(_source())


def open_design(design: str) -> None:
    """Show this design from now on."""
    _go({_DESIGN: design})


def begun(design: str) -> None:
    """This design began from what the URL names; a reload finds it by its id."""
    st.session_state.setdefault(_BEGUN, {})[_source()] = design
    st.query_params[_DESIGN] = design


def show_list() -> None:
    """Show the list from now on."""
    _go({})


def source() -> dict[str, str]:
    """What the URL names to begin a design from; empty: nothing."""
    return dict(_source())


def link(**where: str) -> dict[str, str]:
    """The parameters of a link to the page."""
    language = {address.LANGUAGE: address.language()} if address.language() != address.default_language() else {}
    return {**where, **language}


def _source() -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name in SOURCES if (value := st.query_params.get(name)))


def _go(where: dict[str, str]) -> None:
    """Change the URL in one go: each change of it is a step of the browser's Back."""
    gone = (_EXPERIMENT, _DESIGN, *SOURCES)
    others = {key: value for key, value in st.query_params.to_dict().items() if key not in gone}
    st.query_params.from_dict({**others, **where})


# ---- the design at hand ----


def key_field(server: str) -> str:
    """The key of the password field for the server at this address. What stands there is kept nowhere else."""
    return f"ablate-key-{server}"


def editor_id(design: str) -> str:
    """What the text editor knows the text of a design by."""
    return f"design-{design}"


def shown(design: str) -> str | None:
    """The text that this session's editor shows, as far as the page knows."""
    text: str | None = st.session_state.get(_SHOWN, {}).get(design)
    return text


def show(design: str, text: str) -> None:
    """The editor of this session shows this text."""
    st.session_state.setdefault(_SHOWN, {})[design] = text


def chosen(design: str, what: str, count: int, default: int = 0) -> int:
    """The position of the subject, model or condition that is being looked at, of so many."""
    found = int(st.session_state.get(_CHOSEN, {}).get((design, what), default))
    return max(0, min(found, count - 1))


def choose(design: str, what: str, position: int) -> None:
    """Look at another subject, model or condition."""
    st.session_state.setdefault(_CHOSEN, {})[design, what] = position
