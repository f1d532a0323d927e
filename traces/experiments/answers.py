"""When two final answers are the same."""

from __future__ import annotations

import unicodedata


def plain(answer: str) -> str:
    """What of an answer counts: not its white space, its upper and lower case, and the punctuation at its end."""
    words = " ".join(unicodedata.normalize("NFKC", answer).casefold().split())
    while words and (unicodedata.category(words[-1]).startswith("P") or words[-1].isspace()):
        words = words[:-1]
    return words
