import pytest

from agent import Message, ToolCall, Trace
from agent.trace import ToolRun, TraceStep
from traces.filtering import Filter, positions, tool_names


@pytest.fixture
def trace():
    trace = Trace()
    trace.add(Message("system", "Be brief."), "code")
    trace.add(Message("user", "Straße nach Köln?"), "user")
    calls = (ToolCall("c1", "search", {"q": "Route"}), ToolCall("c2", "price", {"from": "here"}))
    trace.add(Message("assistant", None, tool_calls=calls, extra={"reasoning_content": "I ponder."}), "model", 1)
    trace.add(Message("tool", '{"city": "K\\u00f6ln"}', tool_call_id="c1"), "environment", 1)
    trace.add(Message("tool", "no such place", tool_call_id="c2"), "environment", 1)
    trace.add(Message("tool", "late", tool_call_id="gone"), "environment", 1)
    parts = [{"type": "text", "text": "Take the A3"}, {"type": "image_url", "image_url": {"url": "x"}}]
    trace.add(Message("assistant", parts), "model", 2)
    runs = [
        ToolRun(tool_call_id="c1", name="search", message=3, ok=True),
        ToolRun(tool_call_id="c2", name="price", message=4, ok=False),
    ]
    trace.steps += [TraceStep(index=1, reply=2, tools=runs), TraceStep(index=2, reply=6)]
    return trace


def found(trace, tagged=None, **wanted):
    return list(positions(trace, Filter(**wanted), tagged))


def test_an_empty_filter_lets_everything_pass(trace):
    assert found(trace) == list(range(7))
    assert found(trace, text="   ") == list(range(7))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("be BRIEF", [0]),
        ("strasse", [1]),
        ("köln", [1, 3]),
        ("route", [2]),
        ("ponder", [2]),
        ("c1", [2, 3]),
        ("price", [2]),
        ("a3", [6]),
        ("assistant", [2, 6]),
        ("nowhere to be found", []),
    ],
)
def test_words_are_found_wherever_they_stand(trace, text, expected):
    assert found(trace, text=text) == expected


def test_roles_tools_errors_and_tags_all_have_to_hold(trace):
    assert found(trace, roles=frozenset({"tool"})) == [3, 4, 5]
    assert found(trace, tools=frozenset({"search"})) == [2, 3]
    assert found(trace, errors=True) == [2, 4, 5]
    assert found(trace, errors=True, roles=frozenset({"assistant"})) == [2]
    assert found(trace, {3: ["odd"], 6: ["good"]}, tags=frozenset({"odd"})) == [3]


def test_tools_are_named_in_the_order_of_their_first_call(trace):
    assert tool_names(trace) == ["search", "price"]
