"""Where a learner's Python runs: a small part of the language, in a process of its own with nothing to reach.

Two walls. The text is compiled by RestrictedPython after checks of our own, so that it cannot name what it must not
have: this is the wall that holds a learner. And it runs in a child process without an environment, with little time and
memory, in which Python opens no file, no socket and no other program. That one is for what the first has overlooked; it
does not hold whoever can load libraries in C at will, least of all where the server runs as root, whose processes the
system does not count.
"""
