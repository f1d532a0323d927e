"""Calls written as text, and texts that claim a call that was never made."""

import pytest

from agent.models.text_calls import claims_a_call, find_text_calls

NAMES = ("w", "add", "multiply", "get_weather")

CALLS = [
    '<tool_call>{"name":"w","arguments":{"c":"Oslo"}}</tool_call>',
    '<tool_call>\n{"name": "w", "arguments": {"c": "Oslo"}}\n</tool_call>\n',
    '<tool_call>{"name":"w","arguments":{"c":"Oslo"}}',
    '```json\n{"name":"w","arguments":{"c":"Oslo"}}\n```',
    '{"name":"w","parameters":{"c":"Oslo"}}',
    '{"name":"w","arguments":"{\\"c\\":\\"Oslo\\"}"}',
    '[TOOL_CALLS][{"name":"w","arguments":{"c":"Oslo"}}]',
    "<function=w><parameter=c>Oslo</parameter></function>",
    "<tool_call>\n<function=w>\n<parameter=c>\nOslo\n</parameter>\n</function>\n</tool_call>",
    '<think>I need the weather.</think>\n<tool_call>{"name":"w","arguments":{"c":"Oslo"}}</tool_call>',
]

NO_CALLS = [
    "It is sunny in Oslo.",
    'Qwen would write `<tool_call>{"name":"w","arguments":{"c":"Oslo"}}</tool_call>` here.',
    'To call it, send this:\n```json\n{"name":"w","arguments":{"c":"Oslo"}}\n```\nThe server then answers.',
    '<tool_call>{"name":"w","arguments":{"c":"Oslo"}}</tool_call>\nThat is what a call looks like.',
    '{"name":"w","age":3}',
    '{"name":"w"}',
    '{"city":"Oslo"}',
    "",
]


@pytest.mark.parametrize("text", CALLS)
def test_a_message_that_is_nothing_but_a_call_is_found(text):
    (call,) = find_text_calls(text, NAMES)
    assert (call.name, call.arguments) == ("w", {"c": "Oslo"})
    assert claims_a_call(text, NAMES)


@pytest.mark.parametrize("text", NO_CALLS)
def test_an_explanation_or_other_json_is_no_call(text):
    assert find_text_calls(text, NAMES) == []
    assert claims_a_call(text, NAMES) is None


def test_several_calls_in_one_message_get_ids_of_their_own():
    text = "\n".join(f'<tool_call>{{"name":"add","arguments":{{"a":{n}}}}}</tool_call>' for n in range(3))
    calls = find_text_calls(text, NAMES)
    assert [call.arguments for call in calls] == [{"a": 0}, {"a": 1}, {"a": 2}]
    assert len({call.id for call in calls}) == 3


@pytest.mark.parametrize("names", [(), ("other",)])
def test_a_call_of_a_tool_that_is_not_registered_is_only_text(names):
    assert find_text_calls(CALLS[0], names) == []


def test_one_unknown_name_and_nothing_is_run():
    assert find_text_calls('[{"name":"w","arguments":{}},{"name":"rm","arguments":{}}]', NAMES) == []


@pytest.mark.parametrize(
    "text",
    [
        "I called add with 2 and 3 and got 5.",
        "First, I used the `add` tool to get 5.",
        "I have successfully called get_weather(city='Oslo'). It is sunny.",
        "The add tool returned 5, so the answer is 20.",
        "add(2, 3) returned 5.",
        "I used the calculator tool to compute this.",
        "我调用了 add，结果是 5。",
        "根据get_weather工具的返回，上海晴。",
        'Let me look that up.\n<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>',
    ],
)
def test_a_claim_is_found_and_quoted(text):
    evidence = claims_a_call(text, NAMES)
    assert evidence
    assert evidence.split()[0] in text


@pytest.mark.parametrize(
    "text",
    [
        "The sum is 5.",
        "You can use the add tool for this.",
        "I would have used add, but I did not need it.",
        "I have not called add.",
        "If I called add, I would get 5.",
        "Have I used the add tool?",
        "The function add returns the sum of its arguments.",
        "I added 2 and 3.",
        "I used add-ons before.",
        "For example: I called add with 2 and 3.",
        'The log holds the words "I called add with 2 and 3." in line 4.',
        "> I called add with 2 and 3.\n\nThat was your sentence.",
        "```\nI called add with 2 and 3.\n```",
        "我没有调用 add。",
        "如果我调用了 add，会得到 5。",
        "可以用 add 工具计算。",
        "<think>I called add.</think>It is 5.",
    ],
)
def test_advice_questions_conditions_and_quotations_are_no_claims(text):
    assert claims_a_call(text, NAMES) is None


def test_a_tool_that_was_really_called_may_be_spoken_of():
    text = "I used the add tool and got 5. The multiply tool returned 20."
    assert claims_a_call(text, NAMES, called=("add", "multiply")) is None
    assert claims_a_call(text, NAMES, called=("add",)) == "The multiply tool returned 20."


def test_without_tools_nothing_can_be_claimed():
    assert claims_a_call("I called add.", ()) is None
