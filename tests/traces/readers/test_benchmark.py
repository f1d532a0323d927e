"""Boxes of benchmarks: conversations by role, texts, pages and actions, prompts with pictures."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives

TURNS = [{"role": "user", "content": "Open the door."}, {"role": "assistant", "content": "Act: open"}]
PAGES = {
    "intent": "Find the price.",
    "task_id": 3,
    "trajectory": [
        {"url": "http://shop.invalid", "axtree": "[1] button", "screenshot_path": "1.png"},
        {"metadata": {"cot": "I click."}, "action": {"action_name": "click", "element_id": "1"}},
        {"url": "http://shop.invalid/2", "axtree": "[2] 5 Euro"},
        "stop [5 Euro]",
        {"action": {"action_name": "stop", "answer": "5 Euro"}},
    ],
}
TEXTS = {
    "instance_id": "bug-1",
    "model_name": "m-1",
    "target": False,
    "exit_status": "submitted",
    "trajectory": [
        {"role": "system", "system_prompt": "Fix it.", "text": None},
        {"role": "user", "text": "There is a bug."},
        {"role": "ai", "text": "ls"},
    ],
}
PROMPTS = [{"send_prompt": "Plan.", "LLM_response": "[click]", "saved_image_name": "1.jpg", "session_id": "s"}]


def test_conversations_by_role_and_content():
    report = opened([{"id": "door-1", "conversations": TURNS, "reward": 0.0}])
    (trace,) = report.traces
    assert (report.format, trace.title, len(trace.messages)) == ("benchmark-traj", "door-1", 2)
    assert trace.outcome.verified is False


def test_rows_that_go_on_where_the_row_before_ended_are_one_conversation():
    longer = [*TURNS, {"role": "user", "content": "Now close it."}]
    rows = [
        {"conversations": turns, "episode": f"episode-{n}", "model": "m-1"} for n, turns in enumerate((TURNS, longer))
    ]
    (trace,) = opened(rows).traces
    assert [message.text for message in trace.messages] == ["Open the door.", "Act: open", "Now close it."]


def test_texts_with_a_system_prompt_beside_them():
    (trace,) = opened([TEXTS]).traces
    assert [(message.role, message.text) for message in trace.messages] == [
        ("system", "Fix it."),
        ("user", "There is a bug."),
        ("assistant", "ls"),
    ]
    assert (trace.outcome.verified, trace.outcome.reason, trace.model.name) == (False, "submitted", "m-1")


def test_pages_are_the_environment_and_actions_the_model():
    (trace,) = opened([PAGES]).traces
    assert [message.role for message in trace.messages] == [
        "user",
        "user",
        "assistant",
        "user",
        "assistant",
        "assistant",
    ]
    assert trace.entries[1].maker == "environment"
    assert trace.messages[1].content[1]["image_url"]["url"] == "1.png"
    assert trace.messages[2].reasoning == "I click."
    assert (trace.outcome.final, trace.task) == ("5 Euro", "Find the price.")


def test_prompts_with_a_picture_and_their_answers():
    (trace,) = opened([PROMPTS]).traces
    assert [part["type"] for part in trace.messages[0].content] == ["text", "image_url"]
    assert trace.messages[1].text == "[click]"


@given(damaged([{"conversations": TURNS}, TEXTS, PAGES, PROMPTS]))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "benchmark-traj")
