"""What the parts of the design form share: one of several to look at, and fields that hold what the design says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.parts import address, address_ablate
from pages.parts.words import t


def heading(words: str, help: str | None = None) -> None:
    """The name of a part of the form."""
    st.markdown(f"**{words}**", help=help)


def chooser(
    design: str,
    what: str,
    names: Sequence[str],
    *,
    title: str,
    label: str,
    add: Callable[[], None],
    remove: Callable[[int], None],
) -> int:
    """Draw the line above a part of which there may be several; gives the position of the one to show.

    Args:
        design: its id.
        what: names the part: ``subjects`` or ``models``.
        names: of all there are.
        title: of the part.
        label: of the choice, for who does not see it.
        add: called to add another one.
        remove: called with the position of the one to take away; the last one stays.
    """
    at = address_ablate.chosen(design, what, len(names))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"ablate-{what}-line"):
        st.markdown(f"**{title}**", width="content")
        if len(names) > 1:
            key = f"ablate-{what}-which"
            address.put(key, at)
            st.selectbox(
                label,
                range(len(names)),
                format_func=lambda position: names[position] if position < len(names) else "",
                key=key,
                label_visibility="collapsed",
                width=220,
                on_change=lambda: address_ablate.choose(design, what, int(address.setting(key) or 0)),
            )
            st.button(
                t("Remove"), icon=":material/close:", type="tertiary", key=f"ablate-{what}-remove", on_click=remove,
                args=(at,),
            )  # fmt: skip
        st.button(t("Add another"), icon=":material/add:", type="tertiary", key=f"ablate-{what}-add", on_click=add)
    return at


def field(key: str, value: Any, changed: Callable[[Any], None]) -> dict[str, Any]:
    """The arguments of a field that shows what the design says and writes what it is changed to.

    Args:
        key: of the widget.
        value: what the design says.
        changed: called with the new value.
    """
    address.put(key, value)
    return {"key": key, "on_change": lambda: changed(address.setting(key))}


def free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with a number where it is taken already."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name} {number}", number + 1
    return free
