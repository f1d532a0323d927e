"""What data names by a kind and its parameters, faults and interventions alike: is it one that there is?"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from agent.errors import InputError


def check_kind(what: str, kind: Any, known: Collection[str]) -> None:
    """See that there is such a kind.

    Args:
        what: ``fault`` or ``intervention``, for the message.
        kind: the name that the data gives.
        known: all kinds, in the order of the message.

    Raises:
        InputError: there is no such kind.
    """
    if not isinstance(kind, str) or kind not in known:
        raise InputError(f"unknown {what} {kind!r}; known are {', '.join(known)}")


def check_params(what: str, kind: str, params: Any, takes: Collection[str]) -> None:
    """See that the parameters are a dict, and that this kind takes each of them. Values are the caller's to check.

    Raises:
        InputError: they are no dict, or one is unknown.
    """
    if not isinstance(params, dict):
        raise InputError(f"the parameters of {kind} must be a dict, not {params!r}")
    for name in params:
        if name not in takes:
            words = f"known are {', '.join(takes)}" if takes else "it takes none"
            raise InputError(f"unknown parameter {name!r} of the {what} {kind}; {words}")
