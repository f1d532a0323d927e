"""From a page to another one with an address, and back by the browser's Back.

On the way out the framework first writes the new address beside the path of the old page, and only then the new path.
That is a step of Back of its own, at which the old page would find nothing that it knows. So the session remembers what
it showed when it was left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import streamlit as st

_LEFT = "pages-left"


def leave(page: str, to: str, query: Mapping[str, str]) -> NoReturn:
    """Go to another page.

    Args:
        page: the file of the page that is left.
        to: the file of the other one.
        query: the parameters of its address.
    """
    left = st.session_state.setdefault(_LEFT, {})
    left[page, frozenset(query.items())] = st.query_params.to_dict()
    st.switch_page(to, query_params=query)


def came_back(page: str) -> None:
    """Show what the page showed when it was left, where the address is one that only leaving it has written."""
    here = st.query_params.to_dict()
    for (left, query), shown in st.session_state.get(_LEFT, {}).items():
        if left == page and query <= here.items() and not shown.keys() <= here.keys():
            st.query_params.from_dict(shown)
            return
