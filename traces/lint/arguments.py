"""Rules about what is called: tools that do not exist, arguments that do not fit."""

from __future__ import annotations

from collections.abc import Iterator

from agent.errors import ArgumentError, ToolDefinitionError
from agent.schema import ArgumentSchema
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Call, Material, short

WRONG = Rule(
    "arguments_not_schema",
    Severity.ERROR,
    "Arguments do not match the schema",
    ("{tool} was called with arguments that its schema does not take: {why}.",),
    "The tool refuses the call, or runs with something else than was meant.",
    "Check arguments before the tool runs and answer with what is wrong; make names and descriptions in the schema "
    "plainer.",
)
UNKNOWN = Rule(
    "unknown_tool",
    Severity.ERROR,
    "Unknown tool",
    ("{tool} was called, but no such tool is on offer.",),
    "The call cannot run; a step and its tokens are lost.",
    "Answer with the names of the tools that there are; offer the tool, or take its name out of the prompt.",
)
UNLISTED = Rule(
    "unlisted_tool",
    Severity.NOTE,
    "Tool not in the list",
    ("{tool} was called and answered, but the list of tools in the file does not hold it.",),
    "Either the list is incomplete, or a tool ran that the model was not offered.",
    "Save the tools of every request with the trace.",
)
RULES = (WRONG, UNKNOWN, UNLISTED)
_WHY = 200


def check(material: Material) -> Iterator[Finding]:
    """Compare every call with the tools on offer, where the file lists them."""
    if not material.offered:
        return
    schemas = _Schemas(material)
    last = max((step.index for step in material.trace.steps), default=0)
    told: set[str] = set()
    for call in material.calls:
        name = call.run.name
        known = name in material.offered or (call.asked is not None and call.asked.name in material.offered)
        if known:
            if material.words_kept and (why := schemas.problem(call)) is not None:
                yield _finding(WRONG, call, {"tool": call.name, "why": why})
        elif call.failed or (call.run.message is None and call.asked is not None and call.step.index != last):
            yield _finding(UNKNOWN, call, {"tool": call.name})
        elif name and name not in told and call.run.message is not None:
            told.add(name)
            yield _finding(UNLISTED, call, {"tool": call.name})


class _Schemas:
    """The compiled schemas of the tools, each made at its first use."""

    def __init__(self, material: Material) -> None:
        self._offered = material.offered
        self._compiled: dict[str, ArgumentSchema | None] = {}

    def problem(self, call: Call) -> str | None:
        """Why the arguments in the model's own words do not fit; None: they do, or nothing can be said."""
        asked = call.asked
        if asked is None or asked.problem is not None:
            return None
        schema = self._schema(asked.name)
        if schema is None:
            return None
        try:
            schema.check(asked.arguments)
        except ArgumentError as error:
            return short(str(error).removeprefix("wrong arguments: "), _WHY)
        except (ValueError, TypeError, RecursionError):  # numbers or depths that the validator cannot hold
            return None
        return None

    def _schema(self, name: str) -> ArgumentSchema | None:
        if name not in self._compiled:
            parameters = self._offered.get(name, {}).get("parameters")
            self._compiled[name] = _compile(parameters) if isinstance(parameters, dict) and parameters else None
        return self._compiled[name]


def _compile(parameters: dict[str, object]) -> ArgumentSchema | None:
    try:
        return ArgumentSchema(parameters)
    except ToolDefinitionError:
        return None


def _finding(rule: Rule, call: Call, facts: dict[str, object]) -> Finding:
    lost = call.step.usage.total if call.step.usage and rule is not UNLISTED else None
    return Finding(
        rule=rule,
        facts=facts,
        message=call.message,
        step=call.step.index,
        call_id=call.run.tool_call_id,
        evidence=tuple(call.places),
        cost_tokens=lost if len(call.step.tools) == 1 else None,
        cost_calls=None if rule is UNLISTED else 1,
    )
