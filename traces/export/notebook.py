"""A Jupyter notebook (nbformat 4.5) that holds the trace itself and needs nothing but pandas.

Its outputs are already there, as plain text: it can be read without being run, and nothing in it is active.
"""

from __future__ import annotations

import io
import json
import re
from functools import partial
from typing import Any

from agent import jsontext
from agent.trace import Trace
from traces.export.facts import facts
from traces.export.markdown import inline

NAME = "notebook"
SUFFIX = ".ipynb"
MIME = "application/x-ipynb+json"

_LOAD = (
    "import json\n\nimport pandas as pd\n\ntrace = json.loads(\n{text}\n)\nprint(len(trace['messages']), 'messages')"
)
_MESSAGES = """\
messages = pd.DataFrame(trace["messages"]).reindex(columns=["role", "content", "tool_calls", "tool_call_id"])
messages["step"] = [entry.get("step") for entry in trace["entries"]]
messages.index += 1
print(messages.map(lambda value: str(value)[:60]).to_string())"""
_STEPS = """\
steps = pd.json_normalize(trace["steps"], max_level=1)
tokens = ["usage.prompt_tokens", "usage.cached_tokens", "usage.completion_tokens"]
wanted = ["index", "finish_reason", *tokens, "latency_ms"]
print(steps.reindex(columns=wanted).to_string(index=False))"""
_TOOLS = """\
tools = pd.DataFrame([run for step in trace["steps"] for run in step["tools"]])
tools = tools.reindex(columns=["name", "latency_ms", "ok"])
by_name = tools.groupby("name", sort=True)
print(pd.DataFrame({"calls": by_name.size(), "ms": by_name["latency_ms"].sum(min_count=1)}).to_string())"""
_TRANSCRIPT = """\
for number, message in enumerate(trace["messages"], 1):
    print(f"--- {number} {message['role']}")
    content = message.get("content")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    print(text if len(text) <= 5000 else f"{text[:5000]}... {len(text)} characters in all")
    for call in message.get("tool_calls") or []:
        print(f"-> {call['function']['name']}({call['function']['arguments']})")"""
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE = 100


def losses(trace: Trace) -> list[str]:
    """Nothing: the notebook holds the trace."""
    return []


def write(trace: Trace, language: str = "en") -> bytes:
    """Strict JSON of a notebook."""
    data = json.loads(jsontext.dumps(trace.to_dict()))
    text = jsontext.dumps(data)
    literal = "\n".join(repr(text[at : at + _LINE]) for at in range(0, len(text), _LINE))
    about = "\n".join(f"- {name}: {inline(value)}" for name, value in facts(trace))
    cells = [
        _markdown(f"# Trace {inline(trace.title or trace.trace_id)}\n\n{about}"),
        _code(_LOAD.format(text=literal), f"{len(data['messages'])} messages\n", folded=True),
    ]
    known: dict[str, Any] = {"trace": data}
    for title, source in (("Messages", _MESSAGES), ("Steps", _STEPS), ("Tools", _TOOLS), ("Transcript", _TRANSCRIPT)):
        cells += [_markdown(f"## {title}"), _code(source, _output_of(source, known))]
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    return jsontext.dumps(_notebook(cells), indent=True).encode() + b"\n"


def _output_of(source: str, known: dict[str, Any]) -> str:
    """What one of our cells prints. Only the fixed sources above are run; the trace is their data."""
    import pandas as pd

    printed = io.StringIO()
    known |= {"pd": pd, "json": json, "print": partial(print, file=printed)}
    exec(source, known)
    return _CONTROLS.sub("\ufffd", printed.getvalue())


def _notebook(cells: list[dict[str, Any]]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": _lines(text)}


def _code(source: str, output: str, *, folded: bool = False) -> dict[str, Any]:
    metadata = {"jupyter": {"source_hidden": True}} if folded else {}
    outputs = [{"output_type": "stream", "name": "stdout", "text": _lines(output)}] if output else []
    return {
        "cell_type": "code",
        "id": "",
        "metadata": metadata,
        "source": _lines(source),
        "execution_count": None,
        "outputs": outputs,
    }


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)
