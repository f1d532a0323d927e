"""Long lists in pages, so that the browser is never sent more than it can draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

T = TypeVar("T")


def page_of(items: Sequence[T], size: int, *, key: str) -> Sequence[T]:
    """Draw the choice of a page and give the items of the chosen one; where all fit, there is nothing to choose.

    Args:
        items: all there are.
        size: how many of them a page has.
        key: names the choice.
    """
    if len(items) <= size:
        return items
    first = (st.pagination(-(-len(items) // size), key=key) - 1) * size
    return items[first : first + size]
