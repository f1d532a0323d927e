"""Where a learner's Python runs: a small part of the language, in a process of its own with nothing to reach.

Two walls, each enough by itself as far as we know. The text is compiled by RestrictedPython after checks of our own, so
that it cannot name what it must not have. And it runs in a child process without an environment, with little time and
memory, that can open no file, no socket and no other program.
"""
