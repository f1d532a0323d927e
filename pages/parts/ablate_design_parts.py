"""What the parts of the design form share: one of several to look at, and fields that hold what the design says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts import address, address_ablate
from pages.parts.words import t


def heading(words: str, help: str | None = None) -> None:
    """The name of a part of the form."""
    st.markdown(f"**{words}**", help=help)


@dataclass(frozen=True, slots=True)
class Several:
    """A part of the form of which a design may have several: its subjects, or its models."""

    design: str
    """The id of the design."""
    what: str
    """Names the part: ``subjects`` or ``models``."""
    names: Sequence[str]
    """Of all there are."""
    kinds: Mapping[str, str]
    """The kinds of which each may be, and their words."""
    kind_of: Callable[[int], str]
    """The kind of the one at a position."""
    set_kind: Callable[[int, str], None]
    add: Callable[[], None]
    remove: Callable[[int], None]
    """Takes the one at a position away; the last one stays."""


def chooser(several: Several, *, title: str, which: str, kind: str) -> int:
    """Draw the line above such a part: which one is shown, of which kind it is, and more; gives its position.

    Args:
        several: the part.
        title: of the part.
        which: the label of the choice between several, for who does not see it.
        kind: the same of the kinds.
    """
    what, names = several.what, several.names
    at = address_ablate.chosen(several.design, what, len(names))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"ablate-{what}-line"):
        st.markdown(f"**{title}**", width="content")
        st.segmented_control(
            kind,
            list(several.kinds),
            format_func=several.kinds.__getitem__,
            required=True,
            label_visibility="collapsed",
            **field(f"ablate-{what}-kind", several.kind_of(at), lambda chosen: several.set_kind(at, chosen)),
        )
        key = f"ablate-{what}-add"
        st.button(t("Add another"), icon=":material/add:", type="tertiary", key=key, on_click=several.add)
    if len(names) > 1:
        _which(several, at, which)
    return at


def _which(several: Several, at: int, label: str) -> None:
    """The choice between several, on a line of its own: with one subject and with two the line above is the same."""
    what, names = several.what, several.names
    key = f"ablate-{what}-which"
    address.put(key, at)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.selectbox(
            label,
            range(len(names)),
            format_func=lambda position: names[position] if position < len(names) else "",
            key=key,
            label_visibility="collapsed",
            width=260,
            on_change=lambda: address_ablate.choose(several.design, what, int(address.setting(key) or 0)),
        )
        st.button(
            t("Remove"),
            icon=":material/close:",
            type="tertiary",
            key=f"ablate-{what}-remove",
            on_click=several.remove,
            args=(at,),
        )


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
