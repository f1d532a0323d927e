"""What the commands share: the name under which they speak."""

from __future__ import annotations

PROG = "python -m traces"
