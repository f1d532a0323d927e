"""The replay in the URL: the moment it looks at, when it began to play from there, and how fast it goes.

Where it stands while it plays follows from these and the time alone. So a reload goes on at the right place, a second
tab with the same link shows the same, and playing leaves one step of the browser's Back and not hundreds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import streamlit as st

from pages.parts import address
from traces.pacing import Pace

FIXED_S = (0.5, 1.0, 2.0, 4.0)
"""Seconds a phase, to choose from."""
TIMES = (1, 2, 5, 10, 60)
"""How many times faster than recorded, to choose from."""
CUTS_S = (2, 5, 10, 30)
"""Where a long wait can be cut, in seconds, to choose from."""

_AT = "at"
_READ = ("trace", "path", "as", "conversation")
"""What names a conversation in the URL of every page that reads one; see :mod:`pages.parts.address`."""
_SINCE = "since"
_TEMPO = "tempo"
_CUT = "cut"
_USUAL = "1s"
_ENDED = "replay-ended"
_SLIDERS = "replay-slider"
_COUNT = "replay-slider-count"
_KEPT = 8
"""Sliders whose last value is known."""
_CONTINUED = "replay-continued"
_STALE_S = 10.0
_DIGITS = 15
"""Digits of a time in milliseconds, for thousands of years to come."""


def tempos() -> list[str]:
    """All paces, as the URL names them: ``1s`` for a second a phase, ``5x`` for five times as fast as recorded."""
    return [f"{seconds:g}s" for seconds in FIXED_S] + [f"{times}x" for times in TIMES]


def tempo() -> str:
    """The pace that the URL names."""
    found = st.query_params.get(_TEMPO)
    return found if found in tempos() else _USUAL


def cut() -> int:
    """Where the URL cuts long waits, in seconds; 0: nowhere."""
    found = st.query_params.get(_CUT, "")
    return int(found) if found in map(str, CUTS_S) else 0


def pace() -> Pace:
    """The pace that the URL asks for."""
    number = float(tempo()[:-1])
    if tempo().endswith("s"):
        return Pace(fixed_s=number)
    return Pace(fixed_s=None, times=number, longest_s=cut() or None)


def at(count: int) -> int:
    """The moment that the URL names, from 0 (there from 1), of so many: where it rests, or where it began to play."""
    found = address.looked_at()
    return 0 if found is None else min(found, count - 1)


def since(longest_s: float) -> float | None:
    """When it began to play, in Unix seconds; None: it rests.

    A link that somebody kept is no wish to see the end: one that must be long over does not play.

    Args:
        longest_s: seconds that playing takes at most.
    """
    text = st.query_params.get(_SINCE, "")
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS) or text in st.session_state.get(_ENDED, ()):
        return None
    begun = int(text) / 1000
    own = st.session_state.get(_SINCE) == text
    return begun if own or 0 <= time.time() - begun <= longest_s + _STALE_S else None


def look(moment: int) -> None:
    """Rest at this moment from now on."""
    _change(moment)


def slider_key(moment: int) -> str:
    """The key of the slider that shows this moment: a new one wherever anything else than the slider led there."""
    sliders: dict[str, int] = st.session_state.setdefault(_SLIDERS, {})
    if sliders and list(sliders.values())[-1] == moment:
        return list(sliders)[-1]
    for key in list(sliders)[:-_KEPT]:
        del sliders[key]
    number = st.session_state[_COUNT] = st.session_state.get(_COUNT, 0) + 1
    sliders[key := f"{_SLIDERS}-{number}"] = moment
    return key


def slide(key: str, moment: int) -> None:
    """The slider of this key says that it was moved to a moment: rest there from now on.

    The browser tells the values of all sliders that it still has, also of one whose place another one took meanwhile.
    What such a one showed already is no wish of a person to go back there.
    """
    sliders: dict[str, int] = st.session_state.get(_SLIDERS, {})
    if sliders.get(key, moment) != moment:
        sliders[key] = moment
        _change(moment)


def rest(moment: int) -> None:
    """Playing has come to its end: rest at this moment, if it was playing."""
    if _SINCE in st.query_params:
        _change(moment)


def play(moment: int) -> None:
    """Play from this moment from now on."""
    _change(moment, _begun())


def choose_pace(tempo: str, cut: int, moment: int, *, playing: bool) -> None:
    """Go at this pace from now on, from the moment at hand."""
    chosen = ({_TEMPO: tempo} if tempo != _USUAL else {}) | ({_CUT: str(cut)} if cut else {})
    _change(moment, {**chosen, **(_begun() if playing else {})}, but=(_TEMPO, _CUT))


def _begun() -> dict[str, str]:
    begun = str(int(time.time() * 1000))
    st.session_state[_SINCE] = begun
    return {_SINCE: begun}


def _change(moment: int, said: Mapping[str, str] | None = None, *, but: tuple[str, ...] = ()) -> None:
    """Change the URL in one go: each change is a step of the browser's Back.

    What is playing has ended with it, also where Back leads to its address again.

    Args:
        moment: to be at.
        said: what else the URL says from now on.
        but: what it says no more.
    """
    if (text := st.query_params.get(_SINCE)) is not None:
        st.session_state.setdefault(_ENDED, set()).add(text)
    others = {key: value for key, value in st.query_params.to_dict().items() if key not in (_AT, _SINCE, *but)}
    where = {_AT: str(moment + 1)} if moment else {}
    st.query_params.from_dict({**others, **where, **(said or {})})


def link() -> dict[str, str]:
    """The parameters of a link to another page that reads the same conversation."""
    found = {name: value for name in _READ if (value := st.query_params.get(name))}
    language = {address.LANGUAGE: address.language()} if address.language() != address.default_language() else {}
    return {**found, **language}


def go_to(run_id: str) -> None:
    """Lead to this run when the page is drawn: a callback cannot leave the page by itself."""
    st.session_state[_CONTINUED] = run_id


def gone_to() -> str | None:
    """The run to lead to, which was not led to yet."""
    found: str | None = st.session_state.get(_CONTINUED)
    return found


def arrived() -> None:
    """The run is about to be shown."""
    st.session_state.pop(_CONTINUED, None)
