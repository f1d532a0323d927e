"""No key stands in a design, which is kept and sent: what would hold one is refused."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from agent.errors import InputError
from agent.secret_names import is_secret_field
from agent.secret_shapes import hide_shapes

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


def checked_address(url: str) -> str:
    """The address of a server; the words of an error never repeat it, as it may hold a key.

    Raises:
        InputError: it is no address, or holds a password or a key.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if usable and ("@" in parts.netloc or hide_shapes(url) != url):
        raise InputError(f"this address holds a password or a key; {NO_KEYS}")
    if not usable:
        raise InputError("expected an address such as http://127.0.0.1:8080/v1")
    return url
