"""Arguments of a call as a person wrote them, who was perhaps not shown all that they were."""

from __future__ import annotations

from typing import Any

from agent import jsontext
from agent.errors import InputError
from agent.messages import ToolCall, read_arguments
from agent.secret_names import MARK


def edited_arguments(text: str, shown: str, call: ToolCall) -> dict[str, Any]:
    """What a person made of the arguments of a call. A secret that was left as it was shown stays what it really is.

    Args:
        text: a JSON object; empty for no arguments.
        shown: the text that the person began with: the arguments of the call, without secrets.
        call: the call.

    Raises:
        InputError: the text is no JSON object, or a secret of it is not known.
    """
    arguments, problem = read_arguments(text)
    if problem is not None:
        raise InputError(problem)
    made: dict[str, Any] = _put_back(arguments, read_arguments(shown)[0], call.arguments)
    if MARK in jsontext.dumps(made):
        raise InputError(f"the arguments hold a secret that is not known here: write it in place of {MARK}…]")
    return made


def _put_back(new: Any, seen: Any, real: Any) -> Any:
    """``new`` with what really stands where it says the same as ``seen``."""
    if isinstance(new, str):
        return real if new == seen else new
    if isinstance(new, dict) and isinstance(seen, dict) and isinstance(real, dict) and len(seen) == len(real):
        names = dict(zip(seen, real, strict=True))  # a name may hold a secret too
        return {
            names.get(key, key): _put_back(item, seen.get(key), real.get(names.get(key))) for key, item in new.items()
        }
    if (
        isinstance(new, list)
        and isinstance(seen, list)
        and isinstance(real, list)
        and len(new) == len(seen) == len(real)
    ):
        return [_put_back(*items) for items in zip(new, seen, real, strict=True)]
    return new
