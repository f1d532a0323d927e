"""Damage to a file, as hypothesis draws it: keys dropped, values of another type, items doubled, lines torn."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from agent.errors import InputError
from traces import ImportReport, read_file
from traces.summary import summarise

ODD = [None, True, -1, 0, 1e308, 10**30, "", "None", "\ud83d", [], [None], [[]], {}, {"type": 1}, "x" * 200]


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """``value`` with one to four of its parts dropped, doubled or replaced."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(value))
        if not places:
            return value
        parent, key = draw(st.sampled_from(places))
        harm = draw(st.sampled_from(("drop", "double", "replace")))
        if harm == "drop":
            del parent[key]
        elif harm == "double" and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        else:
            parent[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return value


def _places(value: Any) -> Any:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def survives(value: Any, format: str, cut: int | None = None) -> None:
    """Reading the value as a file gives a report whose traces can be counted, or one sentence."""
    data = json.dumps(value).encode()
    try:
        report = read_file(data[:cut], "damaged.json", format=format)
    except InputError as error:
        assert str(error)
        return
    for trace in report.traces:
        assert len(trace.messages) == len(trace.entries)
        json.dumps(trace.to_dict())
        summarise(trace)


def opened(value: Any) -> ImportReport:
    """The report of a file that holds ``value`` as JSON; a tuple becomes one line an item."""
    lines = isinstance(value, tuple)
    text = "\n".join(json.dumps(item) for item in value) if lines else json.dumps(value)
    return read_file(text.encode(), "file.json")
