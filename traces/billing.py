"""Bill: the tokens of a trace whose cost its file does not say, added up for each model.

The index of a data folder keeps it as text, so that the list of traces can show costs by a table of prices that the
user may change at any time, without opening a file again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from agent import jsontext
from agent.trace import Trace
from agent.usage import Usage
from traces.prices import PriceTable, computed_cost
from traces.stated import reported


class Bill:
    """Tokens of model calls without a cost of their own."""

    def __init__(self) -> None:
        self._sums: dict[str, list[int]] = {}
        self._missing = False

    def add(
        self,
        model: str | None,
        prompt: int | None,
        completion: int | None,
        cached: int | None = None,
        written: int | None = None,
    ) -> None:
        """One model call. Where its tokens are not reported, the bill is incomplete."""
        if prompt is None or completion is None:
            self._missing = True
            return
        sums = self._sums.get(model or "")
        if sums is None:
            sums = self._sums[model or ""] = [0, 0, 0, 0]
        sums[0] += prompt
        sums[1] += completion
        sums[2] += cached or 0
        sums[3] += written or 0

    def text(self) -> str | None:
        """The bill as it is kept; None where there is nothing to compute a cost from."""
        if not self._sums:
            return None
        return jsontext.dumps({"complete": not self._missing, "models": self._sums}, compact=True)


def bill_of(trace: Trace, cost: float | None) -> str | None:
    """The bill of a trace as text.

    Args:
        trace: the trace.
        cost: what its file says, for the whole or added up over its steps.
    """
    bill = Bill()
    priced = any(step.cost is not None for step in trace.steps)
    if cost is not None and not priced:
        return None
    for step in trace.steps:
        if step.cost is None:
            _add(bill, step.model or trace.model.name, step.usage)
    if trace.usage == Usage() and (whole := reported(trace).usage):
        bill = Bill()
        _add(bill, trace.model.name, whole)
    return bill.text()


def _add(bill: Bill, model: str | None, usage: Usage | None) -> None:
    usage = usage or Usage()
    bill.add(model, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.cache_write_tokens)


@dataclass(frozen=True, slots=True)
class TotalCost:
    """What a whole trace cost."""

    value: float | None
    """US dollars; None: unknown."""
    computed: bool = False
    """True: by the table of prices, at least in part."""
    complete: bool = True
    """False: the price or the tokens of some calls are not known, so that it cost more."""


def total_cost(stated: float | None, bill: str | None, table: PriceTable) -> TotalCost:
    """What a trace cost: what its file says, and its bill by this table.

    Args:
        stated: US dollars that the file says.
        bill: as :func:`bill_of` gave it.
        table: the prices.
    """
    if bill is None:
        return TotalCost(stated)
    try:
        data = json.loads(bill)
        models, complete = data["models"].items(), bool(data["complete"])
        usages = [(name, Usage(p, c, cached_tokens=hit, cache_write_tokens=new)) for name, (p, c, hit, new) in models]
    except (ValueError, KeyError, TypeError, AttributeError):
        return TotalCost(stated)
    costs = [computed_cost(usage, table.find(name)).value for name, usage in usages]
    known = [cost for cost in costs if cost is not None]
    if not known:
        return TotalCost(stated, complete=stated is None)
    return TotalCost((stated or 0) + sum(known), True, complete and len(known) == len(costs))
