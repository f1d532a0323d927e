"""Weather and stock prices out of small made-up tables; what is not in a table is honestly unknown."""

from __future__ import annotations

from typing import Any

from agent.errors import ToolFailure
from agent.tools import Tool, tool

_WEATHER = {
    "上海": {"weather": "多云转小雨", "temperature_c": 22, "wind": "东南风 3 级"},
    "北京": {"weather": "晴", "temperature_c": 9, "wind": "北风 2 级"},
    "shanghai": {"weather": "cloudy, light rain later", "temperature_c": 22, "wind": "south-east, force 3"},
    "beijing": {"weather": "clear", "temperature_c": 9, "wind": "north, force 2"},
    "paris": {"weather": "overcast", "temperature_c": 12, "wind": "west, force 4"},
    "berlin": {"weather": "fog", "temperature_c": 6, "wind": "calm"},
}
_STOCKS = {"TEA": 41.5, "CUP": 7.25, "POT": 128.0}


@tool
def get_weather(city: str) -> dict[str, Any]:
    """Get the current weather of a city.

    Args:
        city: the name of the city, such as 上海 or Paris
    """
    report = _WEATHER.get(city.strip().lower())
    if report is None:
        words = f"no place called {city!r} is known; other spellings of the name were searched as well"
        raise ToolFailure(words, retryable=False)
    return {"city": city, **report}


@tool
def get_stock(symbol: str) -> dict[str, Any]:
    """Get the current price of a share.

    Args:
        symbol: the symbol of the share, such as TEA
    """
    price = _STOCKS.get(symbol.strip().upper())
    if price is None:
        raise ToolFailure(f"there is no share with the symbol {symbol!r}")
    return {"symbol": symbol.strip().upper(), "price": price, "currency": "EUR"}


TOOLS: tuple[Tool, ...] = (get_weather, get_stock)
