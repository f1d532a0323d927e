"""What the groups of keys in a design have in common: names, and that none of them holds a secret."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from agent.interventions import MOST_WHOLE
from agent.secret_names import is_secret_field

NO_KEYS = (
    "a key never stands in a design, which is kept and sent: put it into an environment variable and give the name of "
    "that as key_env"
)
_ALSO_KEYS = ("key", "headers", "default_headers", "extra_headers")
"""Names of options that hold keys, beside those that say so themselves."""


def refused_key(name: str, value: Any) -> str:
    """Why an option with this value may not stand in a design; empty where it is no secret."""
    secret = name in _ALSO_KEYS or (isinstance(value, str) and is_secret_field(name))
    return NO_KEYS if secret else ""


def _one_line(text: str) -> str:
    if text != " ".join(text.split()):
        raise ValueError("a name stands in one line, without blanks around it or two of them in a row")
    return text


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_one_line)]
Words = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(ge=1, le=MOST_WHOLE)]
