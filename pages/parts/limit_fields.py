"""The limits of a fork beside its step limit: one field each, empty for no limit."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from agent.errors import InputError
from agent.limits import Limits
from pages.parts import address
from pages.parts.drafts import Draft, change, draft_of
from pages.parts.words import loop_words, t


def limit_fields(run_id: str, before: Limits, draft: Draft) -> None:
    """Draw a field for each limit.

    Args:
        run_id: of the run that is forked.
        before: its limits.
        draft: what is changed so far.
    """
    now = draft.limits or before
    words: dict[str, str] = {
        "repeated_calls": t("Equal calls with an equal result"),
        "failing_steps": t("Failing steps in a row"),
        "total_tokens": t("Tokens of all model calls"),
        "deadline_s": t("Active time (s)"),
        "calls_per_step": t("Calls in one reply"),
    }
    columns = st.columns(2, gap="small")
    for number, (name, label) in enumerate(words.items()):
        key = f"fork-{name}-{run_id}-{draft.number}"
        address.seed(key, getattr(now, name))
        columns[number % 2].number_input(
            label,
            value=None,
            step=1.0 if name == "deadline_s" else 1,
            key=key,
            placeholder=t("no limit"),
            on_change=_changed,
            args=(run_id, name, key, before),
        )


def _changed(run_id: str, name: str, field: str, before: Limits) -> None:
    now = draft_of(run_id).limits or before
    try:
        limits = replace(now, **{name: address.setting(field)})
    except InputError as error:
        address.tell(loop_words(str(error)))
        address.put(field, getattr(now, name))
        return
    change(run_id, limits=None if limits == before else limits)
