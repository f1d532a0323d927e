"""The agent loop: a run is plain data that one small loop moves forward, phase by phase. Read ``loop.py`` first."""

from agent.approval import Decision
from agent.context import ContextBudget
from agent.errors import AgentError, InputError, ModelError, ScriptExhausted, ToolDefinitionError, ToolFailure
from agent.events import AgentEvent, AgentState, Maker, Phase
from agent.evidence import Check, verify
from agent.interventions import Intervention
from agent.limits import Limits
from agent.loop import Loop
from agent.messages import Message, ToolCall
from agent.models.base import CallControl, Model, ModelReply
from agent.models.fake import FakeModel, FakeTurn
from agent.models.json_action import JsonActionModel
from agent.models.openai_chat import OpenAIModel
from agent.policy import CapabilityPolicy
from agent.result import RunResult, Step, run
from agent.results import ToolResult
from agent.runner import Runner
from agent.stops import StopReason
from agent.tools import RunContext, Tool, ToolRegistry, tool
from agent.trace import Evidence, Outcome, Trace, TraceStep
from agent.usage import Usage

__all__ = [
    "AgentError",
    "AgentEvent",
    "AgentState",
    "CallControl",
    "CapabilityPolicy",
    "Check",
    "ContextBudget",
    "Decision",
    "Evidence",
    "FakeModel",
    "FakeTurn",
    "InputError",
    "Intervention",
    "JsonActionModel",
    "Limits",
    "Loop",
    "Maker",
    "Message",
    "Model",
    "ModelError",
    "ModelReply",
    "OpenAIModel",
    "Outcome",
    "Phase",
    "RunContext",
    "RunResult",
    "Runner",
    "ScriptExhausted",
    "Step",
    "StopReason",
    "Tool",
    "ToolCall",
    "ToolDefinitionError",
    "ToolFailure",
    "ToolRegistry",
    "ToolResult",
    "Trace",
    "TraceStep",
    "Usage",
    "run",
    "tool",
    "verify",
]
