"""``python -m agent``: see :mod:`agent.cli`."""

import sys

if __name__ == "__main__":
    try:
        from agent.startup import loading

        with loading():
            from agent.cli import main
    except KeyboardInterrupt:  # in the first moment, before the rest is guarded
        sys.exit(130)
    sys.exit(main())
