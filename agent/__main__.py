"""``python -m agent``: see :mod:`agent.cli`."""

import sys

from agent.startup import loading

if __name__ == "__main__":
    with loading():
        from agent.cli import main
    sys.exit(main())
