"""A script that says the run again without a model: YAML, or JSON where that would be too long."""

from __future__ import annotations

from agent.trace import Trace
from traces.export.order import counted
from traces.scripting import script_data, script_text
from traces.scripting.plan import plan_of

NAME = "script"
SUFFIX = ".script.yaml"
MIME = "application/yaml"


def losses(trace: Trace) -> list[str]:
    """What a replay cannot say again."""
    plan = plan_of(trace)
    written = [at for at in plan.written if at is not None]
    made_up = 0 if plan.whole else len(plan.written) - len(written)
    lost = counted(made_up, "call without a result", "answered by the replay")
    lost += counted(_elsewhere(written), "message elsewhere than the loop writes", "moved there")
    results = {run.message for step in trace.steps for run in step.tools if run.message is not None}
    parts = sum(isinstance(trace.messages[at].content, list) for at in results)
    lost += counted(parts, "result of several parts", "only the text is kept")
    lost += counted(sum(len(step.retries) for step in trace.steps), "attempt before a reply that failed", "left out")
    return lost


def write(trace: Trace, language: str = "en") -> bytes:
    """The text of the script. Where it is JSON the name may stay as it is: a script of any name is read by its text.

    Raises:
        InputError: the trace keeps settings that make no sense.
    """
    return script_text(script_data(trace))[0].encode()


def _elsewhere(written: list[int]) -> int:
    """Messages that a replay writes at another place, or once more."""
    highest, moved = -1, 0
    for at in written:
        moved += at <= highest
        highest = max(highest, at)
    return moved
