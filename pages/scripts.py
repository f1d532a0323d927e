"""The Scripts page: the list of scripts, or one of them with its text, its mistakes and a preview of its run."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.errors import AgentError
from pages.parts import address_scripts
from pages.parts.leaving import came_back
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.script_bench import script_bench
from pages.parts.script_list import script_list, upload_field
from pages.parts.tabs import tabs
from pages.parts.words import t


def page() -> None:
    """Draw the script that the address names, else the list."""
    tabs().show(None)
    st.html(Path(__file__).parent / "parts" / "scripts.css")
    came_back(address_scripts.PAGE)
    upload_field()
    notices()
    script = address_scripts.script_id()
    if script is None:
        script_list()
        return
    address_scripts.open_script(script)
    try:
        script_bench(script)
    except (AgentError, OSError) as error:
        st.error(t("This script cannot be opened."))
        st.text(str(error))


ensure_menu()
page()
