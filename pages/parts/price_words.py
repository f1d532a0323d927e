"""Amounts of money, and the remarks on computed costs in the language of the session."""

from __future__ import annotations

from pages.parts.words import t
from traces import prices


def dollars(cost: float) -> str:
    """An amount of money."""
    return f"$ {cost:,.4f}" if cost < 1 else f"$ {cost:,.2f}"


def cost_note(note: str) -> str:
    """One of the fixed sentences of :mod:`traces.prices`."""
    words = {
        prices.UNKNOWN_MODEL: t("the price of this model is not known"),
        prices.NO_TOKENS: t("its tokens are not reported"),
        prices.NO_CACHED_PRICE: t("no cached price: cached tokens are counted at the price of the prompt"),
        prices.NO_WRITE_PRICE: t(
            "no price for writing to the cache: such tokens are counted at the price of the prompt"
        ),
        prices.LONG_PROMPT: t("long prompt: the maker may ask more than the price that was used"),
        prices.ESTIMATED: t("computed from estimated tokens"),
    }
    return words[note]
