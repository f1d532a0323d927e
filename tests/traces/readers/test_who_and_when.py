"""Who&When: who spoke, and which message people found to be the mistake."""

from hypothesis import given

from tests.traces.readers.damage import damaged, opened, survives

BY_NAME = {
    "is_correct": False,
    "question": "How many doors?\nCount them.",
    "ground_truth": "4",
    "history": [
        {"role": "user", "name": "Counter_Expert", "content": "I count 3."},
        {"role": "user", "name": "Computer_terminal", "content": "exitcode: 0"},
        {"role": "assistant", "name": "Checker", "content": "Fine."},
    ],
    "mistake_agent": "Counter_Expert",
    "mistake_step": "0",
    "mistake_reason": "It left one out.",
    "system_prompt": {"Checker": "Check."},
}
BY_ROLE = {
    **{key: value for key, value in BY_NAME.items() if key not in ("is_correct", "system_prompt")},
    "is_corrected": True,
    "history": [
        {"role": "human", "content": "How many doors?"},
        {"role": "Orchestrator (thought)", "content": "Ask the counter."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Count."},
        {"role": "WebSurfer", "content": "3"},
    ],
    "mistake_step": "3",
    "mistake_agent": "WebSurfer",
}


def test_the_speaker_is_the_name_and_the_role_stays_as_it_is():
    (trace,) = opened(BY_NAME).traces
    assert [
        (message.role, entry.agent, entry.maker) for message, entry in zip(trace.messages, trace.entries, strict=True)
    ] == [
        ("user", "Counter_Expert", "model"),
        ("user", "Computer_terminal", "environment"),
        ("assistant", "Checker", "model"),
    ]
    assert trace.title == "How many doors?"


def test_the_speaker_may_be_the_role_with_a_word_in_brackets():
    (trace,) = opened(BY_ROLE).traces
    assert [entry.agent for entry in trace.entries] == ["human", "Orchestrator", "Orchestrator", "WebSurfer"]
    assert [message.role for message in trace.messages] == ["user", "assistant", "assistant", "assistant"]
    assert trace.entries[1].raw["role"] == "Orchestrator (thought)"


def test_the_mistake_is_a_note_on_its_message_and_the_answer_is_evidence():
    (trace,) = opened(BY_ROLE).traces
    note = next(note for note in trace.notes if note["kind"] == "mistake")
    assert (note["message"], note["step"]) == (3, 3)
    assert "WebSurfer: It left one out." in note["text"]
    assert trace.outcome.verified is True
    assert opened(BY_NAME).traces[0].outcome.verified is False


def test_a_mistake_at_no_place_of_the_history_is_still_told():
    (trace,) = opened({**BY_NAME, "mistake_step": "99"}).traces
    assert [note.get("message") for note in trace.notes if note["kind"] == "mistake"] == [None]


@given(damaged([BY_NAME, BY_ROLE]))
def test_damage_costs_a_part_and_never_the_file(value):
    survives(value, "who-and-when")
