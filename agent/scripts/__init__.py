"""Scripts: what a fake model will say, and the run that it says it in, as one YAML or JSON file.

    title: Two sums
    task: 请计算 (2+3)*4
    tools: [add, multiply]
    turns:
      - calls: [{name: add, arguments: {a: 2, b: 3}, id: c1}]
        usage: {prompt_tokens: 61, completion_tokens: 18}
        latency_ms: 120
      - rules:
          - when: {result: missing}
            calls: [{name: add, arguments: {a: 2, b: 3}}]
        default: {calls: [{name: multiply, arguments: {a: 5, b: 4}}]}
      - 计算结果是 20。

A turn that is a text is a final answer. A script that is only a list of turns is the short form. All keys are told in
``FORMAT.md`` beside this file. The scenarios that come with the project are scripts in ``agent/scenarios``; their names
are the names of the files.
"""

from agent.scripts.catalogue import SCENARIOS, ScenarioInfo, scenarios
from agent.scripts.loading import load_script, parse_script
from agent.scripts.script import Script, play

__all__ = ["SCENARIOS", "ScenarioInfo", "Script", "load_script", "parse_script", "play", "scenarios"]
