"""How far a learner is with an exercise in this session; another page in between loses nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pages.parts import address

V = TypeVar("V")


class Job(Generic[V]):
    """Work that takes a second or several, in a thread of its own: no press of a button waits for it or ends it.

    Args:
        subject: what it is done with, to tell later whether that is still the same.
        work: done in the thread; it does not raise.
    """

    def __init__(self, subject: str, work: Callable[[], V]) -> None:
        self.subject = subject
        self.result: V | None = None
        self._done = threading.Event()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[], V]) -> None:
        try:
            self.result = work()
        finally:
            self._done.set()

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for it, but no longer than this; whether it is over."""
        return self._done.wait(seconds)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the learner is."""

    hints: int = 0
    """How many were shown."""
    answer: bool = False
    """The answer was shown."""
    checked: bool = False
    """A check was asked for; from then on what is wrong is said as the work goes on."""
    job: Job[Any] | None = None
    """The last check of a program."""
    before: Any = None
    """What the check before that gave, shown until this one is over."""
    number: int = 0
    """Grows when the exercise is begun again, so that its fields are new ones."""


def progress(name: str) -> Progress:
    """How far the learner is with the exercise of this name."""
    return address.draft(_place(name), Progress())


def change(name: str, **changes: Any) -> None:
    """Keep some of it."""
    address.keep_draft(_place(name), replace(progress(name), **changes))


def begin_again(name: str) -> None:
    """Begin the exercise anew: its fields are as they were at first. What was solved stays solved."""
    address.keep_draft(_place(name), Progress(number=progress(name).number + 1))


def key(name: str, what: str) -> str:
    """The key of a field of an exercise."""
    return f"exercise-{name}-{progress(name).number}-{what}"


def _place(name: str) -> str:
    return f"exercise-{name}"
