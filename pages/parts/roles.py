"""Roles and makers: their colour, icon and word. The one place, so that a table, a badge and a chart never disagree.

A role takes the colour and the icon of whoever usually makes it; nothing is told by colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pages.parts.words import t

Colour = Literal["blue", "violet", "orange", "green", "gray", "red"]


@dataclass(frozen=True, slots=True)
class Look:
    """How one role or maker is shown."""

    word: str
    """In the language of the session."""
    icon: str
    """One character that every font has; table cells are drawn on a canvas and know no icon font."""
    colour: Colour
    """A colour of the theme, which has a light and a dark form of it."""

    @property
    def label(self) -> str:
        """Icon and word, as a table cell shows them."""
        return f"{self.icon} {self.word}"

    @property
    def badge(self) -> str:
        """Icon and word as a coloured badge, in Markdown. Only for our own words."""
        return f":{self.colour}-badge[{self.label}]"


def maker_look(maker: str) -> Look:
    """The look of user, model, code or environment; any other word is shown as it is."""
    return _makers().get(maker) or Look(maker, "•", "gray")


def role_look(role: str) -> Look:
    """The look of a message role; an unknown role of an imported file is shown as it is."""
    return _roles().get(role) or Look(role, "•", "gray")


def maker_badge(maker: str) -> str:
    """The badge of a maker; a word of a file is none of ours and stays out of the Markdown."""
    return (_makers().get(maker) or Look(t("unknown maker"), "•", "gray")).badge


def role_badge(role: str) -> str:
    """The badge of a role; a word of a file is none of ours and stays out of the Markdown."""
    return (_roles().get(role) or Look(t("other role"), "•", "gray")).badge


def _makers() -> dict[str, Look]:
    return {
        "user": Look(t("user"), "♟", "blue"),
        "model": Look(t("model"), "✦", "violet"),
        "code": Look(t("code"), "⚙", "orange"),
        "environment": Look(t("environment"), "⚒", "green"),
    }


def _roles() -> dict[str, Look]:
    return {
        "system": Look(t("system"), "⚙", "orange"),
        "developer": Look(t("developer"), "⚙", "orange"),
        "user": Look(t("user"), "♟", "blue"),
        "assistant": Look(t("assistant"), "✦", "violet"),
        "tool": Look(t("tool"), "⚒", "green"),
        "function": Look(t("function"), "⚒", "green"),
    }
