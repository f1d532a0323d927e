"""Fragments that the browser asks for again and again, and what may go wrong between two drawings of a page.

What a browser asked for just before a new drawing came to it is asked of that one. On a busy server that does harm: the
framework starts a new thread for it and forgets whatever the thread of the drawing still had to say, so the end of the
drawing never reaches the browser. It lets go of what is asked of a fragment that is no more. So a fragment that polls
is another one in each drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

_drawings = count(1)


def of_this_drawing(look: Callable[[], None]) -> Callable[[], None]:
    """Below ``st.fragment``: what is asked of the fragment of an earlier drawing is not asked of this one.

    The framework tells fragments apart by the name of their function and their place on the page.
    """
    look.__qualname__ += f"-{next(_drawings)}"
    return look
