"""What there is to say about a cost that was computed, in the language of the session."""

from __future__ import annotations

from pages.parts.words import t
from traces import prices


def remark_words(remark: str) -> str:
    """One of the fixed sentences of :mod:`traces.prices`."""
    words = {
        prices.UNKNOWN_MODEL: t("The price of this model is not known; add it to the table of prices."),
        prices.NO_TOKENS: t("The tokens of some steps are not reported; they add nothing."),
        prices.NO_CACHED_PRICE: t("There is no cached price: cached tokens are counted at the price of the prompt."),
        prices.NO_WRITE_PRICE: t("There is no price for writing to the cache: the price of the prompt is taken."),
        prices.LONG_PROMPT: t("A prompt is so long that the maker may ask more than the price that was used."),
        prices.ESTIMATED: t("Some costs are computed from estimated tokens."),
    }
    return words.get(remark, remark)
