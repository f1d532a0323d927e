"""The Ablate page: the experiments, one of them with what it found, or a design that is being written."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.errors import AgentError
from pages.parts import address_ablate
from pages.parts.ablate_design import design_bench
from pages.parts.ablate_design_begin import design_from
from pages.parts.ablate_list import experiment_list, upload_field
from pages.parts.ablate_run import experiment_view
from pages.parts.leaving import came_back
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.tabs import tabs
from pages.parts.words import t


def page() -> None:
    """Draw what the address names: an experiment, a design, what a design begins from; else the list."""
    tabs().show(None)
    st.html(Path(__file__).parent / "parts" / "ablate.css")
    came_back(address_ablate.PAGE)
    upload_field()
    notices()
    try:
        if (experiment := address_ablate.experiment_id()) is not None:
            experiment_view(experiment)
        elif (design := address_ablate.design_id()) is not None:
            design_bench(design)
        elif source := address_ablate.source():
            design = design_from(source)
            address_ablate.begun(design)
            design_bench(design)
        else:
            experiment_list()
    except (AgentError, OSError) as error:
        st.error(t("This cannot be opened."))
        st.text(str(error))


ensure_menu()
page()
