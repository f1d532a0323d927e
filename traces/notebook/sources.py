"""The code of a Jupyter notebook: what its cells say in Python. It needs nothing but the package agent.

It is text here and not a module, for whoever opens the notebook is to read it there.
"""

from __future__ import annotations

import re

from agent import jsontext
from traces.export.words import Say

_LINE = 100
_CHANGED = re.compile(r"^\s*(>>>|\.\.\.|In \[)|^[^\S\n]+$", re.MULTILINE)
"""What Jupyter changes before it runs a cell, in texts too: prompts of a console go, and blanks of a line of blanks."""

SETUP = '''\
import json
import sys
from pathlib import Path
from textwrap import indent

for folder in (Path.cwd(), *Path.cwd().parents):  # the folder of Agent Loop Lab, or one inside it
    if (folder / "agent" / "loop.py").is_file():
        sys.path.insert(0, str(folder))
        break


class NotFound(Exception):
    """Shown as one sentence, without the lines that led to it."""

    def _render_traceback_(self):
        return [str(self)]


try:
    import docstring_parser, jsonschema_rs, pydantic, yaml  # what the package agent needs for scripts

{imports}
except ImportError as missing:
    raise NotFound({sentence}.format(name=missing.name)) from None
print({ready})'''

IMPORTS = """\
from agent import Trace
from agent.models.recording import Recording
from agent.models.replay import same_messages
from agent.request import request_of
from agent.scripts import parse_script"""

SCRIPT = "SCRIPT = parse_script({text}, {name})\nprint(SCRIPT.title)"

RECORDED = 'RECORDED = Trace.from_dict(json.loads(\n{text}\n))\nprint(len(RECORDED.messages), "messages")'

HELPERS = '''\
WORDS = {words}
loop = SCRIPT.loop(pace=0, parallel=False)
shown = 0


def show():
    """Print the messages that are new in the list, each with who made it."""
    global shown
    for position in range(shown, len(loop.messages)):
        message, maker = loop.messages[position], loop.trace.entries[position].maker
        then = RECORDED.entries[position].maker if position < len(RECORDED.entries) else maker
        told = maker if then == maker else f"{maker} ({WORDS['recorded']}: {then})"
        print(f"  + {position + 1} {message.role} · {WORDS['made by']} {told}")
        if message.text:
            print(indent(message.text[:4000], "      "))
        for call in message.tool_calls:
            print(f"      -> {call.name}({call.arguments_text()[:4000]})  {call.id}")
    shown = len(loop.messages)


def go(phases=1):
    """Move the run on by so many phases, and print what each of them did."""
    for _ in range(phases):
        state, phase = loop.state, loop.phase
        step = len(loop.trace.steps) + (phase in ("prepare", "call"))
        loop.advance()
        print(f"{state} · {phase or WORDS['the user goes on']} · {WORDS['step']} {step}")
        if phase == "prepare" and loop.phase == "call":
            sent = request_of(loop.trace, loop.next_step())
            roles = ", ".join(message.role for message in sent[:12]) + (", ..." if len(sent) > 12 else "")
            tools = ", ".join(tool["function"]["name"] for tool in loop.trace.tools) or "-"
            print(f"  {WORDS['request']}: {len(sent)} ({roles}) · {WORDS['tools on offer']}: {tools}")
        show()'''

START = "loop.start(SCRIPT.opening)\nshow()"

COMPARE = """\
differences = same_messages(Recording.of(RECORDED), loop.messages)
for difference in differences:
    print("-", difference)
assert len(differences) == {known}, "this run is not the one that was exported"
print({same}, not differences, f"({{len(loop.messages)}} / {{len(RECORDED.messages)}})")
print({reason}, loop.trace.outcome.reason, "/", RECORDED.outcome.reason)"""


def setup(say: Say) -> str:
    """The first cell: finds the package, or says what to do."""
    sentence = say(
        "The package {name} was not found: start Jupyter in the folder of Agent Loop Lab (or set PYTHONPATH to it), "
        "with the requirements of its requirements.txt installed."
    )
    inside = "\n".join(f"    {line}" for line in IMPORTS.splitlines())
    return SETUP.replace("{imports}", inside).replace("{sentence}", repr(sentence)).replace("{ready}", repr(ready(say)))


def ready(say: Say) -> str:
    """What the first cell prints where all is there."""
    return say("The package agent is here.")


def helpers(say: Say) -> str:
    """The cell that makes the loop, and the two functions that move and show it."""
    words = {
        "made by": say("made by"),
        "recorded": say("recorded"),
        "step": say("step"),
        "request": say("request, messages"),
        "tools on offer": say("tools on offer"),
        "the user goes on": say("the user goes on"),
    }
    return HELPERS.replace("{words}", repr(words))


def script(text: str, name: str) -> str:
    """The cell that holds the script."""
    return SCRIPT.format(text=literal(text), name=repr(name))


def recorded(text: str) -> str:
    """The cell that holds the recorded trace, of its JSON text."""
    return RECORDED.format(text=_pieces(text))


def compare(known: int, say: Say) -> str:
    """The last cell."""
    same, reason = say("The same messages as in the recorded run:"), say("Stop reason, here and recorded:")
    return COMPARE.format(known=known, same=repr(same), reason=repr(reason))


def literal(text: str) -> str:
    """A text as a Python literal: as it stands between quotes where that is safe, else piece by piece."""
    text = jsontext.clean(text)
    shown = f"\n{text.strip()}\n"
    odd = re.search(r"[^\S\n ]", shown) or not all(c == "\n" or c.isprintable() for c in shown)
    if "'''" in shown or odd or _CHANGED.search(shown):
        return f"(\n{_pieces(text)}\n)"
    return f"r'''{shown}'''"


def _pieces(text: str) -> str:
    return "\n".join(repr(text[at : at + _LINE]) for at in range(0, len(text), _LINE))
