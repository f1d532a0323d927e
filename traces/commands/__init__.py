"""The commands of ``python -m traces``: one module each, with ``add(commands)`` and ``run(options)``."""
