"""The table of prices: the shipped rows to read, and the user's own to edit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from agent.errors import AgentError
from pages.parts import shelf
from pages.parts.data import data_folder, private
from pages.parts.words import t
from traces.prices import Price, load_prices, save_prices

_EDITOR = "own-prices"
_COLUMNS = ("model", "prompt", "cached", "cache_write", "completion", "up_to", "window", "date", "source")
_TEXTS = ("model", "date", "source")


def prices_form() -> None:
    """Draw a closed panel with both tables; on a server that others can reach the own rows cannot be changed."""
    panel = st.expander(
        t("Prices of models"), key="prices-open", type="compact", icon=":material/payments:", on_change="rerun"
    )
    if not panel.open:
        return
    with panel:
        st.caption(
            t("US dollars per million tokens. They are used where a file does not say what a call cost; edit them.")
        )
        try:
            table = load_prices(data_folder())
        except AgentError as error:
            st.warning(t("Your own prices cannot be read; saving new ones replaces them."))
            st.text(str(error))
            table = load_prices()
        if private():
            _own(table.own)
        st.caption(t("Prices that come with the app. A row of your own for the same model is taken first."))
        st.dataframe(
            _frame(table.shipped),
            hide_index=True,
            height=260,
            column_config=_columns(),
            placeholder="",
            alt=t("Prices that come with the app"),
        )


def _own(rows: tuple[Price, ...]) -> None:
    with st.form("own-prices", border=False):  # a page that is drawn again while a cell is typed would lose its text
        edited = st.data_editor(
            _frame(rows),
            key=_EDITOR,
            num_rows="dynamic",
            hide_index=True,
            column_config=_columns(),
            placeholder="",
            alt=t("Your own prices"),
        )
        pressed = st.form_submit_button(t("Save the prices"), icon=":material/save:", key="save-prices")
    if pressed:
        try:
            save_prices(data_folder(), _read(edited))
        except AgentError as error:
            st.error(t("The prices were not saved."))
            st.text(str(error))
        else:
            shelf.forget(_EDITOR)
            st.rerun()


def _frame(rows: Iterable[Price]) -> pd.DataFrame:
    data = [row.to_dict() for row in rows]
    return pd.DataFrame(
        {
            name: pd.array([row[name] for row in data], dtype="string" if name in _TEXTS else "Float64")
            for name in _COLUMNS
        }
    )


def _read(frame: pd.DataFrame) -> list[Price]:
    """The rows of the editor; rows without any content are left out.

    Raises:
        InputError: a row lacks a model or a price, or a price cannot be true.
    """
    rows = [
        {str(name): value for name, value in row.items() if not pd.isna(value) and value != ""}
        for row in frame.to_dict("records")
    ]
    return [Price.from_dict(row) for row in rows if row]


def _columns() -> dict[str, Any]:
    column = st.column_config
    numbers = {
        "prompt": t("Prompt"),
        "cached": t("Cached prompt"),
        "cache_write": t("Written to the cache"),
        "completion": t("Answer"),
    }
    return {
        "model": column.TextColumn(
            t("Model"), help=t("A name, or a pattern with *. A date at its end may be left out.")
        ),
        **{
            name: column.NumberColumn(label, min_value=0.0, format="$ %.4g", width=110)
            for name, label in numbers.items()
        },
        "up_to": column.NumberColumn(
            t("Prompts up to"), min_value=0, format="localized", help=t("Longer prompts cost more than these prices.")
        ),
        "window": column.NumberColumn(
            t("Window"), min_value=0, format="localized", help=t("Tokens that a request may take at most.")
        ),
        "date": column.TextColumn(t("As of")),
        "source": column.TextColumn(t("Source")),
    }
