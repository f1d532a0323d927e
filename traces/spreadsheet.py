"""Tables for spreadsheets that run nothing of what they hold.

A cell that a spreadsheet would take for a formula is made text by an apostrophe in front
(https://owasp.org/www-community/attacks/CSV_Injection).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from agent import jsontext

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "|")
"""Signs with which a formula begins."""


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A CSV file that is safe to open in a spreadsheet. None becomes an empty cell, dicts and lists become JSON."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([safe_cell(column) for column in columns])
    writer.writerows([safe_cell(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8-sig")


def safe_cell(value: Any) -> Any:
    """A value that no spreadsheet runs."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = jsontext.clean(value) if isinstance(value, str) else jsontext.dumps(value)
    text = text.replace("\0", "\ufffd")
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
