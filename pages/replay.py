"""The replay of a trace: walk it moment by moment as in the stepper, and go on from any of them. Nothing is called."""

from __future__ import annotations

import streamlit as st

from agent.errors import AgentError
from pages.parts import address, address_replay
from pages.parts.leaving import came_back, leave
from pages.parts.library import title_words
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.player import Reel
from pages.parts.player_bar import keys_button
from pages.parts.player_source import named_reel
from pages.parts.player_view import player
from pages.parts.tabs import tabs
from pages.parts.words import t

_PAGE = "pages/replay.py"


def page() -> None:
    """Draw the replay of what the address names."""
    if (run_id := address_replay.gone_to()) is not None:
        address_replay.arrived()
        leave(_PAGE, "pages/run.py", address.run_link(run_id))
    came_back(_PAGE)
    tabs().show(None)
    notices()
    try:
        reel = named_reel()
        _head(reel)
        if reel is None:
            st.caption(t("Choose a trace under Traces, then press Replay."))
        else:
            player(reel)
    except (AgentError, OSError) as error:
        st.error(t("This trace cannot be replayed."))
        st.text(str(error))


def _head(reel: Reel | None) -> None:
    """The way back, and what is replayed. A title is data, so it is plain text."""
    with st.container(horizontal=True, vertical_alignment="center", key="trace-line"):
        back = address_replay.link() if reel is not None else None
        label = t("Back to the trace") if reel is not None else t("All traces")
        st.page_link("pages/traces.py", label=label, icon=":material/arrow_back:", query_params=back)
        if reel is not None:
            st.text(title_words(reel.trace.title), width="content")
            st.markdown(f":gray-badge[:material/movie: {t('Replay: nothing is called')}]", width="content")
            keys_button()


ensure_menu()
page()
