"""A made-up shop: look an order up, cancel it. Every set of tools has a table of its own, so runs do not meet."""

from __future__ import annotations

from typing import Any

from agent.errors import ToolFailure
from agent.tools import Tool, tool

_ORDERS = {
    "A1001": {"item": "green tea, 250 g", "amount": 2, "status": "shipped", "arrives": "2026-12-02"},
    "A1002": {"item": "teapot", "amount": 1, "status": "paid", "arrives": None},
    "A1003": {"item": "cups, set of four", "amount": 1, "status": "delivered", "arrives": "2026-11-20"},
}


def order_tools() -> tuple[Tool, ...]:
    """``get_order`` and ``cancel_order`` over a fresh table of orders."""
    orders: dict[str, dict[str, Any]] = {order_id: dict(order) for order_id, order in _ORDERS.items()}

    def find(order_id: str) -> dict[str, Any]:
        if order_id not in orders:
            raise ToolFailure(f"there is no order {order_id!r}")
        return orders[order_id]

    @tool
    def get_order(order_id: str) -> dict[str, Any]:
        """Look up an order: what was bought, and where it is.

        Args:
            order_id: the number of the order, such as A1001
        """
        return {"order_id": order_id, **find(order_id)}

    @tool
    def cancel_order(order_id: str) -> dict[str, Any]:
        """Cancel an order that has not been shipped yet. This cannot be undone.

        Args:
            order_id: the number of the order, such as A1002
        """
        order = find(order_id)
        if order["status"] != "paid":
            raise ToolFailure(f"order {order_id} is {order['status']} and can no longer be cancelled")
        order["status"] = "cancelled"
        return {"order_id": order_id, **order}

    return (get_order, cancel_order)
