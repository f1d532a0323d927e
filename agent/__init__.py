"""The agent loop: a run is plain data that one small loop moves forward, phase by phase. Read ``loop.py`` first.

``from agent import run, FakeModel`` works for every name in ``__all__``. A name is loaded when it is first asked for,
so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.approval import Decision
    from agent.breakpoints import Breakpoint
    from agent.context import ContextBudget
    from agent.errors import AgentError, InputError, ModelError, ScriptExhausted, ToolDefinitionError, ToolFailure
    from agent.events import AgentEvent, AgentState, Maker, Phase
    from agent.evidence import Check, verify
    from agent.faults import Fault
    from agent.fork import Changes
    from agent.interventions import Intervention
    from agent.limits import Limits
    from agent.loop import Loop
    from agent.messages import Message, ToolCall
    from agent.models.base import CallControl, Model, ModelReply
    from agent.models.fake import FakeModel, FakeTurn
    from agent.models.json_action import JsonActionModel
    from agent.models.openai_chat import OpenAIModel
    from agent.moments import Moment
    from agent.policy import CapabilityPolicy
    from agent.recorder import Recorder, recording
    from agent.result import RunResult, Step, run
    from agent.runner import Runner
    from agent.stops import StopReason
    from agent.tool_result import ToolResult
    from agent.tools import RunContext, Tool, ToolRegistry, tool
    from agent.trace import Evidence, Outcome, Trace, TraceStep
    from agent.usage import Usage

_WHERE = {
    "approval": ("Decision",),
    "breakpoints": ("Breakpoint",),
    "context": ("ContextBudget",),
    "errors": ("AgentError", "InputError", "ModelError", "ScriptExhausted", "ToolDefinitionError", "ToolFailure"),
    "events": ("AgentEvent", "AgentState", "Maker", "Phase"),
    "evidence": ("Check", "verify"),
    "faults": ("Fault",),
    "fork": ("Changes",),
    "interventions": ("Intervention",),
    "limits": ("Limits",),
    "loop": ("Loop",),
    "messages": ("Message", "ToolCall"),
    "models.base": ("CallControl", "Model", "ModelReply"),
    "models.fake": ("FakeModel", "FakeTurn"),
    "models.json_action": ("JsonActionModel",),
    "models.openai_chat": ("OpenAIModel",),
    "moments": ("Moment",),
    "policy": ("CapabilityPolicy",),
    "recorder": ("Recorder", "recording"),
    "result": ("RunResult", "Step", "run"),
    "runner": ("Runner",),
    "stops": ("StopReason",),
    "tool_result": ("ToolResult",),
    "tools": ("RunContext", "Tool", "ToolRegistry", "tool"),
    "trace": ("Evidence", "Outcome", "Trace", "TraceStep"),
    "usage": ("Usage",),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'agent' has no attribute {name!r}")
    value = getattr(import_module(f"agent.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
