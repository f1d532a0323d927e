"""What model calls cost, by a small table of prices: for files that do not say it themselves.

What a file states always wins, and what is computed here is marked. An unknown model has an unknown cost, never 0.
"""

from __future__ import annotations

import fnmatch
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.errors import InputError
from agent.trace import Trace
from agent.usage import Usage
from traces.keeping import exclusive, write_whole

SHIPPED = Path(__file__).with_name("prices.json")
"""The table that comes with the project; every row has the date and the page that it was taken from."""
FILE_NAME = ".prices.json"
"""The user's own rows, in the data folder."""

UNKNOWN_MODEL = "the price of this model is not known"
NO_TOKENS = "its tokens are not reported"
NO_CACHED_PRICE = "no cached price: cached tokens are counted at the price of the prompt"
NO_WRITE_PRICE = "no price for writing to the cache: such tokens are counted at the price of the prompt"
LONG_PROMPT = "long prompt: the maker may ask more than the price that was used"
ESTIMATED = "computed from estimated tokens"
"""Remarks on a computed cost; fixed sentences, so that a page can translate them."""

_LARGEST = 1e6
_ENDING = re.compile(
    r"(-latest|-preview|-exp|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{8}|-\d{4}|-00\d|@\w+|-v\d+(:\d+)?|:\d+)$"
)
_REGION = re.compile(r"^((us|eu|apac|global|jp|au)\.)?(anthropic|amazon|meta|deepseek|openai)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one model costs, in US dollars per million tokens. ``None`` means that there is no such price."""

    model: str
    """The model's name, or a pattern with ``*``; a date at the end of a name need not be given."""
    prompt: float
    completion: float
    cached: float | None = None
    """For the part of the prompt that the provider had in its cache."""
    cache_write: float | None = None
    """For the part of the prompt that was written to the cache."""
    up_to: int | None = None
    """Tokens of a prompt up to which the prices hold, where the maker asks more for longer ones."""
    window: int | None = None
    """Tokens that a request may take at most."""
    date: str = ""
    """When it was looked up."""
    source: str = ""
    """Where it was looked up."""

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, data: Any) -> Price:
        """Read one row.

        Raises:
            InputError: a price is missing, negative or no number; the sentence names the model.
        """
        if not isinstance(data, Mapping) or not str(data.get("model") or "").strip():
            raise InputError("a row of the price table needs the name of a model")
        model = str(data["model"]).strip()
        prompt, completion = _amount(model, "prompt", data), _amount(model, "completion", data)
        if prompt is None or completion is None:
            raise InputError(f"{model}: a price for the prompt and one for the completion are needed")
        up_to, window = (_amount(model, name, data, largest=1e12) for name in ("up_to", "window"))
        return cls(
            model=model,
            prompt=prompt,
            completion=completion,
            cached=_amount(model, "cached", data),
            cache_write=_amount(model, "cache_write", data),
            up_to=None if up_to is None else int(up_to),
            window=None if window is None else int(window),
            date=str(data.get("date") or ""),
            source=str(data.get("source") or ""),
        )


def _amount(model: str, name: str, data: Mapping[str, Any], largest: float = _LARGEST) -> float | None:
    value = data.get(name)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= largest:
        raise InputError(f"{model}: {name} should be a number from 0 to {largest:,.0f}, found {value!r}")
    return float(value)


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices to look up by the name of a model.

    Args:
        own: the user's rows; the first of them that fits the name is taken before any other.
        shipped: those that come with the project.
    """

    own: tuple[Price, ...] = ()
    shipped: tuple[Price, ...] = ()
    _found: dict[str, Price | None] = field(default_factory=dict, compare=False, repr=False)

    def find(self, model: str | None) -> Price | None:
        """The price of a model; None where no row fits.

        Providers' prefixes (``openai/gpt-4o``, ``us.anthropic.claude-...``) and dates at the end do not matter.
        Of several rows that fit, the one for the whole name is taken before one for a part of it.
        """
        if not model:
            return None
        if model not in self._found:
            names = _names(model)
            self._found[model] = _best(self.own, names) or _best(self.shipped, names)
        return self._found[model]


def _names(model: str) -> list[str]:
    """The name and its shorter forms, the most exact first."""
    name = model.lower().strip()
    bare = name.rsplit("/", 1)[-1]
    names = [name, bare, _REGION.sub("", bare)]
    while (shorter := _ENDING.sub("", names[-1])) != names[-1]:
        names.append(shorter)
    # routers write a version with a point where its maker writes a hyphen: claude-sonnet-4.5
    return list(dict.fromkeys([*names, *(re.sub(r"(?<=\d)\.(?=\d)", "-", each) for each in names)]))


def _best(rows: Iterable[Price], names: list[str]) -> Price | None:
    patterns = [(row.model.lower(), row) for row in rows]
    exact = dict(reversed(patterns))
    if found := next((exact[name] for name in names if name in exact), None):
        return found
    fitting = [(p, row) for p, row in patterns if "*" in p and any(fnmatch.fnmatchcase(name, p) for name in names)]
    return max(fitting, key=lambda pair: len(pair[0]), default=("", None))[1]


# -- costs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepCost:
    """What one model call cost."""

    value: float | None
    """US dollars; None: unknown."""
    computed: bool
    """True: by a price table. False: the file says it, or nothing is known."""
    notes: tuple[str, ...] = ()
    """Remarks out of the fixed sentences of this module."""

    @property
    def note(self) -> str:
        """All remarks as one text."""
        return "; ".join(self.notes)


def window_of(trace: Trace, table: PriceTable) -> int | None:
    """Tokens that a request may take by the table: the smallest window of the models that answered; None: unknown."""
    names = dict.fromkeys(step.model or trace.model.name for step in trace.steps)
    known = [price.window for name in names if (price := table.find(name)) and price.window]
    return min(known, default=None)


def step_costs(trace: Trace, table: PriceTable) -> list[StepCost]:
    """The cost of each step, in the order of the trace's steps: the file's own where it has one, else computed."""
    return [
        StepCost(step.cost, computed=False)
        if step.cost is not None
        else computed_cost(step.usage, table.find(step.model or trace.model.name))
        for step in trace.steps
    ]


def computed_cost(usage: Usage | None, price: Price | None) -> StepCost:
    """What these tokens cost by this price. Cached and written tokens are parts of the prompt."""
    if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return StepCost(None, False, (NO_TOKENS,))
    if price is None:
        return StepCost(None, False, (UNKNOWN_MODEL,))
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
    written = min(usage.cache_write_tokens or 0, usage.prompt_tokens - cached)
    remarks = {
        NO_CACHED_PRICE: cached and price.cached is None,
        NO_WRITE_PRICE: written and price.cache_write is None,
        LONG_PROMPT: price.up_to is not None and usage.prompt_tokens > price.up_to,
        ESTIMATED: usage.estimated,
    }
    millionths = (
        (usage.prompt_tokens - cached - written) * price.prompt
        + cached * (price.prompt if price.cached is None else price.cached)
        + written * (price.prompt if price.cache_write is None else price.cache_write)
        + usage.completion_tokens * price.completion
    )
    return StepCost(millionths / 1e6, True, tuple(text for text, holds in remarks.items() if holds))


# -- the table on disk ---------------------------------------------------------------------------------------------


@cache
def _shipped() -> tuple[Price, ...]:
    return tuple(Price.from_dict(row) for row in json.loads(SHIPPED.read_bytes())["prices"])


def load_prices(folder: Path | None = None) -> PriceTable:
    """The shipped table with the user's own rows of a data folder.

    Raises:
        InputError: the user's file cannot be read; the sentence names it and says what is wrong.
    """
    path = None if folder is None else Path(folder) / FILE_NAME
    if path is None or not path.exists():
        return PriceTable(shipped=_shipped())
    try:
        rows = json.loads(path.read_bytes())["prices"]
        return PriceTable(own=tuple(Price.from_dict(row) for row in rows), shipped=_shipped())
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"{path} is no price table: {error}") from error


def save_prices(folder: Path, own: Iterable[Price]) -> None:
    """Keep the user's own rows in a data folder, instead of those that were there.

    Raises:
        InputError: two rows name the same model, or the folder cannot be written.
    """
    rows = list(own)
    names = [row.model.lower() for row in rows]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{double}: there are two rows of this name")
    with exclusive(Path(folder)):
        text = jsontext.dumps({"prices": [row.to_dict() for row in rows]}, indent=True)
        write_whole(Path(folder) / FILE_NAME, text.encode() + b"\n")
