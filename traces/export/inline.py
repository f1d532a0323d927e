"""What a page needs that holds its own script and data: names of what may run, and data that runs nothing."""

from __future__ import annotations

import base64
import hashlib


def source_hash(text: str) -> str:
    """The name by which a policy allows this script or style and no other one."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def inert(text: str) -> str:
    """JSON that cannot end the script block that holds it, nor begin a comment in it."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
