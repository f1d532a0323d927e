"""Arithmetic on whole numbers."""

from __future__ import annotations

from agent.errors import ToolFailure
from agent.tools import Tool, tool


@tool
def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a + b


@tool
def subtract(a: int, b: int) -> int:
    """Subtract the second whole number from the first.

    Args:
        a: the number to subtract from
        b: the number to subtract
    """
    return a - b


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two whole numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a * b


@tool
def divide(a: int, b: int) -> float:
    """Divide the first whole number by the second.

    Args:
        a: the number to divide
        b: the number to divide by; not 0
    """
    if b == 0:
        raise ToolFailure("cannot divide by 0")
    return a / b


TOOLS: tuple[Tool, ...] = (add, subtract, multiply, divide)
