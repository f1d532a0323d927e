"""What the groups of keys in a design have in common: how names and numbers look."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from agent.interventions import MOST_WHOLE


def _one_line(text: str) -> str:
    if text != " ".join(text.split()):
        raise ValueError("a name stands in one line, without blanks around it or two of them in a row")
    return text


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_one_line)]
Words = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(ge=1, le=MOST_WHOLE)]
