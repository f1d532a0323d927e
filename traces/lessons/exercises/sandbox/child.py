"""What the child process does: read its work, close the walls, run the program, say what came of it, and end."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from traces.lessons.exercises.sandbox import rule_work, tool_work, walls
from traces.lessons.exercises.sandbox.process import CPU_S
from traces.lessons.exercises.sandbox.restricted import ProgramError, explained

_WORK: dict[str, Callable[[str, Mapping[str, Any]], dict[str, Any]]] = {"rule": rule_work.work, "tool": tool_work.work}


def main() -> None:
    """Do the work that stands on the standard input, as JSON, and write the answer to the standard output."""
    task = json.loads(sys.stdin.buffer.read())
    walls.end_after(float(task["wall_s"]))
    tool_work.warm_up()
    walls.close(CPU_S)
    try:
        with explained():
            answer = _WORK[task["work"]](task["code"], task["data"])
    except ProgramError as error:
        answer = {"remarks": [said.to_dict() for said in error.remarks]}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()
    os._exit(0)  # nothing of the program is run any more, at whatever end of an interpreter
