"""Identifiers that this program makes. All come from the system's secure source: run ids must not be guessable."""

from __future__ import annotations

import os
import string
from collections.abc import Container

_CALL_ALPHABET = string.ascii_letters + string.digits


def new_trace_id() -> str:
    """Twelve hexadecimal digits."""
    return os.urandom(6).hex()


def new_call_id(taken: Container[str] = ()) -> str:
    """Nine letters and digits, the one form of a call id that every provider accepts, Mistral included.

    Args:
        taken: ids that the new one must not repeat.
    """
    while True:
        call_id = "".join(_CALL_ALPHABET[byte % 62] for byte in os.urandom(9))
        if call_id not in taken:
            return call_id
