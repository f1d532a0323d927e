"""smolagents: steps with one observation for all calls, plans, runs, and rows of GAIA."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives
from traces.summary import summarise


def call(name, arguments, call_id="c1"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


TIMING = {"start_time": 1767600000.0, "end_time": 1767600004.5, "duration": 4.5}
STEPS = [
    {"system_prompt": "You write code."},
    {"task": "What is 2+3?", "task_images": None},
    {"plan": "1. add", "timing": TIMING, "token_usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}},
    {
        "step_number": 1,
        "timing": TIMING,
        "model_input_messages": [
            {"role": "MessageRole.SYSTEM", "content": [{"type": "text", "text": "You write code."}]}
        ],
        "model_output": "Thought: add.",
        "tool_calls": [call("python_interpreter", "print(2+3)")],
        "observations": "5",
        "error": None,
        "token_usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
        "is_final_answer": False,
    },
    {
        "step_number": 2,
        "timing": TIMING,
        "model_output": None,
        "tool_calls": [call("search", {"q": "a"}), call("search", {"q": "b"}, "c2")],
        "observations": "both found",
        "error": {"type": "AgentExecutionError", "message": "one was slow"},
        "token_usage": None,
    },
    {
        "step_number": 3,
        "model_output": "final",
        "tool_calls": [call("final_answer", "5", "c3")],
        "observations": "",
        "action_output": 5,
        "is_final_answer": True,
    },
]


def test_steps_are_messages_and_code_is_an_argument():
    (trace,) = opened(STEPS).traces
    roles = ["system", "user", "assistant", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [message.role for message in trace.messages] == roles
    assert trace.steps[1].tools[0].arguments == {"code": "print(2+3)"}
    assert (trace.outcome.reason, trace.outcome.final) == ("final", "5")
    assert summarise(trace).tokens.prompt_tokens == 110


def test_one_observation_answers_all_calls_of_its_step_and_an_error_marks_them():
    (trace,) = opened(STEPS).traces
    assert [(run.message, run.ok) for run in trace.steps[2].tools] == [(6, False), (6, False)]
    assert trace.messages[6].text == "both found\none was slow"


def test_the_time_of_a_step_with_tools_is_not_all_the_model_s():
    (trace,) = opened(STEPS).traces
    assert [step.latency_ms for step in trace.steps] == [4500, None, None, None]
    assert summarise(trace).duration_s == 4.5


def test_a_memory_without_its_beginning_takes_it_from_the_first_request():
    (trace,) = opened({"steps": STEPS[3:]}).traces
    assert (trace.messages[0].role, trace.messages[0].text) == ("system", "You write code.")


def test_the_result_of_a_run_states_totals_and_how_it_ended():
    used = {"input_tokens": 500, "output_tokens": 50, "total_tokens": 550}
    run = {"output": "5", "state": "max_steps_error", "steps": STEPS, "token_usage": used, "timing": TIMING}
    (trace,) = opened(run).traces
    assert (trace.outcome.reason, summarise(trace).reported.prompt_tokens) == ("max_iterations", 500)


def test_a_step_that_could_not_be_parsed_tells_the_model_so():
    step = {"step_number": 1, "model_output": "hm", "tool_calls": [], "error": {"message": "no code found"}}
    (trace,) = opened([STEPS[1], step]).traces
    assert [(message.role, message.text) for message in trace.messages[1:]] == [
        ("assistant", "hm"),
        ("user", "no code found"),
    ]
    assert trace.entries[2].maker == "code"


def test_rows_of_gaia_show_printed_steps_as_text():
    row = {
        "agent_name": "m-1",
        "question": "How many?",
        "prediction": "4",
        "true_answer": "5",
        "start_time": "2026-01-05 10:00:00",
        "end_time": "2026-01-05 10:00:30",
        "intermediate_steps": [
            "SystemPromptStep(system_prompt='Hi')",
            {"role": "MessageRole.TOOL_CALL", "content": [{"type": "text", "text": "Calling tools: ..."}]},
            "ChatMessage(role=<MessageRole.TOOL_RESPONSE: 'tool-response'>, content=[])",
            "ActionStep(step_number=1)",
        ],
    }
    (trace,) = opened((row,)).traces
    assert [message.role for message in trace.messages] == ["user", "system", "assistant", "user", "assistant"]
    assert (trace.entries[3].maker, summarise(trace).duration_s) == ("environment", 30)
    assert (trace.outcome.final, trace.outcome.evidence[0].detail) == ("4", "5")


def test_calls_of_a_tool_that_failed_are_found_in_the_message():
    said = {"role": "assistant", "content": "", "tool_calls": [call("search", {"q": "a"}, "c9")]}
    error = {"type": "AgentToolExecutionError", "message": "no such page"}
    step = {"step_number": 1, "model_output": "", "tool_calls": [], "model_output_message": said, "error": error}
    (trace,) = opened([STEPS[1], step]).traces
    assert [(run.tool_call_id, run.name, run.ok) for run in trace.steps[0].tools] == [("c9", "search", False)]
    assert trace.messages[trace.steps[0].tools[0].message].text == "no such page"


def test_the_answer_after_the_last_step_that_was_allowed_is_kept():
    error = {"type": "AgentMaxStepsError", "message": "Reached max steps."}
    step = {"step_number": 3, "timing": TIMING, "model_output": None, "error": error, "action_output": "Perhaps 5."}
    (trace,) = opened([STEPS[1], step]).traces
    assert [(each.role, each.text) for each in trace.messages[1:]] == [
        ("user", "Reached max steps."), ("assistant", "Perhaps 5.")
    ]  # fmt: skip
    assert (trace.outcome.reason, trace.outcome.final) == ("max_iterations", "Perhaps 5.")
    assert trace.steps[0].latency_ms == 4500


@given(damaged(STEPS))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "smolagents")
