"""The model of the class, as the settings of a run know it: whether it can be chosen, what is missing, and itself."""

from __future__ import annotations

from typing import Any

from agent.errors import InputError
from agent.models.base import Model
from pages.parts.class_rooms import own_class, own_seat, rooms
from pages.parts.words import t


def can_borrow() -> bool:
    """Whether this session sits in a class with a model on loan, or with one that waits to be lent again."""
    klass = own_class()
    return klass is not None and klass.terms is not None


def lent_by() -> str:
    """The id of the class whose model this session would borrow; empty for none."""
    seat = own_seat()
    return seat.klass if seat is not None else ""


def not_lent(klass: str | None = None) -> str | None:
    """Why no model can be borrowed, as a sentence; None: one can.

    Args:
        klass: the class whose model a run was begun with; None: any.
    """
    own = own_class()
    if own is None or own.ended or klass not in (None, own.id):
        return t("The model of the class answers only those who sit in the class.")
    if own.terms is None:
        return t("No model is lent to the class at the moment. Choose a script, or wait for your teacher.")
    if rooms().lendings.of(own.id) is None:
        return t(
            "The model of the class is asleep: the server was started anew, and your teacher has to lend it again."
        )
    return None


def borrow(**options: Any) -> Model:
    """The model of the class in the hands of this session's seat.

    Args:
        options: how it is to be asked; where it is served and with which key is the teacher's alone.

    Raises:
        InputError: none can be borrowed.
    """
    seat, obstacle = own_seat(), not_lent()
    lent = rooms().lendings.of(seat.klass) if seat is not None else None
    if seat is None or lent is None:
        raise InputError(
            obstacle or t("No model is lent to the class at the moment. Choose a script, or wait for your teacher.")
        )
    return lent.borrow(seat.id, **options)


def share_words() -> str | None:
    """What of the model of the class this session has used, as a line; None where none is lent."""
    seat = own_seat()
    lent = rooms().lendings.of(seat.klass) if seat is not None else None
    if seat is None or lent is None:
        return None
    used, terms = lent.meter.used(seat.id), lent.terms
    return t(
        "{model}: {calls} of {most} calls, {tokens} of {limit} tokens used",
        model=terms.model,
        calls=used.calls,
        most=terms.calls,
        tokens=f"{'≈ ' if used.estimated else ''}{used.tokens:,}",
        limit=f"{terms.tokens:,}",
    )
