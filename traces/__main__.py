"""Command line: ``python -m traces summary FILE... [--json]``."""

from __future__ import annotations

import sys

from agent.startup import loading

if __name__ == "__main__":
    with loading():
        from traces.cli import main
    sys.exit(main())
